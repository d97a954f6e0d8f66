// plugin/eleventy/read-mentions.ts: reads the received mentions from the published site.
import { readFile } from "node:fs/promises";
import { TwtxtError } from "../errors.js";
import type { Ask } from "../http/guard.js";
import { loopbackHostOf } from "../http/loopback.js";
import { type MentionList, type PublicMention, parseMentionList } from "../site/mention-list.js";

const PAGE_BYTES = 1024 * 1024;
const FILE_BYTES = 64 * 1024 * 1024;
const MAX_PAGES = 1000;
/** What the list may take, so that some time is left for the other one. */
const LIVE_MS = 6_000;

/** What a build knows of the site's mentions. */
export interface KnownMentions {
  /** Newest first; `null` where nothing is known, which is not the same as none. */
  all: readonly PublicMention[] | null;
  /** What the author should know; `null` where all went well. */
  warning: string | null;
}

/** Where a site publishes its mentions. */
export interface MentionSources {
  /** `/mentions.json` as a URL: what was received up to now. */
  live: string;
  /** The list that the last deploy has published, as a URL. */
  file: string;
  /** The list that the last build on this machine has kept, as a path. */
  cache: string;
  userAgent: string;
  /** Ends the reading, wherever it is. */
  signal: AbortSignal;
}

/**
 * Reads them. What is read is not trusted: it was a stranger's, and a network's.
 *
 * @see PROTOCOL 2.5, "In the site"
 */
export async function readMentions(sources: MentionSources): Promise<KnownMentions> {
  const { live, userAgent, signal } = sources;
  const { createGuard } = await import("../http/guard.js");
  const ask = createGuard({ userAgent, allowPrivateHosts: loopbackHostOf(live) });
  const newest: PublicMention[] = [];
  try {
    const isTimeOver = AbortSignal.any([signal, AbortSignal.timeout(LIVE_MS)]);
    for await (const mentions of livePages(ask, live, isTimeOver)) newest.push(...mentions);
    return { all: newest, warning: null };
  } catch (error) {
    const why = networkReason(error);
    const former = await lastMentions(ask, sources);
    if (former === null) {
      const warning = `${why} Pages show mentions by JavaScript alone until a build can read them. This is normal before the first deploy, and while your server is not running. If your host only serves files, give the plugin the option host: "static".`;
      return { all: null, warning };
    }
    const last = newest.at(-1);
    const older = last ? former.filter(({ received }) => received < last.received) : former;
    const which = last ? `Those from before ${last.received}` : "The mentions";
    return { all: [...newest, ...older], warning: `${why} ${which} in this build are those of the last one.` };
  }
}

/** The content of the cache, for the next build that cannot read the list. */
export function cacheOf(live: string, mentions: readonly PublicMention[]): string {
  return `${JSON.stringify({ live, mentions, next: null })}\n`;
}

/** @returns `null` where no build has left any */
async function lastMentions(
  ask: Ask,
  { live, file, cache, signal }: MentionSources,
): Promise<readonly PublicMention[] | null> {
  try {
    return (await readList(ask, file, FILE_BYTES, signal)).mentions;
  } catch (error) {
    networkReason(error);
    const json = jsonOf(await readFile(cache, "utf8").catch(() => ""));
    // The options may have named another site then.
    return Object(json).live === live ? (parseMentionList(json)?.mentions ?? null) : null;
  }
}

async function* livePages(ask: Ask, url: string, signal: AbortSignal): AsyncIterable<PublicMention[]> {
  let after = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { mentions, next } = await readList(ask, `${url}?limit=100${after}`, PAGE_BYTES, signal);
    yield mentions;
    if (next === null) return;
    after = `&after=${encodeURIComponent(next)}`;
  }
}

async function readList(ask: Ask, url: string, maxBytes: number, signal: AbortSignal): Promise<MentionList> {
  const response = await ask(url, { maxBytes, signal });
  if (response.status !== 200) {
    response.close();
    throw new TwtxtError("unreachable", `${url} answers ${response.status}.`);
  }
  const list = parseMentionList(jsonOf(String(await response.bytes())));
  if (list) return list;
  throw new TwtxtError("unreachable", `${url} is no list of mentions.`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @throws what is no trouble of the network's */
function networkReason(error: unknown): string {
  if (error instanceof TwtxtError) return error.message;
  throw error;
}
