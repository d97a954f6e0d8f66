// plugin/http/signature-headers.ts: the header fields that carry a signature.
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

/** What a request says of its own signature, none of it checked against the request. */
export interface CarriedSignature {
  components: string[];
  parameters: Parameters;
  /** 64 bytes. */
  signature: Uint8Array;
}

/** Writes `signature-input` and `signature`. */
export function formatSignature({ components, parameters, signature }: CarriedSignature): Record<string, string> {
  return {
    "signature-input": `${LABEL}=${signatureParams(components, parameters)}`,
    signature: serializeDictionary({ [LABEL]: signature }),
  };
}

/**
 * Reads `signature-input` and `signature`, of one label and in the one form that RFC 8941 writes them in.
 *
 * @throws TwtxtError `not-signed`
 */
export function readSignature(headers: Headers): CarriedSignature {
  const input = onlyMember("signature-input", headers);
  if (!isInnerList(input)) throw notSigned('"signature-input" holds no list of components');
  const [items, parameters] = input;
  const components = items.map(([name, own]) => {
    if (typeof name === "string" && own.size === 0) return name;
    throw notSigned("a component is not a plain name");
  });

  const [signature, others] = onlyMember("signature", headers);
  if (!(signature instanceof ArrayBuffer) || signature.byteLength !== SIGNATURE_BYTES || others.size > 0) {
    throw notSigned(`"signature" holds no ${SIGNATURE_BYTES} bytes`);
  }
  return { components, parameters, signature: new Uint8Array(signature) };
}

function onlyMember(name: string, headers: Headers) {
  const text = headers.get(name);
  if (text === null) throw notSigned(`it has no "${name}"`);
  const dictionary = canonicalDictionary(text);
  const member = dictionary?.get(LABEL);
  if (dictionary?.size === 1 && member) return member;
  throw notSigned(`"${name}" is not the one label "${LABEL}" as RFC 8941 writes it`);
}

/** Reading is lenient: of two parameters of one name it takes the last. Writing it again shows that. */
function canonicalDictionary(text: string): Dictionary | null {
  try {
    const dictionary = parseDictionary(text);
    return serializeDictionary(dictionary) === text ? dictionary : null;
  } catch {
    return null;
  }
}
