// plugin/http/signature.ts: signs requests, and says who has signed one.

import { createHash, randomBytes } from "node:crypto";
import type { Parameters } from "structured-headers";
import * as v from "valibot";
import type { Clock } from "../clock.js";
import { TwtxtError } from "../errors.js";
import type { Identity } from "../keys/identity-text.js";
import { formatKey, parseKey } from "../keys/key.js";
import { isSignedBy } from "../keys/verify.js";
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
  /** In place of a body that is sent as it is read: its SHA-256, 32 bytes. */
  bodyHash?: Uint8Array;
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
  const bodyHash = request.body ? sha256(request.body) : request.bodyHash;
  if (bodyHash) headers.set("content-digest", contentDigest(bodyHash));
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
  now: Clock;
}

/** A request whose signature holds; what it says of its body is not looked at yet. */
export interface SignedHead {
  /** The key that has signed it, `kex1...`. */
  owner: string;
  /** Of the body that was signed, `sha-256=:...:`; `null` for none. */
  digest: string | null;
  /** @throws TwtxtError `not-signed` for another body than the one that was signed */
  checkBody(body: Uint8Array): void;
  /**
   * Uses the request up, once its body is known to be the signed one.
   *
   * @throws TwtxtError `not-signed` for a write seen before; `store-failed`
   */
  spend(): Promise<void>;
}

/** A request whose signature holds, for its body too. */
export interface SignedRequest {
  owner: string;
  body: Uint8Array;
}

/**
 * Verifies a signed request with its body.
 *
 * @param readBody - reads the body under a bound of the caller's; called only where an allowed key has signed
 * @throws TwtxtError as {@link verifyHead} and {@link SignedHead.spend}, and what `readBody` throws
 * @see PROTOCOL 5
 */
export async function verifyRequest(
  request: Request,
  readBody: () => Promise<Uint8Array>,
  terms: SignatureTerms,
): Promise<SignedRequest> {
  const { owner, checkBody, spend } = verifyHead(request, terms);
  const body = await readBody();
  checkBody(body);
  await spend();
  return { owner, body };
}

/**
 * Verifies what is signed but for the body, for bodies that are read as they come.
 *
 * @throws TwtxtError `not-signed` for anything less than a right signature; `not-allowed` for a right one by a key that is
 *   not on the list, whatever the body
 * @see PROTOCOL 5
 */
export function verifyHead(request: Request, { authority, allowed, store, now }: SignatureTerms): SignedHead {
  const { method, url, headers } = request;
  const { components, parameters, signature } = readSignature(headers);
  checkComponents(components, headers);
  const nonce = checkParameters(parameters, now() / 1000);

  const base = signatureBase({ method, authority, url, headers }, components, parameters);
  const isRight = isSignedBy(parseKey(nonce.keyid), Buffer.from(base), signature);
  if (!isRight) throw notSigned("the signature is not that of this request by this key");
  if (!allowed.has(nonce.keyid)) throw new TwtxtError("not-allowed", "This key may not do that here.");

  const digest = headers.get("content-digest");
  return {
    owner: nonce.keyid,
    digest,
    checkBody(body) {
      if (digest === null ? body.length > 0 : digest !== contentDigest(sha256(body))) throw digestMismatch();
    },
    async spend() {
      const isNew = READING.includes(method) || (await spendNonce(store, nonce));
      if (!isNew) throw notSigned("its nonce was used before");
    },
  };
}

/** A body is not the one that was signed. */
export function digestMismatch(): TwtxtError {
  return notSigned('"content-digest" is not the sha-256 of the body');
}

/**
 * The header field of RFC 9530, by SHA-256 alone.
 *
 * @param hash - 32 bytes
 */
export function contentDigest(hash: Uint8Array): string {
  return `sha-256=:${Buffer.from(hash).toString("base64")}:`;
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
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
