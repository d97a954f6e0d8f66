// plugin/http/signature.ts: signs requests, and says who has signed one.
import { createHash, randomBytes } from "node:crypto";
import { verifyAsync } from "@noble/ed25519";
import type { Parameters } from "structured-headers";
import * as v from "valibot";
import { TwtxtError } from "../errors.js";
import type { Identity } from "../keys/identity-text.js";
import { formatKey, parseKey } from "../keys/key.js";
import type { Store } from "../store/store.js";
import { CLOCK_SKEW, spendNonce } from "./nonces.js";
import { notSigned, signatureBase } from "./signature-base.js";
import { formatSignature, readSignature } from "./signature-headers.js";

const DERIVED = ["@method", "@authority", "@path", "@query"] as const;
/** Header fields that change what a request means: each that is sent is signed. */
const FIELDS = [
  "content-digest",
  "content-type",
  "content-disposition",
  "blob-public",
  "blob-properties",
  "if-match",
  "if-none-match",
  "range",
] as const;
const READING = ["GET", "HEAD"];

/** Seconds that a signature may be good for. */
const MAX_LIFETIME = 300;
const NONCE_BYTES = 16;

/** A request that is to be signed. */
export interface UnsignedRequest {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: Uint8Array;
}

/** Who signs: an identity is one. */
export type Signer = Pick<Identity, "publicKey" | "sign">;

/**
 * Signs a request.
 *
 * @param now - milliseconds since 1970
 * @returns all headers to send it with: those given, `content-digest` where there is a body, `signature-input` and
 *   `signature`. Nothing may be added that a signature has to cover: a body as bytes gets no `content-type` from fetch.
 * @see PROTOCOL 5
 */
export function signRequest(request: UnsignedRequest, signer: Signer, now: number): Record<string, string> {
  const headers = new Headers(request.headers);
  if (request.body) headers.set("content-digest", contentDigest(request.body));
  const components = [...DERIVED, ...FIELDS.filter((name) => headers.has(name))];
  const created = Math.floor(now / 1000);
  const parameters: Parameters = new Map<string, string | number>([
    ["created", created],
    ["expires", created + MAX_LIFETIME],
    ["nonce", randomBytes(NONCE_BYTES).toString("base64")],
    ["keyid", signer.publicKey],
    ["alg", "ed25519"],
  ]);
  const { method, url } = request;
  const base = signatureBase({ method, authority: new URL(url).host, url, headers }, components, parameters);
  const signature = signer.sign(Buffer.from(base));
  return { ...Object.fromEntries(headers), ...formatSignature({ components, parameters, signature }) };
}

/** What a signed request is checked against. */
export interface SignatureTerms {
  /** The `host` or `host:port` of the option `url`, whatever a request calls us. */
  authority: string;
  /** The keys that may ask, each `kex1...`. */
  allowed: ReadonlySet<string>;
  /** Keeps the nonces of writes. */
  store: Store;
  /** Milliseconds since 1970. */
  now(): number;
}

/** A request whose signature holds, for its body too. */
export interface SignedRequest {
  /** The key that has signed it, `kex1...`. */
  owner: string;
  body: Uint8Array;
}

/**
 * Verifies a signed request.
 *
 * @param readBody - reads the body under a bound of the caller's; called only where an allowed key has signed
 * @throws TwtxtError `not-signed` for anything less than a right signature, and for a write seen before; `not-allowed`
 *   for a right one by a key that is not on the list, whatever the body; `store-failed`; and what `readBody` throws
 * @see PROTOCOL 5
 */
export async function verifyRequest(
  request: Request,
  readBody: () => Promise<Uint8Array>,
  { authority, allowed, store, now }: SignatureTerms,
): Promise<SignedRequest> {
  const { method, url, headers } = request;
  const { components, parameters, signature } = readSignature(headers);
  checkComponents(components, headers);
  const nonce = checkParameters(parameters, now() / 1000);

  const base = signatureBase({ method, authority, url, headers }, components, parameters);
  const key = parseKey(nonce.keyid);
  // Without ZIP-215, which would let other bytes pass for the same signature.
  const isRight = await verifyAsync(signature, Buffer.from(base), key, { zip215: false });
  if (!isRight) throw notSigned("the signature is not that of this request by this key");
  if (!allowed.has(nonce.keyid)) throw new TwtxtError("not-allowed", "This key may not do that here.");

  const body = await readBody();
  checkDigest(body, headers);
  if (!READING.includes(method) && !(await spendNonce(store, nonce))) throw notSigned("its nonce was used before");
  return { owner: nonce.keyid, body };
}

/** The header field of RFC 9530, by SHA-256 alone. */
function contentDigest(body: Uint8Array): string {
  return `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
}

function checkComponents(components: readonly string[], headers: Headers): void {
  const known: readonly string[] = [...DERIVED, ...FIELDS];
  const strange = components.find((name, at) => !known.includes(name) || components.indexOf(name) !== at);
  if (strange !== undefined) throw notSigned(`it covers ${JSON.stringify(strange)}, which is unknown or there twice`);
  const needed = [...DERIVED, ...FIELDS.filter((name) => headers.has(name))];
  const missing = needed.find((name) => !components.includes(name));
  if (missing) throw notSigned(`it does not cover "${missing}"`);
}

const seconds = v.pipe(v.number(), v.safeInteger());
const PARAMETERS = v.strictObject({
  created: seconds,
  expires: seconds,
  nonce: v.pipe(v.string(), v.check(isNonce)),
  keyid: v.pipe(v.string(), v.check(isKeyText)),
  alg: v.literal("ed25519"),
});

function checkParameters(parameters: Parameters, now: number) {
  const result = v.safeParse(PARAMETERS, Object.fromEntries(parameters), { abortEarly: true });
  if (!result.success) throw notSigned(`its parameter "${v.getDotPath(result.issues[0])}" is missing or wrong`);
  const { created, expires } = result.output;
  if (expires < created || expires - created > MAX_LIFETIME) {
    throw notSigned(`"expires" is more than ${MAX_LIFETIME} seconds after "created", or before it`);
  }
  if (created > now + CLOCK_SKEW) throw notSigned('"created" is in the future');
  if (expires < now - CLOCK_SKEW) throw notSigned("it has expired");
  return result.output;
}

function isNonce(text: string): boolean {
  const bytes = Buffer.from(text, "base64");
  return bytes.length === NONCE_BYTES && bytes.toString("base64") === text;
}

/** A key has a form in capitals too, and would then be somebody else. */
function isKeyText(text: string): boolean {
  try {
    return formatKey(parseKey(text)) === text;
  } catch {
    return false;
  }
}

function checkDigest(body: Uint8Array, headers: Headers): void {
  const digest = headers.get("content-digest");
  if (digest === null ? body.length > 0 : digest !== contentDigest(body)) {
    throw notSigned('"content-digest" is not the sha-256 of the body');
  }
}
