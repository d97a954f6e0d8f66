// plugin/mentions/receive/moderation.ts: the author's allow and block lists: those of the options, and the sources blocked since the build.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { isSameUrl, withoutQuery } from "../../http/same-url.js";
import type { Settings } from "../../options.js";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { hostAndPort, isFeedUrl, isSameHost } from "../../url.js";
import type { StoredMention } from "../mention.js";
import type { NewMention } from "./event.js";
import type { ReceivedMentions } from "./received.js";

type Lists = Pick<Exclude<Settings["mentions"], false>, "allow" | "block" | "moderate">;

const KEY = "mentions/blocked";
const SOURCES = v.array(v.string());
/** How long a process may not know a decision of another one. */
const STALE_MS = 60_000;

/**
 * Applies the lists to the URL of a source, a feed or page without fragment.
 *
 * An entry is a host, a `host:port` or a feed. A blocked host includes its subdomains, since the owner of a domain has
 * all of them, and a blocked feed includes its URL with any query. An allowed entry matches only itself:
 * `feed?user=eve` may have another author than `feed`.
 *
 * @see PROTOCOL 2.5
 */
export class Moderation {
  /** @param blockList - sources that the author has blocked since the build; default: none */
  constructor(
    readonly lists: Lists,
    readonly blockList?: BlockList,
  ) {}

  /** The entries of both lists of blocked sources. */
  get blocked(): readonly string[] {
    return [...this.lists.block, ...(this.blockList?.sources ?? [])];
  }

  isBlocked(url: string): boolean {
    return this.blocked.some((entry) => isListed(entry, url) || new URL(url).hostname.endsWith(`.${entry}`));
  }

  isAllowed(url: string): boolean {
    return this.lists.allow.some((entry) => (isFeedUrl(entry) ? isSameUrl(entry, url) : matchesHost(entry, url)));
  }

  /** Whether a new mention from this source waits for approval. */
  chooseHold(url: string): NewMention["hold"] {
    if (this.isAllowed(url)) return "never";
    return this.lists.moderate ? "always" : "when many";
  }
}

/** Whether a list entry matches a URL, with or without its query. */
export function isListed(entry: string, url: string): boolean {
  return isFeedUrl(entry) ? [url, withoutQuery(url)].some((name) => isSameUrl(entry, name)) : matchesHost(entry, url);
}

/**
 * Whether a mention is from a source: a feed, an account of another network, a host or `host:port`. `given` counts only on the
 * same host: another sender may have used a redirect from elsewhere.
 */
export function isFrom(source: string, { identity, given, copy, author }: StoredMention): boolean {
  if (copy !== undefined && isListed(source, author.url)) return true;
  return isListed(source, identity) || (isSameHost(given, identity) && isListed(source, given));
}

/** Whether a source is the feed of an unsigned comment, which no other comment has. */
export function isUnsigned(source: string): boolean {
  return /\/anon-[0-9a-f]{16}\.txt$/.test(source);
}

/** Rejects what a source has sent, and refuses what it will send. @returns how many mentions were shown or held */
export async function blockSource(
  source: string,
  { received, moderation }: { received: ReceivedMentions; moderation: Pick<Moderation, "blockList"> },
): Promise<number> {
  if (!isUnsigned(source)) await moderation.blockList?.change(source, true);
  return received.reject((mention) => isFrom(source, mention));
}

function matchesHost(entry: string, url: string): boolean {
  const source = new URL(url);
  return entry === source.hostname || entry === hostAndPort(source);
}

/** The sources that the author has blocked by a decision: hosts and feeds, in the form of the option. Changes are durable when their methods return. */
export class BlockList {
  /** As of the last {@link refresh}. */
  sources: readonly string[] = [];
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: { store: Store; now: Clock }) {}

  /** Reads the list, unless it was read within the last minute. */
  async refresh(): Promise<void> {
    if (Math.abs(this.options.now() - this.#readAt) > STALE_MS) await this.read();
  }

  async read(): Promise<readonly string[]> {
    return this.#set((await readJson(this.options.store, KEY, SOURCES))?.value);
  }

  /** @param isBlocked - `false` takes a decision back */
  async change(source: string, isBlocked: boolean): Promise<void> {
    const change = (old: readonly string[] | null) => {
      const others = (old ?? []).filter((other) => other !== source);
      return isBlocked ? [...others, source] : others;
    };
    this.#set(await update(this.options.store, KEY, SOURCES, change));
  }

  #set(sources: readonly string[] | null = []): readonly string[] {
    this.#readAt = this.options.now();
    this.sources = sources ?? [];
    return this.sources;
  }
}
