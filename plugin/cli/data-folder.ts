// plugin/cli/data-folder.ts: where this machine keeps the author's data, independently of any site.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { systemKeychain } from "../keys/keychain.js";
import type { IdentityPlaces } from "../keys/places.js";
import type { Terminal } from "./terminal.js";

const NAME = "eleventy-twtxt";

/**
 * The folder for this program's data: `$XDG_DATA_HOME` or `~/.local/share` on Linux, `~/Library/Application Support` on
 * macOS, `%APPDATA%` on Windows.
 *
 * @see PROTOCOL 7
 */
export function dataFolder({ environment }: Pick<Terminal, "environment">, platform = process.platform): string {
  const home = environment.HOME || environment.USERPROFILE || homedir();
  if (platform === "win32") return join(environment.APPDATA || join(home, "AppData", "Roaming"), NAME);
  if (platform === "darwin") return join(home, "Library", "Application Support", NAME);
  const named = environment.XDG_DATA_HOME ?? "";
  return join(isAbsolute(named) ? named : join(home, ".local", "share"), NAME);
}

/** The places of the author's keys. */
export function identityPlaces(terminal: Pick<Terminal, "environment">): IdentityPlaces {
  return { keychain: systemKeychain(), folder: join(dataFolder(terminal), "keys") };
}
