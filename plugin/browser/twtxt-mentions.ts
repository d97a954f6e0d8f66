// plugin/browser/twtxt-mentions.ts: the component that updates a list of mentions in a page.
import {
  type MarkupElement,
  type MentionListContext,
  mentionItem,
  mentionList,
  VERBS,
} from "../site/mention-markup.js";
import { type NewestMentions, readNewest } from "./newest-mentions.js";
import { itemsOf, updateList } from "./update-list.js";

const TIMEOUT_MS = 10_000;
/** Minimum time between two requests. */
const PAUSE_MS = 60_000;

/**
 * Updates a list of mentions that the build wrote: adds, changes and removes items.
 *
 * Attributes: `src`, the URL of the JSON; `target`, the page that the mentions are about, absent for all mentions;
 * `data-page`, the number of this page in a list of several pages (only the first is updated); `data-feed` and `data-nick`,
 * the site's own feed; `data-text-<type>`, the verbs.
 *
 * Sets `data-state` to `live` or `offline`, and fires the event `twtxt-mentions` with the number of mentions in the list.
 */
class TwtxtMentions extends HTMLElement {
  /** The current request or the last one; `null` outside of a page. */
  #request: AbortController | null = null;
  #requestedAt = 0;
  #isLoaded = false;

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
    if (this.#isLoaded) this.#list()?.setAttribute("aria-live", "polite");
    setTimeout(() => request.abort(), TIMEOUT_MS);
    let newest = null;
    try {
      await pageParsed();
      newest = await readNewest(this.#url(), () => itemsOf(this.#list()), request.signal);
    } catch {
      // Offline, a server error, or an invalid list: the list of the build stays.
    }
    if (this.#request !== request) return;
    this.dataset.state = newest ? "live" : "offline";
    if (newest) this.#show(newest);
  }

  #show(newest: NewestMentions): void {
    const context = this.#context();
    let list = this.#list();
    if (!list && newest.mentions.size > 0) {
      list = toDom(mentionList([]));
      this.append(list);
    }
    if (list) {
      const hasNextPage = context.target === null || this.hasAttribute("data-page");
      updateList(list, newest, hasNextPage, (mention) => toDom(mentionItem(mention, context)));
    }
    this.#isLoaded = true;
    const count = itemsOf(list).size;
    this.querySelector(".twtxt-none")?.toggleAttribute("hidden", count > 0);
    this.dispatchEvent(new CustomEvent("twtxt-mentions", { bubbles: true, detail: { count } }));
  }

  #context(): MentionListContext {
    const { feed: url = "", nick = "" } = this.dataset;
    return {
      target: this.getAttribute("target"),
      feed: { url, nick },
      pictureOf: () => [],
      verbOf: (type) => this.getAttribute(`data-text-${type}`) ?? VERBS[type],
    };
  }

  #url(): URL {
    const url = new URL(this.getAttribute("src") ?? "", document.baseURI);
    const target = this.getAttribute("target");
    if (target) url.searchParams.set("target", target);
    return url;
  }

  #list(): Element | null {
    return this.querySelector("ol.twtxt-mentions");
  }
}

/** Creates an element with its content. Texts become text nodes. */
function toDom({ tag, attributes, children }: MarkupElement): HTMLElement {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  created.append(...children.map((child) => (typeof child === "string" ? child : toDom(child))));
  return created;
}

/** Resolves when the page is parsed: an early script runs before its list exists. */
async function pageParsed(): Promise<void> {
  if (document.readyState !== "loading") return;
  await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
}

customElements.define("twtxt-mentions", TwtxtMentions);
