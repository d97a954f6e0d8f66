// plugin/http/signature-base.ts: the text over which a request is signed.
import { type Parameters, serializeInnerList, serializeItem } from "structured-headers";
import { TwtxtError } from "../errors.js";

/** The parts of a request that a signature may cover. */
export interface SignedParts {
  method: string;
  /** `host` or `host:port`, as the signer has asked for it. */
  authority: string;
  /** The whole URL; its path and query count as they are written. */
  url: string;
  headers: Headers;
}

/** A header field's value that a signature can cover: one line of ASCII. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/**
 * The signature base of a request.
 *
 * @param components - derived ones such as `@path`, and names of header fields in lower case
 * @param parameters - those of the signature, in their order
 * @returns lines separated by LF, the last one `"@signature-params"`
 * @throws TwtxtError `not-signed` for a header field that is not sent or not ASCII
 * @see RFC 9421, section 2.5
 */
export function signatureBase(parts: SignedParts, components: readonly string[], parameters: Parameters): string {
  const lines = components.map((name) => `${serializeItem(name)}: ${componentValue(name, parts)}`);
  return [...lines, `"@signature-params": ${signatureParams(components, parameters)}`].join("\n");
}

/** What is signed and how: the value of one label of `Signature-Input`. */
export function signatureParams(components: readonly string[], parameters: Parameters): string {
  return serializeInnerList([components.map((name) => [name, new Map()]), parameters]);
}

function componentValue(name: string, { method, authority, url, headers }: SignedParts): string {
  if (name === "@method") return method;
  if (name === "@authority") return authority;
  if (name === "@path") return new URL(url).pathname;
  // An empty query and none at all are both the question mark alone.
  if (name === "@query") return new URL(url).search || "?";
  const value = headers.get(name);
  if (value !== null && FIELD_VALUE.test(value)) return value;
  throw notSigned(value === null ? `it covers "${name}", which is not sent` : `its "${name}" is not ASCII`);
}

/** What keeps a request from being a signed one, for whoever has sent it. */
export function notSigned(why: string): TwtxtError {
  return new TwtxtError("not-signed", `The request is not signed as it has to be: ${why}.`);
}
