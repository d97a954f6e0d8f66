// plugin/eleventy/templates.ts: filters, shortcodes and global data for templates.
import { formatMention } from "../feed/mention.js";
import type { Settings } from "../options.js";
import { escapeHtml } from "../site/html.js";
import { contactHtml } from "./contact.js";
import type { EleventyConfig, TemplateContext } from "./eleventy.js";
import { permalinkOf } from "./post-date.js";
import type { SharedBlobs } from "./shared-blobs.js";
import type { Inbox } from "./site-files.js";
import type { SiteMentions } from "./site-mentions.js";
import type { SiteUrls } from "./site-urls.js";
import type { PostTwt } from "./twts-from-posts.js";

/** What the templates' tools need of the build that is under way. */
export interface TemplateTools {
  settings: Settings;
  urls: Pick<SiteUrls, "feedUrl" | "feedHrefInTemplates">;
  headLinks(): string;
  /** @param permalink - the post's URL in the site, or its file where it has no page */
  twtOf(permalink: string, asker: string | undefined): PostTwt | null;
  mentions: Pick<SiteMentions, "all" | "of" | "listOf" | "pageHref">;
  blobs: Pick<SharedBlobs, "urlOf">;
  readonly inboxes: readonly Inbox[];
}

/** A post by its collection item, its `page`, or its URL. */
type PostLike = string | { url?: string | false; inputPath?: string; pageNumber?: number } | undefined;

export function addTemplateTools(config: EleventyConfig, tools: TemplateTools): void {
  const twtOf = (post: PostLike, asker: PostLike) => {
    const permalink = keyOf(post);
    return permalink === undefined ? null : tools.twtOf(permalink, keyOf(asker));
  };
  const html = htmlTools(tools, twtOf);

  config.addFilter("twt", function (this: TemplateContext, post: PostLike) {
    try {
      return twtOf(post, this.page);
    } catch (error) {
      if (Object(error).name !== "TemplateContentPrematureUseError") throw error;
      return tooEarly(error);
    }
  });

  // A site that has received Webmentions before may have one of that name.
  if (!config.getFilter("mentions")) {
    config.addFilter("mentions", (post: PostLike) => [...tools.mentions.of(urlOf(post))]);
  }

  config.addFilter("sharedBlob", function (this: TemplateContext, key: unknown, owner?: unknown) {
    return tools.blobs.urlOf(key, given(owner), this.page?.inputPath);
  });

  config.addShortcode("twtxtReply", function (this: TemplateContext, label?: string, post?: PostLike) {
    return html.reply(given(post) ?? this.page, given(label), this.page);
  });

  config.addShortcode("twtxtMentions", function (this: TemplateContext, post?: PostLike) {
    return html.mentions(given(post) ?? this.page);
  });

  config.addShortcode("twtxtHead", html.head);

  config.addShortcode("twtxtContact", html.contact);

  config.addGlobalData("twtxt", () => ({
    url: tools.urls.feedUrl(),
    href: tools.urls.feedHrefInTemplates(),
    nick: tools.settings.nick,
    follow: tools.settings.follow,
    mentions: [...(tools.mentions.all() ?? [])],
    mentionsHref: tools.mentions.pageHref(),
    authors: tools.inboxes.filter(({ endpoint }) => endpoint !== null),
    html,
  }));
}

/** The HTML of the shortcodes as functions, for languages without shortcodes (EJS) and for components in JSX. */
function htmlTools(tools: TemplateTools, twtOf: (post: PostLike, asker: PostLike) => PostTwt | null) {
  return {
    head: () => tools.headLinks(),
    mentions: (post: PostLike) => tools.mentions.listOf(urlOf(post)),
    /** @param asker - the page that is rendered */
    reply(post: PostLike, label = "Reply from a twtxt client with:", asker?: PostLike): string {
      const twt = twtOf(post, asker);
      if (!twt) return "";
      const start = `(#${twt.hash}) ${formatMention({ nick: tools.settings.nick, url: tools.urls.feedUrl() })} `;
      return `<p class="twtxt-reply">${escapeHtml(label)} <code>${escapeHtml(start.trim())}</code></p>`;
    },
    contact: () => contactHtml(tools.inboxes),
  };
}

/** An argument that the template left out: Nunjucks passes an empty string, Handlebars its own options. */
function given<Value>(argument: Value): Value | undefined {
  const isLeftOut = !argument || typeof Object(argument).lookupProperty === "function";
  return isLeftOut ? undefined : argument;
}

/**
 * Stands for a twt whose post is not rendered yet. Eleventy renders a page again that asks for a body too early, but
 * in Nunjucks it notices only what is thrown by a property, not by a filter.
 */
function tooEarly(error: unknown): PostTwt {
  const fail = (): never => {
    throw error;
  };
  const property = { get: fail, enumerable: true };
  return Object.defineProperties(
    {},
    { timestamp: property, text: property, hash: property, mentions: property },
  ) as PostTwt;
}

function urlOf(post: PostLike): string | null {
  return typeof post === "string" ? post : post?.url || null;
}

function keyOf(post: PostLike): string | undefined {
  if (typeof post === "string") return post;
  const { url = false, inputPath, pageNumber = 0 } = post ?? {};
  return inputPath === undefined ? url || undefined : permalinkOf({ url, inputPath, pageNumber });
}
