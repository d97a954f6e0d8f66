// plugin/keys/node-identity.ts: an author's key pair with its address, from an identity file, on Node.js.
import { toSecretKey } from "./ed25519.js";
import { formatIdentityFile, parseIdentityFile } from "./identity-file.js";
import { formatKey, type SecretKey } from "./key.js";

/** A key pair with its address. The private key cannot be read, and does not appear in JSON or the console. */
export interface Identity extends Pick<SecretKey, "sign" | "agree"> {
  /** `user@domain` */
  readonly address: string;
  /** `kex1...` */
  readonly publicKey: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown. */
  readonly created: string | null;
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
  return formatIdentityFile({ seed, publicKey: toSecretKey(seed).publicKey, address, created });
}

/**
 * The seed in an identity file.
 *
 * @param text - a file that {@link parseIdentity} accepts
 * @returns 32 bytes; the caller must wipe them
 */
export function readSeed(text: string): Uint8Array {
  return parseIdentityFile(text, "It", toSecretKey).seed;
}

/**
 * Parses an identity file.
 *
 * @param text - see {@link parseIdentityFile}
 * @param name - the file's name for messages, which never quote its content
 * @throws TwtxtError `bad-identity`
 * @see PROTOCOL 3.1
 */
export function parseIdentity(text: string, name: string): Identity {
  const { seed, key, publicKey, address, created } = parseIdentityFile(text, name, toSecretKey);
  seed.fill(0);
  const { sign, agree } = key;
  return { address, publicKey: formatKey(publicKey), created, sign, agree };
}
