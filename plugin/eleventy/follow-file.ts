// plugin/eleventy/follow-file.ts: reads `follow.json` in the data folder of the site.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { authorError } from "../errors.js";
import { FOLLOW_FILE, type FollowedFeed, parseFollowFile } from "../options/follow.js";

/** The file of followed feeds. */
export interface FollowFile {
  /** From the project's root. */
  file: string;
  /** Empty if there is no file. */
  feeds: FollowedFeed[];
}

/**
 * @param dataFolder - Eleventy's data folder, from the project's root
 * @throws TwtxtError `bad-option` for a file that cannot be read, or is no list of feeds
 */
export function readFollowFile(root: string, dataFolder: string): FollowFile {
  const file = join(dataFolder, FOLLOW_FILE);
  try {
    return { file, feeds: parseFollowFile(readFileSync(join(root, file), "utf8"), file) };
  } catch (error) {
    const code: unknown = Object(error).syscall && Object(error).code;
    if (code === "ENOENT" || code === "ENOTDIR") return { file, feeds: [] };
    if (code) throw authorError("bad-option", `${file} cannot be read: ${String(code)}.`, { cause: error });
    throw error;
  }
}
