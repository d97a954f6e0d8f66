// plugin/browser/twtxt-mentions.ts: the component that updates a list of mentions, or a timeline, in a page.
import { ENGLISH, type Words } from "../options/words.js";
import { type Entry, mentionEntry, mentionKey, newestThreads, type Thread, toThreads } from "../site/conversation.js";
import type { MentionType, PublicMention } from "../site/mention-list.js";
import {
  dateFormat,
  type MentionContext,
  mentionItem,
  mentionList,
  PARTS,
  type PartName,
  partList,
  partMarkup,
  type ShownMention,
} from "../site/mention-markup.js";
import { oncePerSource, oncePerTwt } from "../site/repeated-mentions.js";
import type { Timeline } from "../site/timeline.js";
import { shownMention, unreadList } from "../site/timeline-markup.js";
import { pageParsed } from "./page-parsed.js";
import { type NewestMentions, readNewest, readTimeline } from "./site-json.js";
import { toDom } from "./to-dom.js";
import { findItems, type Item, type KnownItems, updateList, updateLists } from "./update-list.js";

const TIMEOUT_MS = 10_000;
const PAUSE_MS = 60_000;

/**
 * Updates the mentions of a page, or all mentions, that the build wrote: adds, changes and removes items.
 *
 * Attributes: `src`, the URL of the JSON; `target`, the page that the mentions are about, absent for all mentions;
 * `data-reply-form`, the endpoint of comments; `data-page`, the number of this page in a list of several pages (only the first is updated), and `data-per-page`, the
 * number of conversations on each page of a timeline; `data-feed` and `data-nick`,
 * the site's own feed; `data-updated`, the time of a timeline instead of mentions; `lang` and `data-time-zone`, for dates; `data-heading-level`; `data-text-<word>`, the words.
 *
 * Sets `data-state` to `live` or `offline`, and fires the event `twtxt-mentions` with the number of mentions in the list.
 */
class TwtxtMentions extends HTMLElement {
  /** The current request or the last one; `null` outside of a page. */
  #request: AbortController | null = null;
  #requestedAt = 0;
  #isLoaded = false;
  /** What was last read. */
  #newest: NewestMentions | null = null;
  #own: readonly PublicMention[] = [];

  connectedCallback(): void {
    if (!this.hasAttribute("src") || Number(this.dataset.page ?? 1) > 1) return;
    document.addEventListener("visibilitychange", this.#onVisible);
    void this.#update();
  }

  disconnectedCallback(): void {
    document.removeEventListener("visibilitychange", this.#onVisible);
    this.#request?.abort();
    this.#request = null;
  }

  #onVisible = (): void => {
    const isTime = performance.now() - this.#requestedAt >= PAUSE_MS;
    if (document.visibilityState === "visible" && isTime) void this.#update();
  };

  async #update(): Promise<void> {
    const request = new AbortController();
    this.#request = request;
    this.#requestedAt = performance.now();
    // In advance, because screen readers do not announce changes that come together with this attribute.
    if (this.#isLoaded) this.setAttribute("aria-live", "polite");
    setTimeout(() => request.abort(), TIMEOUT_MS);
    let show = null;
    try {
      await pageParsed();
      show = await this.#read(request.signal);
    } catch {
      // Offline, a server error, or an invalid list: the list of the build stays.
    }
    if (this.#request !== request) return;
    this.dataset.state = show ? "live" : "offline";
    if (!show) return;
    show();
    this.#isLoaded = true;
    this.#announce();
  }

  /** Shows the comments of this reader in their places, also those that others do not see. */
  showOwn(comments: readonly PublicMention[]): void {
    this.#own = comments;
    if (!this.#newest) return;
    this.#show(this.#newest);
    this.#announce();
  }

  #announce(): void {
    const count = findItems(this).size;
    this.querySelector(".twtxt-none")?.toggleAttribute("hidden", count > 0);
    this.dispatchEvent(new CustomEvent("twtxt-mentions", { bubbles: true, detail: { count } }));
  }

  /** @returns a function that shows what was read */
  async #read(signal: AbortSignal): Promise<() => void> {
    if (this.dataset.updated !== undefined) {
      const timeline = await readTimeline(this.#url(), signal);
      return () => this.#showTimeline(timeline);
    }
    const newest = await readNewest(this.#url(), () => findItems(this), signal);
    this.#newest = newest;
    return () => this.#show(newest);
  }

  #show({ mentions: newest, isAll }: NewestMentions): void {
    const known = findItems(this);
    const context = this.#context();
    const oldest = [...newest.values()].at(-1)?.received ?? "";
    const all = [...newest.values(), ...this.#own];
    const listed = context.target === null ? oncePerTwt(all.filter(({ isRemoved }) => !isRemoved)) : oncePerSource(all);
    const mentions = new Map(listed.map((mention) => [mentionKey(mention), mention]));
    for (const [key, item] of known) {
      // Own replies have no such time: they come with the page.
      const { received } = item.dataset;
      if (received !== undefined && !mentions.has(key) && (isAll || received >= oldest)) item.remove();
    }
    if (context.target === null) this.#showList(mentions, known, context);
    else {
      const kept = [...known].filter(([key, item]) => !mentions.has(key) && item.isConnected);
      for (const part of PARTS) {
        this.#showPart(part, itemsOfType(part.type, mentions, kept, context), known, context);
      }
    }
  }

  /** Shows a timeline, unless that of the page is newer. The twts of a feed stay if the page has read it later. */
  #showTimeline(timeline: Timeline): void {
    const { updated, twts, unread } = timeline;
    const { updated: shown = "" } = this.dataset;
    if (updated < shown) return;
    this.dataset.updated = updated;
    const known = findItems(this);
    const context = this.#context();
    const mentions = new Map(twts.map(shownMention).map((each) => [mentionKey(each), each]));
    const outdated = unread.filter(({ lastRead }) => (lastRead ?? "") < shown);
    const kept = itemsOfFeeds(outdated, known).filter(([key]) => !mentions.has(key));
    const entries = [...[...mentions.values()].map(mentionEntry), ...kept.map(([key, item]) => entryOfItem(key, item))];
    const threads = newestThreads(entries).slice(0, Number(this.dataset.perPage ?? entries.length));
    const keys = new Set(threads.flatMap(listKeys));
    for (const [key, item] of known) if (!keys.has(key)) item.remove();
    updateList(this.#list(), createItems(threads, mentions, context), known, context.words);
    this.querySelector(":scope > .twtxt-unread")?.remove();
    if (unread.length > 0) this.append(toDom(unreadList(timeline, context, this.lang || "en")));
  }

  #list(): Element {
    const old = this.querySelector("ol.twtxt-mentions");
    if (old) return old;
    const list = toDom(mentionList([]));
    this.prepend(list);
    return list;
  }

  /** Shows the newest of all mentions. Those older than the last one of this page belong to the next page. */
  #showList(mentions: ReadonlyMap<string, PublicMention>, known: KnownItems, context: MentionContext): void {
    const last = [...known.values()].at(-1)?.dataset.received ?? "";
    const shown = [...mentions].filter(([, { received }]) => received >= last);
    const items = shown.map(([key]) => createItem(key, mentions, context));
    updateList(this.#list(), items, known, context.words);
  }

  #showPart({ name, form }: Part, items: readonly Item[], known: KnownItems, context: MentionContext): void {
    const created = toDom(partMarkup(name, [], 0, context));
    const old = this.querySelector(`:scope > .twtxt-${name}`);
    const part = old ?? created;
    updateLists(part, items, known, { form, words: context.words, create: () => partList(name, []) });
    if (!part.querySelector("li")) {
      old?.remove();
      return;
    }
    const count = part.querySelector(":scope > .twtxt-heading > .twtxt-count");
    const shown = String(part.querySelectorAll("li[data-source]:not(.twtxt-removed)").length);
    if (count && count.textContent !== shown) count.textContent = shown;
    if (old) return;
    created.append("\n");
    this.insertBefore(created, this.#partAfter(name));
  }

  /** The first part of the page that follows another one. */
  #partAfter(name: PartName): Element | null {
    const later = PARTS.slice(PARTS.findIndex((part) => part.name === name) + 1);
    const selector = later.map((part) => `:scope > .twtxt-${part.name}`).join();
    return selector === "" ? null : this.querySelector(selector);
  }

  #context(): MentionContext {
    const { feed: url = "", nick = "", replyForm, timeZone = "UTC", headingLevel = "2" } = this.dataset;
    const words = Object.fromEntries(
      Object.entries(ENGLISH).map(([name, word]) => [name, this.getAttribute(`data-text-${name}`) ?? word]),
    ) as Words;
    const titles = new Map(
      [...this.querySelectorAll<HTMLAnchorElement>(".twtxt-about")].map(({ href, textContent }) => [href, textContent]),
    );
    return {
      findTitle: (page) => titles.get(page) ?? null,
      target: this.getAttribute("target"),
      ...(replyForm !== undefined && { replyForm }),
      feed: { url, nick },
      words,
      headingLevel: Number(headingLevel),
      toPicture: () => [],
      dates: dateFormat(this.lang || "en", timeZone),
      once: (_, create) => create(),
    };
  }

  #url(): URL {
    const url = new URL(this.getAttribute("src") ?? "", document.baseURI);
    const target = this.getAttribute("target");
    if (target) url.searchParams.set("target", target);
    return url;
  }
}

type Part = (typeof PARTS)[number];

/** By key. */
type ShownMentions = ReadonlyMap<string, ShownMention>;

/** An item that stays as the page has it, with its key. */
type KeptItem = readonly [key: string, item: HTMLElement];

/** The items of these feeds in a timeline, with the own twts of the same conversations. */
function itemsOfFeeds(feeds: readonly { url: string }[], known: KnownItems): KeptItem[] {
  const findConversation = (item: HTMLElement) => item.closest(".twtxt-mentions > li");
  const isOfFeeds = ({ dataset: { source = "" } }: HTMLElement) =>
    feeds.some(({ url }) => source.startsWith(`${url}#`));
  const conversations = new Set([...known.values()].filter(isOfFeeds).map(findConversation));
  const isOwn = (item: HTMLElement) => item.dataset.received === undefined;
  return [...known].filter(([, item]) => isOfFeeds(item) || (isOwn(item) && conversations.has(findConversation(item))));
}

/** The items of a part of a page: the newest mentions, and those that stay as the page has them. */
function itemsOfType(
  type: MentionType,
  mentions: ReadonlyMap<string, PublicMention>,
  kept: readonly KeptItem[],
  context: MentionContext,
): Item[] {
  const newest = [...mentions.values()].filter((mention) => mention.type === type);
  const others = kept.filter(([, item]) => item.classList.contains(`twtxt-is-${type}`));
  if (type === "reply") {
    const entries = [...newest.map(mentionEntry), ...others.map(([key, item]) => entryOfItem(key, item))];
    return createItems(toThreads<Entry>(entries), mentions, context);
  }
  return [...newest.map(mentionKey), ...others.map(([key]) => key)].map((key) => createItem(key, mentions, context));
}

function listKeys({ entry, replies }: Thread<Entry>): string[] {
  return [entry.key, ...replies.flatMap(listKeys)];
}

function createItems(threads: readonly Thread<Entry>[], mentions: ShownMentions, context: MentionContext): Item[] {
  return threads.map(({ entry, replies }) =>
    createItem(entry.key, mentions, context, createItems(replies, mentions, context)),
  );
}

/** An item with its mention as it was just read. An item without one stays as the page has it. */
function createItem(key: string, mentions: ShownMentions, context: MentionContext, replies: Item[] = []): Item {
  const mention = mentions.get(key);
  const created = mention ? toDom(mentionItem(mention, context)) : null;
  return { key, created, isRemoved: mention?.isRemoved === true, replies };
}

/** The place of an item of the page in its conversation. */
function entryOfItem(key: string, item: HTMLElement): Entry {
  const { names = "", parents = "", received = "" } = item.dataset;
  const date = item.querySelector(":scope > .twtxt-by .dt-published")?.getAttribute("datetime") ?? received;
  return { key, names: names.split(" "), parents: parents.split(" "), at: date };
}

customElements.define("twtxt-mentions", TwtxtMentions);
