// plugin/eleventy/follow-file.ts: reads `follow.json` in the data folder of the site.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { authorError, isMissing, TwtxtError } from "../errors.js";
import { FOLLOW_FILE, type FollowedFeed, joinFollowed, parseFollowFile } from "../options/follow.js";

interface Followed {
  feeds: FollowedFeed[];
  /** The path of the file, from the project's root. It need not exist. */
  file: string;
}

/**
 * Adds the feeds in the file to those in the option `follow`.
 *
 * @param dataFolder - Eleventy's data folder, from the project's root
 * @throws TwtxtError `bad-option` for a file that cannot be read or is no list of feeds, and for a nick of two feeds
 */
export function addFollowFile(option: readonly FollowedFeed[], root: string, dataFolder: string): Followed {
  const file = join(dataFolder, FOLLOW_FILE);
  try {
    const json = readFileSync(join(root, file), "utf8");
    return { feeds: joinFollowed(option, { file, ...parseFollowFile(json, file) }), file };
  } catch (error) {
    if (isMissing(error)) return { feeds: [...option], file };
    if (error instanceof TwtxtError) throw authorError(error.code, error.message, { cause: error });
    throw authorError("bad-option", `${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}
