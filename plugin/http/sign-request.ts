// plugin/http/sign-request.ts: signs requests, on Node.js and in browsers. PROTOCOL 5
import { sha256 } from "@noble/hashes/sha2.js";
import { base64 } from "@scure/base";
import type { Parameters } from "structured-headers";
import { formatSignature, signatureBase } from "./signature-fields.js";

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

/** Maximum lifetime of a signature in seconds. */
export const MAX_LIFETIME = 300;
export const NONCE_BYTES = 16;

/** A request to sign. */
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
  const parameters: Parameters = new Map<string, string | number>([
    ["created", created],
    ["expires", created + MAX_LIFETIME],
    ["nonce", base64.encode(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))],
    ["keyid", signer.publicKey],
    ["alg", "ed25519"],
  ]);
  const { method, url } = request;
  const base = signatureBase({ method, authority: new URL(url).host, url, headers }, components, parameters);
  const signature = signer.sign(new TextEncoder().encode(base));
  return { ...Object.fromEntries(headers), ...formatSignature({ components, parameters, signature }) };
}

/**
 * The value of `Content-Digest` (RFC 9530) with SHA-256.
 *
 * @param hash - 32 bytes
 */
export function contentDigest(hash: Uint8Array): string {
  return `sha-256=:${base64.encode(hash)}:`;
}
