// plugin/browser/twtxt-mentions.js: tops up a list of mentions that stands in a page. Served as it is from source, and minified by the package.

/**
 * @typedef {keyof typeof VERBS} MentionType
 * @typedef {{ key: string, source: string, target: string, about: string, type: MentionType, name: string, url: string, text: string, date: string }} Mention
 * @typedef {{ mentions: Map<string, Mention>, isAll: boolean }} Newest newest first, by key; `isAll`: there are no older ones
 */

/** What stands between a name and a date. */
const VERBS = {
  mention: "mentioned this",
  reply: "replied",
  like: "likes this",
  repost: "reposted this",
  bookmark: "bookmarked this",
};
const TYPES = /** @type {MentionType[]} */ (Object.keys(VERBS));

/** What of an item may change; all else in it belongs to the page. */
const PARTS = [".p-author", ".twtxt-verb", ".u-url, .dt-published", ".twtxt-about", ".p-content"];

const PAGE_SIZE = 100;
const MAX_PAGES = 5;
const TOTAL_MS = 10_000;
const PAUSE_MS = 60_000;

/** In UTF-16 units: what the server keeps at the most, 500 and 100 characters, is not cut. */
const TEXT_LIMIT = 1000;
const NAME_LIMIT = 200;

/**
 * A list of mentions. Without JavaScript it is what the build has put in it; with it, what has come, changed or gone
 * since is brought up to date, and whatever is still right is not touched.
 *
 * Attributes: `src`, the URL of the JSON; `target`, the page that the mentions are about, default all; `data-page`, which
 * page of a list in pages this is: only the first is topped up; `data-feed` and `data-nick`, the site's own feed, which
 * has no page to name; `data-text-<type>`, other words for VERBS.
 *
 * It sets `data-state` to `live` or `offline`, and fires `twtxt-mentions` with how many mentions it shows.
 */
class TwtxtMentions extends HTMLElement {
  /** @type {AbortController | null} What is under way, or was last. */
  #asking = null;
  #askedAt = 0;
  #isLoaded = false;

  connectedCallback() {
    if (!this.hasAttribute("src") || Number(this.dataset.page ?? 1) > 1) return;
    document.addEventListener("visibilitychange", this.#onVisible);
    void this.#topUp();
  }

  disconnectedCallback() {
    document.removeEventListener("visibilitychange", this.#onVisible);
    this.#asking?.abort();
    this.#asking = null;
  }

  #onVisible = () => {
    const isTime = performance.now() - this.#askedAt >= PAUSE_MS;
    if (document.visibilityState === "visible" && isTime) void this.#topUp();
  };

  async #topUp() {
    const asking = new AbortController();
    this.#asking = asking;
    this.#askedAt = performance.now();
    // Set before anything changes, since readers overlook a region that becomes live together with its change.
    if (this.#isLoaded) this.#list()?.setAttribute("aria-live", "polite");
    setTimeout(() => asking.abort(), TOTAL_MS);
    let newest = null;
    try {
      newest = await readNewest(this, () => itemsOf(this.#list()), asking.signal);
    } catch {
      // Offline, a server's trouble, no such list: what the build has put here is still the best there is.
    }
    if (this.#asking !== asking) return;
    this.dataset.state = newest ? "live" : "offline";
    if (newest) this.#show(newest);
  }

  /** @param {Newest} newest */
  #show(newest) {
    let list = this.#list();
    if (!list && newest.mentions.size > 0) {
      list = element("ol", "twtxt-mentions");
      this.append(list);
    }
    if (list) {
      const isOfAll = !this.hasAttribute("target");
      const makeItem = (/** @type {Mention} */ mention) => {
        const verb = this.getAttribute(`data-text-${mention.type}`) ?? VERBS[mention.type];
        return itemOf(mention, verb, isOfAll ? this.#aboutOf(mention) : []);
      };
      const isWhole = !isOfAll && !this.hasAttribute("data-page");
      bringUpToDate(list, newest, isWhole, makeItem);
    }
    this.#isLoaded = true;
    const count = itemsOf(list).size;
    this.querySelector(".twtxt-none")?.toggleAttribute("hidden", count > 0);
    this.dispatchEvent(new CustomEvent("twtxt-mentions", { bubbles: true, detail: { count } }));
  }

  /**
   * Which of the site's pages it is about, where the list is not about one. A feed is mentioned, and its twts are replied to.
   *
   * @param {Mention} mention
   */
  #aboutOf({ about, type }) {
    if (!isWeb(about)) return [];
    const { feed, nick } = this.dataset;
    const isFeed = about === feed;
    const name = isFeed ? `@${nick}` : new URL(about).pathname;
    const page = element("a", type === "reply" && !isFeed ? "twtxt-about u-in-reply-to" : "twtxt-about", name);
    page.setAttribute("href", about);
    return [" ", page];
  }

  #list() {
    return this.querySelector("ol.twtxt-mentions");
  }
}

/**
 * Reads from the newest mention on, until one that the list has.
 *
 * @param {TwtxtMentions} host
 * @param {() => Map<string, Element>} items
 * @param {AbortSignal} signal
 * @returns {Promise<Newest>}
 */
async function readNewest(host, items, signal) {
  if (document.readyState === "loading") {
    // The list may not be in the page yet, where the script was there before.
    await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
  }
  const url = new URL(host.getAttribute("src") ?? "", document.baseURI);
  const target = host.getAttribute("target");
  if (target) url.searchParams.set("target", target);
  url.searchParams.set("limit", String(PAGE_SIZE));

  const mentions = new Map();
  for (let page = 1; ; page += 1) {
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(`${url} answers ${response.status}.`);
    const list = parseList(await response.json());
    for (const mention of list.mentions) mentions.set(mention.key, mention);
    const isAll = list.next === null;
    const known = items();
    if (isAll || page === MAX_PAGES || [...mentions.keys()].some((key) => known.has(key))) return { mentions, isAll };
    url.searchParams.set("after", String(list.next));
  }
}

/**
 * @param {Element} list
 * @param {Newest} newest
 * @param {boolean} isWhole whether older ones than the last do not belong to another page
 * @param {(mention: Mention) => HTMLElement} makeItem
 */
function bringUpToDate(list, { mentions, isAll }, isWhole, makeItem) {
  const items = itemsOf(list);
  const before = [...items.keys()];
  const lastInBoth = before.findLastIndex((key) => mentions.has(key));
  // Further down, one that is not among the newest may be older than they are.
  const covered = isAll ? before : before.slice(0, lastInBoth + 1);
  for (const key of covered) if (!mentions.has(key)) items.get(key)?.remove();

  const after = [...mentions.values()];
  const end = isWhole || lastInBoth < 0 ? after.length : after.findLastIndex(({ key }) => items.has(key)) + 1;
  /** @type {Element | null} */
  let previous = null;
  for (const mention of after.slice(0, end)) {
    const item = items.get(mention.key);
    const made = makeItem(mention);
    if (item) refresh(item, made);
    else if (previous) previous.after(made);
    else list.prepend(made);
    previous = item ?? made;
  }
}

/**
 * Makes an item say what another says. Its pictures stay.
 *
 * @param {Element} item
 * @param {Element} made
 */
function refresh(item, made) {
  for (const type of TYPES) {
    item.classList.toggle(`twtxt-is-${type}`, made.classList.contains(`twtxt-is-${type}`));
  }
  for (const part of PARTS) {
    const old = item.querySelector(part);
    const next = made.querySelector(part);
    if (meaningOf(old) === meaningOf(next)) continue;
    if (old && next) next.prepend(...old.querySelectorAll("img"));
    if (!next) old?.remove();
    else if (old) old.replaceWith(next);
    else item.append(next);
  }
}

/** @param {Element | null} part what it says, however a minifier has written it */
function meaningOf(part) {
  if (!part) return "";
  const text = [...part.childNodes].map(({ nodeName, textContent }) =>
    nodeName === "BR" ? "\n" : textContent?.replace(/\s+/g, " ").trim(),
  );
  const time = part.querySelector("time") ?? part;
  const isReply = part.matches(".u-in-reply-to");
  return [part.getAttribute("href"), time.getAttribute("datetime"), isReply, text.join("")].join("\0");
}

/**
 * @param {Mention} mention
 * @param {string} verb
 * @param {(Node | string)[]} about which page it is about, where it says so
 */
function itemOf({ source, target, type, name, url, text, date }, verb, about) {
  const time = element("time", "dt-published", date.slice(0, 10));
  time.setAttribute("datetime", date);
  const when = isWeb(source) ? link("u-url", source, time) : time;
  const who = isWeb(url) ? link("p-author h-card", url, name) : element("span", "p-author h-card", name);
  who.dir = "auto";
  const by = element("p", "twtxt-by", who, " ", element("span", "twtxt-verb", verb), " ", when, ...about);
  const item = element("li", `h-cite twtxt-is-${type}`, by);
  item.dataset.source = source;
  item.dataset.target = target;
  const lines = text.split("\n").flatMap((line) => [document.createElement("br"), line]);
  const said = element("p", "p-content", ...lines.slice(1));
  said.dir = "auto";
  if (text !== "") item.append(said);
  return item;
}

/** @param {string} text a twt; without the hash that it replies to, and `@<bob https://bob.example/tw.txt>` as `@bob` */
function readable(text) {
  return text
    .replace(/@<(?:([^\s<>]+) +)?https?:\/\/([^\s<>/]+)[^\s<>]*>/gi, (_, nick, host) => `@${nick ?? host}`)
    .replace(/^((?:@\S+ +)*)\(#[^()]*\) */, "$1");
}

/** @param {string} url */
function isWeb(url) {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/**
 * @param {string} className
 * @param {string} url
 * @param {Node | string} content
 */
function link(className, url, content) {
  const made = element("a", className, content);
  made.setAttribute("href", url);
  made.setAttribute("rel", "nofollow ugc noopener");
  return made;
}

/**
 * @param {string} name
 * @param {string} className
 * @param {(Node | string)[]} content strings become text, never markup
 */
function element(name, className, ...content) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...content);
  return made;
}

/**
 * @param {Element | null} list
 * @returns {Map<string, Element>} its items by key, in order
 */
function itemsOf(list) {
  /** @type {NodeListOf<HTMLElement> | undefined} */
  const items = list?.querySelectorAll("li[data-source]");
  return new Map([...(items ?? [])].map((item) => [`${item.dataset.source} ${item.dataset.target}`, item]));
}

/**
 * @param {unknown} json
 * @throws {TypeError} for what is no list of mentions
 */
function parseList(json) {
  const { mentions, next } = fieldsOf(json);
  if (!Array.isArray(mentions)) throw new TypeError("This is no list of mentions.");
  return { mentions: mentions.slice(0, PAGE_SIZE).map(parseMention), next: next === null ? null : textOf(next) };
}

/**
 * @param {unknown} json
 * @returns {Mention}
 */
function parseMention(json) {
  const { source, target, under, type, author, text, published, received } = fieldsOf(json);
  const { name, url } = fieldsOf(author);
  return {
    key: `${source} ${target}`,
    source: textOf(source),
    target: textOf(target),
    about: textOf(under ?? target),
    type: TYPES.find((known) => known === type) ?? "mention",
    name: textOf(name).slice(0, NAME_LIMIT),
    url: textOf(url),
    text: readable(textOf(text).slice(0, TEXT_LIMIT)),
    date: textOf(published ?? received),
  };
}

/**
 * @param {unknown} json
 * @returns {Record<string, unknown>}
 */
function fieldsOf(json) {
  if (typeof json !== "object" || json === null) throw new TypeError("This is no object.");
  return { ...json };
}

/** @param {unknown} json */
function textOf(json) {
  if (typeof json !== "string") throw new TypeError("This is no text.");
  return json;
}

customElements.define("twtxt-mentions", TwtxtMentions);
