// plugin/keys/identity-text.ts: format of identity files.
import { TwtxtError } from "../errors.js";
import { toInstant } from "../feed/timestamp.js";
import { parseAddress } from "./address.js";
import { secretKeyOf } from "./ed25519.js";
import { formatKey } from "./key.js";

const SEED_BYTES = 32;
const PAIR_BYTES = 64;

/** A key pair with its address. The private key cannot be read, and does not appear in JSON or the console. */
export interface Identity {
  /** `user@domain` */
  readonly address: string;
  /** `kex1...` */
  readonly publicKey: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown. */
  readonly created: string | null;
  /** @returns an Ed25519 signature of 64 bytes */
  sign(bytes: Uint8Array): Uint8Array;
  /** X25519, see `SecretKey.agree`. */
  agree(exchangeKey: Uint8Array): Uint8Array;
}

/**
 * Writes an identity file, which contains the private key.
 *
 * @param seed - 32 random bytes
 * @param created - `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown
 * @see PROTOCOL 3.1
 */
export function formatIdentity(
  seed: Uint8Array,
  { address, created }: { address: string; created: string | null },
): string {
  const { publicKey } = secretKeyOf(seed);
  const pair = Buffer.concat([seed, publicKey]);
  const creation = created === null ? "" : `# created: ${created}\n`;
  const text = `${creation}# public key: ${formatKey(publicKey)}\n# user: ${address}\n${pair.toString("base64")}\n`;
  pair.fill(0);
  return text;
}

/**
 * The seed in an identity file.
 *
 * @param text - a file that {@link parseIdentity} accepts
 * @returns 32 bytes; the caller must wipe them
 */
export function seedOf(text: string): Uint8Array {
  const pair =
    text
      .replace(/^\uFEFF/, "")
      .split(/\r?\n/)
      .find((line) => !line.startsWith("#")) ?? "";
  const bytes = Buffer.from(pair, "base64");
  const seed = Uint8Array.from(bytes.subarray(0, SEED_BYTES));
  bytes.fill(0);
  return seed;
}

/**
 * Parses an identity file.
 *
 * @param text - comment lines and one line of base64, in any order; CRLF and a byte order mark are allowed
 * @param name - the file's name for messages, which never quote its content
 * @throws TwtxtError `bad-identity`
 * @see PROTOCOL 3.1
 */
export function parseIdentity(text: string, name: string): Identity {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const comments = lines.filter((line) => line.startsWith("#"));
  const [pair, ...others] = lines.filter((line) => !line.startsWith("#"));
  const refuse = (why: string) => new TwtxtError("bad-identity", `${name} is not an identity file: ${why}.`);
  if (pair === undefined || others.length > 0) throw refuse("apart from comments, it must have one line, the key");

  const bytes = Buffer.from(pair, "base64");
  if (bytes.length !== PAIR_BYTES || bytes.toString("base64") !== pair) {
    throw refuse(`the key is not ${PAIR_BYTES} bytes of base64`);
  }
  const { publicKey: ownBytes, sign, agree } = secretKeyOf(bytes.subarray(0, SEED_BYTES));
  const isPair = bytes.subarray(SEED_BYTES).equals(ownBytes);
  bytes.fill(0);
  if (!isPair) throw refuse("the two halves of the key do not match");
  return { ...publicPart(comments, formatKey(ownBytes), refuse), sign, agree };
}

function publicPart(comments: string[], publicKey: string, refuse: (why: string) => TwtxtError) {
  const valueOfField = (field: string) => {
    const [value, ...repeated] = comments
      .filter((line) => line.startsWith(`# ${field}: `))
      .map((line) => line.slice(field.length + 4).trim());
    if (repeated.length > 0) throw refuse(`it has "# ${field}: " twice`);
    return value;
  };
  const address = parseAddress(valueOfField("user") ?? "");
  if (address === null) throw refuse('it needs a line such as "# user: alice@alice.example"');
  const named = valueOfField("public key");
  if (named !== undefined && named !== publicKey) throw refuse('"# public key: " does not match the key');
  const time = valueOfField("created");
  const created = time === undefined ? null : toInstant(time);
  if (time !== undefined && created === null) throw refuse('"# created: " must be a time such as 2026-01-02T03:04:05Z');
  return { address, publicKey, created };
}
