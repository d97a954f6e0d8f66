// plugin/keys/identity-text.ts: a private key as it is written down, and as something that signs.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { TwtxtError } from "../errors.js";
import { toInstant } from "../feed/timestamp.js";
import { parseAddress } from "./address.js";
import { formatKey } from "./key.js";

const SEED_BYTES = 32;
const PAIR_BYTES = 64;
/** What stands before the 32 bytes of a seed in PKCS #8. See RFC 8410, section 7. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** Who signs. The private key cannot be read from it, and shows neither in JSON nor in the console. */
export interface Identity {
  /** `user@domain` */
  readonly address: string;
  /** `kex1...` */
  readonly publicKey: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` where the file does not say. */
  readonly created: string | null;
  /** @returns an Ed25519 signature of 64 bytes */
  sign(bytes: Uint8Array): Uint8Array;
}

/**
 * Writes an identity file, which holds the private key.
 *
 * @param seed - 32 random bytes
 * @see PROTOCOL 3.1
 */
export function formatIdentity(seed: Uint8Array, { address, created }: { address: string; created: string }): string {
  const publicKey = publicKeyOf(privateKeyOf(seed));
  const pair = Buffer.concat([seed, publicKey]).toString("base64");
  return `# created: ${created}\n# public key: ${formatKey(publicKey)}\n# user: ${address}\n${pair}\n`;
}

/**
 * Reads an identity file.
 *
 * @param text - comment lines and one line of base64, in any order; CRLF and a byte order mark are passed over
 * @param name - how the file is called in messages, which never quote it
 * @throws TwtxtError `bad-identity`
 * @see PROTOCOL 3.1
 */
export function parseIdentity(text: string, name: string): Identity {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const comments = lines.filter((line) => line.startsWith("#"));
  const [pair, ...others] = lines.filter((line) => !line.startsWith("#"));
  const refuse = (why: string) => new TwtxtError("bad-identity", `${name} is no identity file: ${why}.`);
  if (pair === undefined || others.length > 0) throw refuse("beside comments it holds one line, the key");

  const bytes = Buffer.from(pair, "base64");
  if (bytes.length !== PAIR_BYTES || bytes.toString("base64") !== pair) {
    throw refuse(`the key is not ${PAIR_BYTES} bytes of base64`);
  }
  const privateKey = privateKeyOf(bytes.subarray(0, SEED_BYTES));
  const publicBytes = publicKeyOf(privateKey);
  if (!publicBytes.equals(bytes.subarray(SEED_BYTES))) throw refuse("the halves of the key do not belong together");
  const publicKey = formatKey(publicBytes);
  return { ...publicPart(comments, publicKey, refuse), sign: (message) => sign(null, message, privateKey) };
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
  if (named !== undefined && named !== publicKey) throw refuse('"# public key: " names another key than the one in it');
  const time = valueOfField("created");
  const created = time === undefined ? null : toInstant(time);
  if (time !== undefined && created === null) throw refuse('"# created: " is no time such as 2026-01-02T03:04:05Z');
  return { address, publicKey, created };
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" });
}

function publicKeyOf(privateKey: KeyObject): Buffer {
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return Buffer.from(x, "base64url");
}
