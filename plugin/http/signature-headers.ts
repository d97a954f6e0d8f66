// plugin/http/signature-headers.ts: the header fields `Signature-Input` and `Signature`. RFC 9421
import {
  type Dictionary,
  isInnerList,
  type Parameters,
  parseDictionary,
  serializeDictionary,
} from "structured-headers";
import { notSigned, signatureParams } from "./signature-base.js";

const LABEL = "sig";
const SIGNATURE_BYTES = 64;

/** The signature fields of a request, not yet verified. */
export interface SignatureFields {
  components: string[];
  parameters: Parameters;
  /** 64 bytes. */
  signature: Uint8Array;
}

/** Writes `signature-input` and `signature`. */
export function formatSignature({ components, parameters, signature }: SignatureFields): Record<string, string> {
  return {
    "signature-input": `${LABEL}=${signatureParams(components, parameters)}`,
    signature: serializeDictionary({ [LABEL]: signature }),
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
