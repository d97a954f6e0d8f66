// plugin/options/follow.ts: the feeds that a site follows, from the option `follow` and from `follow.json` in its data folder.
import * as v from "valibot";
import { TwtxtError } from "../errors.js";
import { show } from "./messages.js";
import { mentionUrl, nick } from "./value-types.js";

export interface FollowedFeed {
  nick: string;
  url: string;
}

export const FOLLOW_FILE = "follow.json";

const FEED = { nick, url: mentionUrl };
const OPTION_EXAMPLE = '{ nick: "bob", url: "https://bob.example/twtxt.txt" }';
const FILE_EXAMPLE = '{ "nick": "bob", "url": "https://bob.example/twtxt.txt" }';

export const FOLLOW = v.pipe(
  v.array(v.strictObject(FEED, `an object such as ${OPTION_EXAMPLE}`), `a list such as [${OPTION_EXAMPLE}]`),
  v.check((feeds) => repeatedNick(feeds) === null, "a list with each nick only once"),
);

/** The contents of the file. Other fields are for the site's templates. */
const FOLLOW_LIST = v.array(
  v.looseObject(FEED, `an object such as ${FILE_EXAMPLE}`),
  `a list such as [${FILE_EXAMPLE}]`,
);

/**
 * Parses the file.
 *
 * @param file - its path, for messages
 * @returns the entries as they are in the file, and their `nick` and `url` only, in the same order
 * @throws TwtxtError `bad-option`, naming the entry, what was expected and what was received
 */
export function parseFollowFile(json: string, file: string): { entries: FollowedFeed[]; feeds: FollowedFeed[] } {
  const list = parseJson(json, file);
  const result = v.safeParse(FOLLOW_LIST, list, { abortEarly: true });
  if (!result.success) {
    const [issue] = result.issues;
    throw badFile(describePlace(file, issue), issue.message, show(issue.input));
  }
  const feeds = result.output.map(({ nick, url }) => ({ nick, url }));
  const repeated = repeatedNick(feeds);
  if (repeated !== null) throw badFile(file, "a list with each nick only once", `"${repeated}" twice`);
  return { entries: list as FollowedFeed[], feeds };
}

/**
 * Joins the two lists. A feed that is in both counts once.
 *
 * @throws TwtxtError `bad-option` if a nick names two feeds, because `@nick` would mention only one of them
 */
export function joinFollowed(
  option: readonly FollowedFeed[],
  { file, feeds }: { file: string; feeds: readonly FollowedFeed[] },
): FollowedFeed[] {
  const added = feeds.filter((feed) => !option.some(({ nick, url }) => nick === feed.nick && url === feed.url));
  const repeated = repeatedNick([...option, ...added]);
  if (repeated === null) return [...option, ...added];
  throw new TwtxtError(
    "bad-option",
    `${file}: the option "follow" has another feed with the nick "${repeated}". Change one of the two nicks.`,
  );
}

function repeatedNick(feeds: readonly FollowedFeed[]): string | null {
  const nicks = feeds.map(({ nick }) => nick);
  return nicks.find((nick, at) => nicks.indexOf(nick) < at) ?? null;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    const what = `${file}: expected JSON, a list such as [${FILE_EXAMPLE}]: ${(cause as Error).message}.`;
    throw new TwtxtError("bad-option", what, { cause });
  }
}

/** @example "_data/follow.json[1].nick" */
function describePlace(file: string, issue: v.BaseIssue<unknown>): string {
  const keys: unknown[] = issue.path?.map(({ key }) => key) ?? [];
  return keys.reduce<string>((place, key) => place + (typeof key === "number" ? `[${key}]` : `.${key}`), file);
}

function badFile(place: string, expected: string, got: string): TwtxtError {
  return new TwtxtError(
    "bad-option",
    `${place}: expected ${expected}, got ${got}. This file lists the feeds that you follow. If yours has another purpose, rename it.`,
  );
}
