// plugin/keys/identity-file.ts: format of identity files, for Node.js and browsers. PROTOCOL 3.1
import { base64 } from "@scure/base";
import { TwtxtError } from "../errors.js";
import { toInstant } from "../feed/timestamp.js";
import { parseAddress } from "./address.js";
import { formatKey } from "./key.js";

const SEED_BYTES = 32;
const PAIR_BYTES = 64;

/** The contents of an identity file, with the private key. */
export interface IdentityFields {
  /** 32 bytes; the caller must wipe them. */
  seed: Uint8Array;
  /** 32 bytes. */
  publicKey: Uint8Array;
  /** `user@domain` */
  address: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown. */
  created: string | null;
}

export function formatIdentityFile({ seed, publicKey, address, created }: IdentityFields): string {
  const pair = new Uint8Array(PAIR_BYTES);
  pair.set(seed);
  pair.set(publicKey, SEED_BYTES);
  const creation = created === null ? "" : `# created: ${created}\n`;
  const text = `${creation}# public key: ${formatKey(publicKey)}\n# user: ${address}\n${base64.encode(pair)}\n`;
  pair.fill(0);
  return text;
}

/**
 * Reads an identity file.
 *
 * @param text - comment lines and one line of base64, in any order; CRLF and a byte order mark are allowed
 * @param name - the file's name for messages, which never quote its content
 * @param keyOf - the key of a seed of 32 bytes
 * @throws TwtxtError `bad-identity`
 */
export function parseIdentityFile<Key extends { readonly publicKey: Uint8Array }>(
  text: string,
  name: string,
  keyOf: (seed: Uint8Array) => Key,
): IdentityFields & { key: Key } {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const comments = lines.filter((line) => line.startsWith("#"));
  const [pair, ...others] = lines.filter((line) => !line.startsWith("#"));
  if (pair === undefined || others.length > 0) {
    throw badIdentity(name, "apart from comments, it must have one line, the key");
  }
  const bytes = readPair(pair);
  if (bytes === null) throw badIdentity(name, `the key is not ${PAIR_BYTES} bytes of base64`);
  const seed = bytes.slice(0, SEED_BYTES);
  const publicKey = bytes.slice(SEED_BYTES);
  bytes.fill(0);
  const key = keyOf(seed);
  if (formatKey(key.publicKey) !== formatKey(publicKey)) {
    throw badIdentity(name, "the two halves of the key do not match");
  }
  return { seed, publicKey, key, ...commentFields(comments, name, publicKey) };
}

function badIdentity(name: string, why: string): TwtxtError {
  return new TwtxtError("bad-identity", `${name} is not an identity file: ${why}.`);
}

function readPair(text: string): Uint8Array | null {
  try {
    const bytes = base64.decode(text);
    return bytes.length === PAIR_BYTES ? bytes : null;
  } catch {
    return null;
  }
}

function commentFields(comments: string[], name: string, publicKey: Uint8Array) {
  const valueOfField = (field: string) => {
    const [value, ...repeated] = comments
      .filter((line) => line.startsWith(`# ${field}: `))
      .map((line) => line.slice(field.length + 4).trim());
    if (repeated.length > 0) throw badIdentity(name, `it has "# ${field}: " twice`);
    return value;
  };
  const address = parseAddress(valueOfField("user") ?? "");
  if (address === null) throw badIdentity(name, 'it needs a line such as "# user: alice@alice.example"');
  const named = valueOfField("public key");
  if (named !== undefined && named !== formatKey(publicKey)) {
    throw badIdentity(name, '"# public key: " does not match the key');
  }
  const time = valueOfField("created");
  const created = time === undefined ? null : toInstant(time);
  if (time !== undefined && created === null) {
    throw badIdentity(name, '"# created: " must be a time such as 2026-01-02T03:04:05Z');
  }
  return { address, created };
}
