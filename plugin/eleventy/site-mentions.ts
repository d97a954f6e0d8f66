// plugin/eleventy/site-mentions.ts: the mentions of a site while it is built.
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { comparableUrl } from "../http/same-url.js";
import type { Settings } from "../options.js";
import type { PublicMention } from "../site/mention-list.js";
import { PATHS } from "../site/routes.js";
import type { Avatar } from "./avatars.js";
import { type MentionListOptions, mentionListHtml } from "./mention-html.js";
import { replaceFile } from "./output.js";
import { cacheOf, type KnownMentions, readMentions } from "./read-mentions.js";
import { mentionsOptions } from "./served-options.js";
import type { BinaryFile, SiteFile } from "./site-files.js";
import type { SiteUrls } from "./site-urls.js";

const COMPONENT = "twtxt-mentions";
const SCRIPT = `${COMPONENT}.js`;
const LIST = "mentions.json";
const AVATARS = ".eleventy-twtxt/avatars";
const CACHE = ".eleventy-twtxt/mentions.json";

/** For everything that a build asks of the network. */
const TOTAL_MS = 10_000;
/** How many stand under a post: as many as the component reads. */
const MOST_OF_PAGE = 500;

/** What the mentions of a site need of the machine that builds it. */
export interface MentionsEnvironment {
  /** The project's root, where pictures are kept between builds. */
  root: string;
  /** Reads a script for the pages of the site. */
  readScript(name: string): Promise<string>;
}

/** What templates and pages show of them. A site without a receiver of its own has none. */
export class SiteMentions {
  readonly #settings: Pick<Settings, "mentions" | "nick">;
  readonly #urls: SiteUrls;
  readonly #byUrl = new Map<string, PublicMention[]>();
  readonly #root: string;
  readonly #readScript: MentionsEnvironment["readScript"];
  #known: KnownMentions | null = null;
  #isKept = false;
  #isInTemplates = false;
  #avatars: ReadonlyMap<string, Avatar> = new Map();
  /** Paths of the site by the URLs that the authors have given. */
  #pictures: ReadonlyMap<string, string> = new Map();

  constructor(
    settings: Pick<Settings, "mentions" | "nick">,
    urls: SiteUrls,
    { root, readScript }: MentionsEnvironment,
  ) {
    this.#settings = settings;
    this.#urls = urls;
    this.#root = root;
    this.#readScript = readScript;
  }

  /** Once for all builds of this process: what comes meanwhile is shown by the component. */
  async read(): Promise<void> {
    if (this.#known || !this.#urls.hasReceiver()) return;
    const signal = AbortSignal.timeout(TOTAL_MS);
    this.#known = await readMentions({
      live: this.#liveUrl(),
      file: this.#urls.absolute(this.#folder() + LIST),
      cache: join(this.#root, CACHE),
      userAgent: this.#urls.userAgent(),
      signal,
    });
    if (mentionsOptions(this.#settings).avatars) await this.#readAvatars(this.#known.all ?? [], signal);
    for (const mention of this.#known.all ?? []) {
      for (const url of new Set([mention.target, mention.under])) if (url !== null) this.#note(url, mention);
    }
  }

  /** Newest first; `null` where they are not known, which is not the same as none. */
  all(): readonly PublicMention[] | null {
    return this.#known?.all ?? null;
  }

  /** @param permalink - the URL of a page in the site; `null` for what has no page, and so no mentions */
  of(permalink: string | null): readonly PublicMention[] {
    if (permalink === null) return [];
    return this.#byUrl.get(comparableUrl(this.#urls.absolute(permalink)) ?? "") ?? [];
  }

  /** The list of a page's mentions, with what tops it up; empty for a site that receives none. */
  listOf(permalink: string | null): string {
    this.#isInTemplates = true;
    if (permalink === null || !this.#urls.hasReceiver()) return "";
    const known = this.all() && this.of(permalink).slice(0, MOST_OF_PAGE);
    return mentionListHtml(known, this.#listOptions(this.#urls.absolute(permalink)));
  }

  /** From 1 to that of the last page of all mentions. */
  pageNumbers(): number[] {
    const count = Math.ceil((this.all()?.length ?? 0) / mentionsOptions(this.#settings).perPage);
    return Array.from({ length: Math.max(count, 1) }, (_, i) => i + 1);
  }

  /** The list of one page of all mentions. */
  listOfPage(page: number): string {
    const { perPage } = mentionsOptions(this.#settings);
    const shown = this.all()?.slice((page - 1) * perPage, page * perPage) ?? null;
    return mentionListHtml(shown, { ...this.#listOptions(null), page });
  }

  /** The path of the page that lists them all, as a template writes it; `null` for a site without. */
  pageHref(): string | null {
    const hasPages = this.#urls.hasReceiver() && mentionsOptions(this.#settings).pages;
    return hasPages ? this.#urls.hrefInTemplates(this.#folder()) : null;
  }

  /** By what the author wants mentions shown; not by anything where the option says that there are none. */
  featuresInUse(): string[] {
    const { mentions } = this.#settings;
    if (mentions === false) return [];
    // Aliases count for what is sent, too.
    const isConfigured = !isDeepStrictEqual({ ...mentions, aliases: [] }, mentionsOptions({ mentions: false }));
    return [
      ...(isConfigured ? ['the option "mentions"'] : []),
      ...(this.#isInTemplates ? ['the shortcode "twtxtMentions"'] : []),
    ];
  }

  /** What the author should know; `null` where all went well. */
  warning(): string | null {
    return this.#known?.warning ?? null;
  }

  /** The component, and the list for the next build: none where this build knows none. */
  async files(): Promise<(SiteFile | BinaryFile)[]> {
    if (!this.#urls.hasReceiver()) return [];
    const script = await this.#readScript(COMPONENT);
    const avatars = [...this.#avatars.values()].map(({ name, content }) => ({ path: this.#avatarPath(name), content }));
    const own = [{ path: this.#folder() + SCRIPT, content: script }, ...avatars];
    const mentions = this.all();
    if (mentions === null) return own;
    return [...own, { path: this.#folder() + LIST, content: `${JSON.stringify({ mentions, next: null })}\n` }];
  }

  /** Keeps the list on this machine, for a build while the site cannot be reached. Once for all builds of this process. */
  async keep(): Promise<void> {
    const mentions = this.all();
    if (mentions === null || this.#isKept) return;
    await replaceFile(join(this.#root, CACHE), cacheOf(this.#liveUrl(), mentions));
    this.#isKept = true;
  }

  #listOptions(target: string | null): MentionListOptions {
    return {
      json: this.#urls.href(PATHS.mentionsJson),
      script: this.#urls.hrefInTemplates(this.#folder() + SCRIPT),
      target,
      feed: { url: this.#urls.feedUrl(), nick: this.#settings.nick },
      pictures: this.#pictures,
      words: mentionsOptions(this.#settings).words,
    };
  }

  async #readAvatars(mentions: readonly PublicMention[], signal: AbortSignal): Promise<void> {
    const urls = mentions.flatMap(({ author: { photo } }) => photo ?? []);
    const [{ avatarsOf }, { createGuard }] = await Promise.all([import("./avatars.js"), import("../http/guard.js")]);
    const ask = createGuard({ userAgent: this.#urls.userAgent() });
    this.#avatars = await avatarsOf(urls, { folder: join(this.#root, AVATARS), ask, signal });
    const pathOf = ({ name }: Avatar) => this.#urls.hrefInTemplates(this.#avatarPath(name));
    this.#pictures = new Map([...this.#avatars].map(([url, avatar]) => [url, pathOf(avatar)]));
  }

  #avatarPath(name: string): string {
    return `${this.#folder()}avatars/${name}`;
  }

  #liveUrl(): string {
    return this.#urls.absolute(PATHS.mentionsJson);
  }

  #note(url: string, mention: PublicMention): void {
    const key = comparableUrl(url);
    if (key === null) return;
    const list = this.#byUrl.get(key);
    if (list) list.push(mention);
    else this.#byUrl.set(key, [mention]);
  }

  /** Where the script and the list stand: with the pages, or where these would be. */
  #folder(): string {
    return (mentionsOptions(this.#settings).pages || "/mentions/").replace(/\/?$/, "/");
  }
}
