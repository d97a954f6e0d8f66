// test/cli/machine.ts: `eleventy-twtxt keys` on a machine without a keychain, and keys to import.
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";
import { formatIdentity } from "../../plugin/keys/identity.js";
import { type Blog, command, type Outcome } from "./helpers.js";

const { key_encoding: vectors, keys_pub_paper_key } = JSON.parse(
  readFileSync(new URL("../vectors/signcryption.json", import.meta.url), "utf8"),
) as {
  key_encoding: { file?: string; kex: string; ed25519_seed: string }[];
  keys_pub_paper_key: { ed25519_seed: string; bip39: string };
};
/** A peer's key. */
export const salty = vectors.find(({ file }) => file);
export const SALTY_FILE = salty?.file ?? "";

/** The key file of alice@alice.example, relative to the command's folder. */
export const KEY_FILE = "data/eleventy-twtxt/keys/alice@alice.example.key";

/** Runs `eleventy-twtxt keys ARGS` without a keychain, with the data folder in the command's folder. */
export function keys({ folder }: Blog, ...args: string[]): Promise<Outcome> {
  return command(folder, ["keys", ...args], { environment: environmentOf(folder) });
}

export function environmentOf(folder: string): Record<string, string> {
  return {
    HOME: folder,
    XDG_DATA_HOME: join(folder, "data"),
    DBUS_SESSION_BUS_ADDRESS: "unix:path=/dev/null",
  };
}

/** Only on Linux: other systems would use the real keychain of the test's user. */
export const describeWithoutKeychain = describe.skipIf(process.platform !== "linux");

export function fileIn(machine: Blog, name: string, content: string, mode = 0o600): string {
  machine.write(name, content);
  chmodSync(join(machine.folder, name), mode);
  return name;
}

/** A key on paper, and the same key in a file. */
export const PAPER_WORDS = keys_pub_paper_key.bip39;
export const PAPER_KEX =
  vectors.find(({ ed25519_seed }) => ed25519_seed === keys_pub_paper_key.ed25519_seed)?.kex ?? "";
export const PAPER_FILE = formatIdentity(Buffer.from(keys_pub_paper_key.ed25519_seed, "hex"), {
  address: "alice@alice.example",
  created: null,
});
