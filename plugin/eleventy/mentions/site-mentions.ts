// plugin/eleventy/mentions/site-mentions.ts: mentions for pages and templates.
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { remember } from "../../groups.js";
import { type MentionsOptions, mentionsOptions } from "../../options/mentions.js";
import { chooseLanguage, chooseWords } from "../../options/translations.js";
import type { Words } from "../../options/words.js";
import { escapeHtml } from "../../site/html.js";
import type { PublicMention } from "../../site/mention-list.js";
import { dateFormat, type ShownMention } from "../../site/mention-markup.js";
import { oncePerTwt } from "../../site/repeated-mentions.js";
import { PATHS } from "../../site/routes.js";
import type { PlainTwt } from "../../site/timeline.js";
import { replaceFile } from "../../store/disk.js";
import { listLoopbackHosts } from "../../url.js";
import type { BuildEnvironment } from "../build-environment.js";
import type { PageAssets } from "../pages/page-assets.js";
import type { PageLanguages, RenderedPage, WritePart } from "../pages/page-languages.js";
import type { SiteUrls } from "../site-urls.js";
import type { Avatar } from "./avatars.js";
import { createCommentSection } from "./comment-section.js";
import { answeredTwts, type Conversation, type OwnTwt, SiteConversations } from "./conversations.js";
import {
  contextHtml,
  conversationHtml,
  formatOnce,
  type MentionListOptions,
  mentionListHtml,
  type PostState,
  writeOnce,
} from "./mention-html.js";
import { ifRendered, type PageTitles } from "./page-titles.js";
import { cacheFile, type KnownMentions, readMentions } from "./read-mentions.js";

const LIST = "mentions.json";
const AVATARS = ".eleventy-twtxt/avatars";
const CACHE = ".eleventy-twtxt/mentions.json";

/** Stands for the page in the list of a page without mentions. */
const ANY_PAGE = "https://any-page.invalid/";

/** Timeout of all network requests of a build. */
const TOTAL_MS = 10_000;

export class SiteMentions {
  readonly #options: MentionsOptions;
  /** The folder of the list: that of the pages, even if they are off. */
  readonly #folder: string;
  readonly words: Words;
  #conversations: SiteConversations | null = null;
  #received: SiteConversations | null = null;
  #ownTwts: (() => readonly OwnTwt[]) | null = null;
  /** What all lists share, by language and whether their pages are complete. Creating it takes longer than a page. */
  readonly #shared = new Map<string, Omit<MentionListOptions, "target">>();
  /** The lists of pages without mentions, by the same key. */
  readonly #empty = new Map<string, string>();
  #known: KnownMentions | null = null;
  /** The mentions on the pages of all mentions, newest first; `null` if they are unknown. */
  #listed: readonly PublicMention[] | null = null;
  #followed: readonly PlainTwt[] = [];
  /** What own replies answer, by the URL of their page. */
  #answered: ReturnType<typeof answeredTwts> | null = null;
  /** The pages that show what they answer themselves. */
  readonly #withContext = new Set<string>();
  /** Titles of pages by URL, or the first words of a note. */
  #titles: PageTitles = new Map();
  #json: string | null = null;
  /** The posts that can have comments, by path. */
  #posts: ReadonlyMap<string, PostState> = new Map();
  #isCached = false;
  #isInTemplates = false;
  #avatars: ReadonlyMap<string, Avatar> = new Map();

  constructor(
    readonly urls: SiteUrls,
    readonly assets: PageAssets,
    readonly languages: PageLanguages,
    readonly environment: Pick<BuildEnvironment, "root">,
  ) {
    this.#options = mentionsOptions(urls.settings);
    this.words = this.chooseWords(urls.settings.lang);
    this.#folder = (this.#options.pages || "/mentions/").replace(/\/?$/, "/");
  }

  /** The words in a language. Those that the author has set are in the language of the site's options. */
  chooseWords(lang: string | undefined): Words {
    return chooseWords(lang, { words: this.#options.words, lang: this.urls.settings.lang });
  }

  /** The language of these words. */
  chooseLanguage(lang: string): string {
    return chooseLanguage(lang, { words: this.#options.words, lang: this.urls.settings.lang });
  }

  /** The attribute of a part whose words are in another language than its page. */
  toLangAttribute(lang: string): { lang?: string } {
    const shown = this.chooseLanguage(lang);
    return shown === lang ? {} : { lang: shown };
  }

  /** Reads the mentions, once per process: the component in the pages shows later ones. */
  async read(): Promise<void> {
    if (this.#known || !this.urls.has("mentions")) return;
    const signal = AbortSignal.timeout(TOTAL_MS);
    this.#known = await readMentions({
      live: this.urls.absolute(PATHS.mentionsJson),
      file: this.urls.absolute(this.#folder + LIST),
      cache: join(this.environment.root, CACHE),
      userAgent: this.urls.userAgent(),
      isHostChosen: this.urls.settings.host !== undefined,
      signal,
    });
    const all = this.all() ?? [];
    this.#listed = this.all() && oncePerTwt(all);
    if (this.#options.avatars) await this.#readAvatars(all, signal);
  }

  /** The URLs of the copies that the site has posted of a page. @param path - of the page */
  listCopies(path: string): readonly string[] {
    return this.#known?.syndication[this.urls.absolute(path)] ?? [];
  }

  /**
   * Starts the conversations of a build.
   *
   * @param posts - by path; those that can have comments
   * @param ownTwts - throws while the posts are not rendered; `null` if no post is a reply
   */
  begin(
    ownTwts: (() => readonly OwnTwt[]) | null,
    titles: PageTitles,
    followed: readonly PlainTwt[],
    posts: ReadonlyMap<string, PostState>,
  ): void {
    this.#posts = posts;
    this.#ownTwts = ownTwts;
    this.#titles = titles;
    this.#followed = followed;
    this.#answered = null;
    this.#withContext.clear();
    this.#conversations = null;
    this.#shared.clear();
    this.#empty.clear();
  }

  /** All mentions, newest first; `null` if they are unknown. */
  all(): readonly PublicMention[] | null {
    return this.#allWithPlaces()?.filter(({ isRemoved }) => isRemoved !== true) ?? null;
  }

  /** The same with the empty places of removed replies. */
  #allWithPlaces(): readonly PublicMention[] | null {
    return this.#known?.all ?? null;
  }

  /** The mentions of a page. @param permalink - its path; `null` for a post without a page */
  of(permalink: string | null): readonly PublicMention[] {
    return permalink === null ? [] : this.#withoutOwnTwts().findMentions(this.urls.absolute(permalink));
  }

  /** The conversation about a page. It has the author's own replies once all posts are rendered, as in layouts. */
  findConversation(permalink: string | null): Conversation {
    const conversations = this.#allConversations() ?? this.#withoutOwnTwts();
    return conversations.of(permalink === null ? "" : this.urls.absolute(permalink));
  }

  #withoutOwnTwts(): SiteConversations {
    this.#received ??= new SiteConversations(this.#allWithPlaces() ?? [], []);
    return this.#received;
  }

  /** @returns `null` while the posts are not rendered */
  #allConversations(): SiteConversations | null {
    return ifRendered(() => {
      this.#conversations ??= new SiteConversations(this.#allWithPlaces() ?? [], this.#ownTwts?.() ?? []);
      return this.#conversations;
    });
  }

  /** The HTML of what a reply answers; empty for other posts, and for a twt that the site does not know. */
  renderContext(permalink: string | null, asker: RenderedPage | undefined): string {
    if (permalink === null || !this.#ownTwts) return "";
    this.#withContext.add(permalink);
    const answered = this.#findAnswered(permalink);
    if (!answered) return "";
    return this.languages.write(asker, (...form) => contextHtml(answered, this.listOptions(null, ...form)));
  }

  /** @returns `null` also while the posts are not rendered */
  #findAnswered(permalink: string): ShownMention | null {
    const own = ifRendered(() => this.#ownTwts?.() ?? []);
    if (own === null) return null;
    this.#answered ??= answeredTwts({ own, mentions: this.all() ?? [], followed: this.#followed });
    return this.#answered.get(this.urls.absolute(permalink))?.() ?? null;
  }

  /**
   * The HTML list of a page's mentions, with the component; empty for a site that receives none. Above it stands what a
   * reply answers, unless the page shows this elsewhere.
   */
  renderList(permalink: string | null, asker: RenderedPage | undefined): string {
    this.#isInTemplates = true;
    const context = permalink !== null && this.#withContext.has(permalink) ? "" : this.renderContext(permalink, asker);
    return context + this.#renderList(permalink, asker);
  }

  #renderList(permalink: string | null, asker: RenderedPage | undefined): string {
    if (permalink === null || !this.urls.has("mentions")) return "";
    const target = this.urls.absolute(permalink);
    return this.languages.write(asker, (...form) => {
      const conversation = this.#allWithPlaces() && this.findConversation(permalink);
      const isEmpty = !conversation || Object.values(conversation).every(({ length }) => length === 0);
      const post = this.#posts.get(permalink);
      return isEmpty
        ? this.#emptyList(target, post, ...form)
        : conversationHtml(conversation, { ...this.listOptions(target, ...form), ...(post && { post }) });
    });
  }

  /** The list of a page without mentions, as most posts have it: written once for all of them. */
  #emptyList(target: string, post: PostState | undefined, ...form: Parameters<WritePart>): string {
    const create = () => conversationHtml(null, { ...this.listOptions(ANY_PAGE, ...form), ...(post && { post }) });
    return remember(this.#empty, [post, ...form].join(" "), create).replaceAll(ANY_PAGE, () => escapeHtml(target));
  }

  pageCount(): number {
    return Math.ceil((this.#listed?.length ?? 0) / this.#options.perPage) || 1;
  }

  /** The HTML of one page of the list of all mentions. @param page - page number from 1 */
  listOfPage(page: number, ...form: Parameters<WritePart>): string {
    const { perPage } = this.#options;
    const shown = this.#listed?.slice((page - 1) * perPage, page * perPage) ?? null;
    return mentionListHtml(shown, { ...this.listOptions(null, ...form), page });
  }

  /** The path of the list of all mentions for templates; `null` if there is none. */
  pageHref(): string | null {
    return this.urls.has("mentions") && this.#options.pages ? this.urls.hrefInTemplates(this.#folder) : null;
  }

  /** The features with which the author shows mentions; empty if the option is `false`. */
  featuresInUse(): string[] {
    if (this.urls.settings.mentions === false) return [];
    // Aliases are also used for sending.
    const isConfigured = !isDeepStrictEqual({ ...this.#options, aliases: [] }, mentionsOptions({ mentions: false }));
    return [
      ...(isConfigured ? ['the option "mentions"'] : []),
      ...(this.#isInTemplates ? ['the shortcode "twtxtMentions"'] : []),
    ];
  }

  /** The origins of the pages that the mentions are about: earlier ones too, if the host does not know that the site moved. */
  targetOrigins(): ReadonlySet<string> {
    return new Set((this.all() ?? []).map(({ target }) => /^https?:\/\/[^/?#]+/.exec(target)?.[0] ?? ""));
  }

  warning(): string | null {
    return this.#known?.warning ?? null;
  }

  /** The pictures, and the list for the next build if it is known. */
  files(): { path: string; content: string | Uint8Array }[] {
    if (!this.urls.has("mentions")) return [];
    const mentions = this.#allWithPlaces();
    return [
      ...[...this.#avatars.values()].map(({ name, content }) => ({ path: this.#avatarPath(name), content })),
      ...(mentions === null ? [] : [{ path: this.#folder + LIST, content: this.#toJson(mentions) }]),
    ];
  }

  /** Caches the list on this machine for builds that cannot reach the site. Once per process. */
  async saveCache(): Promise<void> {
    const mentions = this.#allWithPlaces();
    if (mentions === null || this.#isCached) return;
    const content = cacheFile(this.urls.absolute(PATHS.mentionsJson), this.#toJson(mentions));
    await replaceFile(join(this.environment.root, CACHE), content);
    this.#isCached = true;
  }

  /** Written once, because the mentions of a process stay the same. */
  #toJson(mentions: readonly PublicMention[]): string {
    const syndication = this.#known?.syndication ?? {};
    const copies = Object.keys(syndication).length > 0 && { syndication };
    this.#json ??= `${JSON.stringify({ mentions, next: null, ...copies })}\n`;
    return this.#json;
  }

  /** @param target - the URL of the page that the mentions are about; `null` for several pages */
  listOptions(target: string | null, ...form: Parameters<WritePart>): MentionListOptions {
    return { ...remember(this.#shared, form.join(" "), () => this.#sharedOptions(...form)), target };
  }

  #sharedOptions(...[lang, isComplete]: Parameters<WritePart>): Omit<MentionListOptions, "target"> {
    const { timeZone, nick } = this.urls.settings;
    const shown = this.chooseLanguage(lang);
    return {
      json: this.urls.href(PATHS.mentionsJson),
      script: this.assets.script("mentions"),
      style: this.assets.style(),
      comments: createCommentSection(this.assets, this.#options, lang),
      endpoint: this.#options.form ? this.urls.endpoint() : null,
      feed: { url: this.urls.feedUrl(), nick },
      findTitle: (url) => this.#titles.get(url)?.() ?? null,
      pictures: this.#pathsOfPictures(isComplete),
      words: this.chooseWords(lang),
      ...{ lang: shown, ...(shown !== lang && { isForeign: true as const }) },
      timeZone,
      headingLevel: this.#options.headingLevel,
      once: writeOnce(),
      dates: formatOnce(dateFormat(shown, timeZone)),
    };
  }

  async #readAvatars(mentions: readonly PublicMention[], signal: AbortSignal): Promise<void> {
    const urls = mentions.flatMap(({ author: { photo } }) => photo ?? []);
    const [{ loadAvatars }, { createGuard }] = await Promise.all([
      import("./avatars.js"),
      import("../../http/build-network.js"),
    ]);
    const allowPrivateHosts = listLoopbackHosts(this.urls.settings.url, urls);
    const ask = createGuard({ userAgent: this.urls.userAgent(), allowPrivateHosts });
    this.#avatars = await loadAvatars(urls, { folder: join(this.environment.root, AVATARS), ask, signal });
  }

  #pathsOfPictures(isComplete: boolean): ReadonlyMap<string, string> {
    const toPath = (path: string) => (isComplete ? this.urls.href(path) : this.urls.hrefInTemplates(path));
    return new Map([...this.#avatars].map(([url, { name }]) => [url, toPath(this.#avatarPath(name))]));
  }

  #avatarPath(name: string): string {
    return `${this.#folder}avatars/${name}`;
  }
}
