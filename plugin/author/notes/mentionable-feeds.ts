// plugin/author/notes/mentionable-feeds.ts: the feeds that the author may want to mention, for completion while a note is typed.
import { setTimeout } from "node:timers/promises";
import * as v from "valibot";
import { formatMention, isMentionUrl, isNick, type Mention } from "../../feed/mention.js";
import { readGuestKey } from "../../keys/guest.js";
import { Contacts } from "../../messages/lookup/contacts.js";
import type { FollowedFeed } from "../../options/follow.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { findShortMention } from "../../text/markdown-mentions.js";
import { loadAuthor } from "../author.js";
import type { Machine, OwnSiteChoice } from "../machine.js";
import { SiteMentions } from "../mentions/site-mentions.js";
import { RefreshInterval } from "../refresh-interval.js";
import type { Site } from "../site.js";
import { openSiteData } from "../site-store.js";
import type { KnownNick } from "./complete-nick.js";
import { hasTemplateCode } from "./notes.js";

const KEY = "mentionable";
const FEEDS = v.array(v.object({ nick: v.string(), url: v.string() }));
const RECORD = v.object({ authors: FEEDS, contacts: FEEDS });
/** Pages of the list of mentions, newest first. */
const MAX_PAGES = 5;
const EVERY_MS = 5 * 60_000;
/** How long a page waits if nothing is known yet. */
const PATIENCE_MS = 1000;

type Feed = v.InferOutput<typeof FEEDS>[number];

export class MentionableFeeds {
  readonly #choice: OwnSiteChoice;
  readonly #machine: Machine;
  readonly #interval: RefreshInterval;

  constructor(choice: OwnSiteChoice, machine: Machine) {
    this.#choice = choice;
    this.#machine = machine;
    this.#interval = new RefreshInterval(EVERY_MS, machine.now);
  }

  /**
   * The feeds of the last read, even if the site does not answer now. They are read again in the background, at most every
   * five minutes.
   */
  async list({ settings }: Pick<Site, "settings">): Promise<readonly Feed[]> {
    const store = openSiteData("mentionable", settings.feedUrl, this.#machine);
    const known = (await readJson(store, KEY, RECORD))?.value ?? { authors: [], contacts: [] };
    const feeds = [...known.authors, ...known.contacts];
    if (!this.#interval.claim()) return feeds;
    // A later read may succeed; other pages show why this one failed.
    const reading = this.#read(store, known).catch(() => feeds);
    return feeds.length > 0 ? feeds : Promise.race([reading, setTimeout(PATIENCE_MS, feeds, { ref: false })]);
  }

  /** A source that cannot be read stays as it was. */
  async #read(store: Store, known: v.InferOutput<typeof RECORD>): Promise<Feed[]> {
    const [authors, contacts] = await Promise.all([
      mentionAuthors(this.#choice, this.#machine).catch(() => known.authors),
      contactSites(this.#choice, this.#machine).catch(() => known.contacts),
    ]);
    if (authors !== known.authors || contacts !== known.contacts) await writeJson(store, KEY, { authors, contacts });
    return [...authors, ...contacts];
  }
}

async function mentionAuthors(choice: OwnSiteChoice, machine: Machine): Promise<Feed[]> {
  const site = await SiteMentions.open(choice, machine);
  const authors = new Map<string, Feed>();
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { mentions, next } = await site.page("shown", after);
    for (const { author } of mentions) {
      if (author !== null && !authors.has(author.url)) authors.set(author.url, { nick: author.name, url: author.url });
    }
    if (next === null) break;
    after = next;
  }
  return [...authors.values()];
}

/** A contact has an address but no feed, so a mention leads to the site. */
async function contactSites(choice: OwnSiteChoice, machine: Machine): Promise<Feed[]> {
  const { store } = await loadAuthor(choice, machine);
  const contacts = await new Contacts(store, machine.now).list();
  return contacts.flatMap(({ address }) => {
    const [user = "", host = ""] = address.split("@");
    return readGuestKey(address) === null ? [{ nick: user, url: `https://${host}/` }] : [];
  });
}

/**
 * Lists the feeds that the author may want to mention: those that the site follows, then others.
 *
 * @param others - from strangers; those without a valid nick, or with a URL that cannot be mentioned, are left out
 */
export function knownNicks(followed: readonly FollowedFeed[], others: readonly Mention[]): KnownNick[] {
  const known = new Map<string, KnownNick>();
  for (const { nick, url } of [...followed, ...others]) {
    if (nick === null || !isNick(nick) || !isMentionUrl(url) || hasTemplateCode(nick + url) || known.has(url)) continue;
    const isResolved = findShortMention(`@${nick}`, 0, followed)?.url === url;
    known.set(url, { nick, url, written: isResolved ? `@${nick}` : formatMention({ nick, url }) });
  }
  return [...known.values()];
}
