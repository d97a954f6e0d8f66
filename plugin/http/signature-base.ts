// plugin/http/signature-base.ts: signature base of a request. RFC 9421, section 2.5
import { type Parameters, serializeInnerList, serializeItem } from "structured-headers";
import { TwtxtError } from "../errors.js";

/** The parts of a request that a signature may cover. */
export interface SignedParts {
  method: string;
  /** `host` or `host:port` from the signer's point of view. */
  authority: string;
  /** The whole URL; path and query are used as written. */
  url: string;
  headers: Headers;
}

/** Header field values that a signature can cover: one line of ASCII. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/**
 * The signature base of a request.
 *
 * @param components - derived components such as `@path`, and header field names in lower case
 * @param parameters - the parameters of the signature in order
 * @returns lines separated by LF, the last one `"@signature-params"`
 * @throws TwtxtError `not-signed` for a header field that is missing or not ASCII
 * @see RFC 9421, section 2.5
 */
export function signatureBase(parts: SignedParts, components: readonly string[], parameters: Parameters): string {
  const lines = components.map((name) => `${serializeItem(name)}: ${componentValue(name, parts)}`);
  return [...lines, `"@signature-params": ${signatureParams(components, parameters)}`].join("\n");
}

/** The value of one label of `Signature-Input`. */
export function signatureParams(components: readonly string[], parameters: Parameters): string {
  return serializeInnerList([components.map((name) => [name, new Map()]), parameters]);
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

/** @param why - half a sentence about the signature */
export function notSigned(why: string): TwtxtError {
  return new TwtxtError("not-signed", `The request has no valid signature: ${why}.`);
}
