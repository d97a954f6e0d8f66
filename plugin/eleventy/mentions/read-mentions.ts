// plugin/eleventy/mentions/read-mentions.ts: reads the received mentions from the published site.
import { readFile } from "node:fs/promises";
import { ifTwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { parseJson } from "../../http/one-line.js";
import { mentionPages, readMentionList } from "../../http/read-mention-list.js";
import { type MentionList, type PublicMention, parseMentionList } from "../../site/mention-list.js";

const FILE_BYTES = 64 * 1024 * 1024;
/** Timeout of the live list. Leaves time for the published one. */
const LIVE_MS = 6_000;
const STATIC_ADVICE = ' If your host only serves files, give the plugin the option host: "static".';

export interface KnownMentions {
  /** Newest first; `null` if unknown, which is not the same as none. */
  all: readonly PublicMention[] | null;
  /** The URLs of copies that the site has posted on other networks, by page. */
  syndication: Readonly<Record<string, readonly string[]>>;
  warning: string | null;
}

export interface MentionSources {
  /** The URL of `/mentions.json`, the live list. */
  live: string;
  /** The URL of the list that the last deploy published. */
  file: string;
  /** The path of the list that the last build on this machine cached. */
  cache: string;
  userAgent: string;
  /** Whether the options name the host, and it was not guessed. */
  isHostChosen: boolean;
  /** Ends all requests. */
  signal: AbortSignal;
}

/**
 * Reads the live list. If it is unavailable or incomplete, the rest comes from the published or the cached list. All
 * lists are validated, because other people wrote the mentions.
 *
 * @see PROTOCOL 2.5, "In the site"
 */
export async function readMentions(sources: MentionSources): Promise<KnownMentions> {
  const { live, userAgent, signal } = sources;
  const { createGuard } = await import("../../http/build-network.js");
  const ask = createGuard({ userAgent, ownUrl: live });
  const newest: PublicMention[] = [];
  let syndication: KnownMentions["syndication"] = {};
  try {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(LIVE_MS)]);
    for await (const page of mentionPages(ask, live, timeout)) {
      newest.push(...page.mentions);
      syndication = { ...syndication, ...page.syndication };
    }
    return { all: newest, syndication, warning: null };
  } catch (error) {
    const reason = ifTwtxtError(({ message }) => message)(error);
    const former = await lastMentions(ask, sources);
    if (former === null) {
      const advice = sources.isHostChosen ? "" : STATIC_ADVICE;
      const warning = `${reason} Until a build can read the mentions, pages show them only with JavaScript. This is normal before the first deploy, and while your server is not running.${advice}`;
      return { all: null, syndication, warning };
    }
    const last = newest.at(-1);
    const older = last ? former.mentions.filter(({ received }) => received < last.received) : former.mentions;
    const which = last ? `the mentions before ${last.received}` : "the mentions";
    const copies = { ...former.syndication, ...syndication };
    return {
      all: [...newest, ...older],
      syndication: copies,
      warning: `${reason} This build takes ${which} from the last one.`,
    };
  }
}

/** The content of the cache. @param list - a list of mentions as JSON */
export function cacheFile(live: string, list: string): string {
  return `{"live":${JSON.stringify(live)},${list.slice(1)}`;
}

/** @returns the published list, or the cached one; `null` if there is neither */
async function lastMentions(ask: Ask, { live, file, cache, signal }: MentionSources): Promise<MentionList | null> {
  const published = await readMentionList(ask, file, FILE_BYTES, signal).catch(ifTwtxtError(() => null));
  if (published) return published;
  const json = parseJson(await readFile(cache, "utf8").catch(() => ""));
  // The cache may be that of another site, from before a change of the options.
  return Object(json).live === live ? parseMentionList(json) : null;
}
