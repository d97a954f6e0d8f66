// plugin/http/signature-fields.ts: signature base of a request, `Signature-Input` and `Signature`. RFC 9421
import {
  type Dictionary,
  isInnerList,
  type Parameters,
  parseDictionary,
  serializeDictionary,
  serializeInnerList,
  serializeItem,
} from "structured-headers";
import { TwtxtError } from "../errors.js";

const LABEL = "sig";
const SIGNATURE_BYTES = 64;
/** Header field values that a signature can cover: one line of ASCII. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/** The parts of a request that a signature may cover. */
interface SignedParts {
  method: string;
  /** `host` or `host:port` from the signer's point of view. */
  authority: string;
  /** The whole URL; path and query are used as written. */
  url: string;
  headers: Headers;
}

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

/** The signature fields of a request, not yet verified. */
interface SignatureFields {
  components: string[];
  parameters: Parameters;
  /** 64 bytes. */
  signature: Uint8Array;
}

/** Writes `signature-input` and `signature`. */
export function formatSignature({ components, parameters, signature }: SignatureFields): Record<string, string> {
  return {
    "signature-input": `${LABEL}=${signatureParams(components, parameters)}`,
    signature: serializeDictionary({ [LABEL]: Uint8Array.from(signature) }),
  };
}

/**
 * Parses `signature-input` and `signature`, which must have one label and the canonical form of RFC 8941.
 *
 * @throws TwtxtError `not-signed`
 */
export function readSignature(headers: Headers): SignatureFields {
  const input = onlyMember("signature-input", headers);
  if (!isInnerList(input)) throw notSigned('"signature-input" has no list of components');
  const [items, parameters] = input;
  const components = items.map(([name, own]) => {
    if (typeof name === "string" && own.size === 0) return name;
    throw notSigned("a component is not a plain name");
  });

  const [signature, others] = onlyMember("signature", headers);
  if (!(signature instanceof ArrayBuffer) || signature.byteLength !== SIGNATURE_BYTES || others.size > 0) {
    throw notSigned(`"signature" is not ${SIGNATURE_BYTES} bytes`);
  }
  return { components, parameters, signature: new Uint8Array(signature) };
}

function onlyMember(name: string, headers: Headers) {
  const text = headers.get(name);
  if (text === null) throw notSigned(`it has no "${name}"`);
  const dictionary = canonicalDictionary(text);
  const member = dictionary?.get(LABEL);
  if (dictionary?.size === 1 && member) return member;
  throw notSigned(`"${name}" must have the single label "${LABEL}" and the canonical form of RFC 8941`);
}

/** The parser is lenient, for example with duplicate parameters. A round trip detects what is not canonical. */
function canonicalDictionary(text: string): Dictionary | null {
  try {
    const dictionary = parseDictionary(text);
    return serializeDictionary(dictionary) === text ? dictionary : null;
  } catch {
    return null;
  }
}

/** @param why - half a sentence about the signature */
export function notSigned(why: string): TwtxtError {
  return new TwtxtError("not-signed", `The request has no valid signature: ${why}.`);
}
