// plugin/http/sign-request.ts: signs requests, on Node.js and in browsers. PROTOCOL 5, RFC 9421
import { sha256 } from "@noble/hashes/sha2.js";
import { base64 } from "@scure/base";
import { TwtxtError } from "../errors.js";

export const DERIVED = ["@method", "@authority", "@path", "@query"] as const;
/** Header fields that must be signed if they are sent. */
export const FIELDS = [
  "content-digest",
  "content-type",
  "content-disposition",
  "blob-public",
  "blob-properties",
  "if-match",
  "if-none-match",
  "range",
] as const;

/** Accepted difference between two clocks in seconds. */
export const CLOCK_SKEW = 60;
/** Maximum lifetime of a signature in seconds. */
export const MAX_LIFETIME = 300;
export const NONCE_BYTES = 16;
export const LABEL = "sig";
/** Header field values that a signature can cover: one line of ASCII. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

export interface UnsignedRequest {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** Instead of `body`, for a streamed body: its SHA-256, 32 bytes. */
  bodyHash?: Uint8Array;
}

/** A key that signs requests, such as an identity. */
export interface Signer {
  /** `kex1...` */
  readonly publicKey: string;
  /** @returns an Ed25519 signature of 64 bytes */
  sign(bytes: Uint8Array): Uint8Array;
}

/**
 * Signs a request.
 *
 * @param now - milliseconds since 1970
 * @returns all headers of the request: the given ones, `content-digest` if there is a body, `signature-input` and
 *   `signature`. Do not add fields that must be signed. (fetch adds no `content-type` to a body of bytes.)
 * @see PROTOCOL 5
 */
export function signRequest(request: UnsignedRequest, signer: Signer, now: number): Record<string, string> {
  const headers = new Headers(request.headers);
  const bodyHash = request.body ? sha256(request.body) : request.bodyHash;
  if (bodyHash) headers.set("content-digest", contentDigest(bodyHash));
  const components = [...DERIVED, ...FIELDS.filter((name) => headers.has(name))];
  const created = Math.floor(now / 1000);
  const parameters = new Map<string, string | number>([
    ["created", created],
    ["expires", created + MAX_LIFETIME],
    ["nonce", base64.encode(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))],
    ["keyid", signer.publicKey],
    ["alg", "ed25519"],
  ]);
  const { method, url } = request;
  const params = signatureParams(components, parameters);
  const base = signatureBase({ method, authority: new URL(url).host, url, headers }, components, params);
  const signature = signer.sign(new TextEncoder().encode(base));
  return { ...Object.fromEntries(headers), ...formatSignature(params, signature) };
}

/** The value of `Content-Digest` (RFC 9530) with SHA-256. @param hash - 32 bytes */
export function contentDigest(hash: Uint8Array): string {
  return `sha-256=:${base64.encode(hash)}:`;
}

/** The parts of a request that a signature may cover. */
interface SignedParts {
  method: string;
  /** `host` or `host:port` from the signer's point of view. */
  authority: string;
  /** The whole URL; path and query are used as written. */
  url: string;
  headers: Pick<Headers, "get">;
}

/**
 * The signature base of a request.
 *
 * @param components - derived components such as `@path`, and header field names in lower case
 * @param params - the value of `@signature-params`, see {@link signatureParams}
 * @returns lines separated by LF, the last one `"@signature-params"`
 * @throws TwtxtError `not-signed` for a header field that is missing or not ASCII
 * @see RFC 9421, section 2.5
 */
export function signatureBase(parts: SignedParts, components: readonly string[], params: string): string {
  const lines = components.map((name) => `"${name}": ${componentValue(name, parts)}`);
  return [...lines, `"@signature-params": ${params}`].join("\n");
}

/** The value of one label of `Signature-Input`. In RFC 8941, ASCII is quoted as in JSON. @param parameters - in order */
export function signatureParams(
  components: readonly string[],
  parameters: ReadonlyMap<string, string | number>,
): string {
  const fields = [...parameters].map(([name, value]) => `;${name}=${JSON.stringify(value)}`);
  return `(${components.map((name) => JSON.stringify(name)).join(" ")})${fields.join("")}`;
}

function componentValue(name: string, { method, authority, url, headers }: SignedParts): string {
  if (name === "@method") return method;
  if (name === "@authority") return authority;
  if (name === "@path") return new URL(url).pathname;
  // A missing query and an empty one are both signed as "?".
  if (name === "@query") return new URL(url).search || "?";
  const value = headers.get(name);
  if (value !== null && FIELD_VALUE.test(value)) return value;
  throw notSigned(value === null ? `it covers "${name}", which is not sent` : `its "${name}" is not ASCII`);
}

/** Writes `signature-input` and `signature`. @param params - see {@link signatureParams} */
export function formatSignature(params: string, signature: Uint8Array): Record<string, string> {
  return { "signature-input": `${LABEL}=${params}`, signature: `${LABEL}=:${base64.encode(signature)}:` };
}

/** @param why - half a sentence about the signature */
export function notSigned(why: string): TwtxtError {
  return new TwtxtError("not-signed", `The request has no valid signature: ${why}.`);
}
