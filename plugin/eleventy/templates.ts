// plugin/eleventy/templates.ts: filters, shortcodes and global data for templates.
import { formatMention } from "../feed/mention.js";
import { element, toHtml } from "../site/html.js";
import type { EleventyConfig, TemplateContext } from "./eleventy.js";
import type { RenderedPage } from "./pages/page-languages.js";
import { requirePermalink } from "./posts/post-date.js";
import { syndicationHtml } from "./posts/syndication.js";
import type { PostTwt } from "./posts/twts-from-posts.js";
import type { SiteBuild } from "./site-build.js";
import type { SiteParts } from "./site-parts.js";

/** A post by its collection item, its `page`, or its URL. */
type PostLike = string | { url?: string | false; inputPath?: string; pageNumber?: number } | undefined;

/** The twt of a post. @param asker - the page that is being rendered */
type TwtOf = (post: PostLike, asker: PostLike) => PostTwt | null;

export function addTemplateTools(config: EleventyConfig, build: SiteBuild): void {
  const findTwt: TwtOf = (post, asker) => {
    const permalink = readKey(post);
    return permalink === undefined ? null : build.findTwt(permalink, readKey(asker));
  };
  const { site } = build;
  const html = htmlTools(site, findTwt);
  addFilters(config, site, findTwt);
  config.addShortcode("twtxtHead", function (this: TemplateContext) {
    return html.head(this.page);
  });
  config.addShortcode("twtxtContact", function (this: TemplateContext) {
    return html.contact(this.page);
  });
  config.addShortcode("twtxtReply", function (this: TemplateContext, label?: string, post?: PostLike) {
    return html.reply(given(post) ?? this.page, given(label), this.page);
  });
  const { mentions, context, syndication } = html;
  for (const [name, write] of Object.entries({ Mentions: mentions, Context: context, Syndication: syndication })) {
    config.addShortcode(`twtxt${name}`, function (this: TemplateContext, post?: PostLike) {
      return write(given(post) ?? this.page, this.page);
    });
  }
  config.addGlobalData("twtxt", () => ({
    url: site.urls.feedUrl(),
    href: site.urls.hrefInTemplates(site.settings.path),
    nick: site.settings.nick,
    follow: site.settings.follow,
    mentions: [...(site.mentions.all() ?? [])],
    mentionsHref: site.mentions.pageHref(),
    timeline: [...site.timeline.twts()],
    timelineHref: site.timeline.pageHref(),
    authors: site.urls
      .inboxes()
      .flatMap(({ address, key, endpoint }) => (endpoint ? [{ address, key, endpoint }] : [])),
    html,
  }));
}

function addFilters(config: EleventyConfig, site: SiteParts, findTwt: TwtOf): void {
  config.addFilter("twt", function (this: TemplateContext, post: PostLike) {
    try {
      return findTwt(post, this.page);
    } catch (error) {
      if (Object(error).name !== "TemplateContentPrematureUseError") throw error;
      return tooEarly(error);
    }
  });
  config.addFilter("sharedBlob", function (this: TemplateContext, key: unknown, owner?: unknown) {
    return site.blobs.toUrl(key, given(owner), this.page?.inputPath);
  });
  // Sites that use another plugin for Webmentions may have a filter of this name.
  if (!config.getFilter("mentions")) {
    config.addFilter("mentions", (post: PostLike) => [...site.mentions.of(readUrl(post))]);
  }
  config.addFilter("conversation", (post: PostLike) => site.mentions.findConversation(readUrl(post)));
}

/** The HTML of the shortcodes as functions, for languages without shortcodes (EJS) and for components in JSX. */
function htmlTools(site: SiteParts, findTwt: TwtOf) {
  return {
    head(asker?: PostLike): string {
      const [lang] = site.languages.guess(asker ? readPage(asker) : undefined);
      return site.head.html(lang);
    },
    context: (post: PostLike, asker: PostLike = post) => site.mentions.renderContext(readUrl(post), readPage(asker)),
    mentions: (post: PostLike, asker: PostLike = post) => site.mentions.renderList(readUrl(post), readPage(asker)),
    /** @param asker - the page that is rendered */
    reply(post: PostLike, label?: string, asker?: PostLike): string {
      const twt = findTwt(post, asker);
      if (!twt) return "";
      const start = `(#${twt.hash}) ${formatMention({ nick: site.settings.nick, url: site.urls.feedUrl() })}`;
      return site.languages.write(readPage(asker ?? post), (lang) => {
        const words = label ?? site.mentions.chooseWords(lang).replyWith;
        const language = label === undefined ? site.mentions.toLangAttribute(lang) : {};
        return toHtml(element("p", { class: "twtxt-reply", ...language }, `${words} `, element("code", {}, start)));
      });
    },
    syndication: (post: PostLike, asker: PostLike = post) => {
      const copies = site.copies.get(readUrl(post) ?? "") ?? [];
      const write = (lang: string) =>
        syndicationHtml(copies, site.mentions.chooseWords(lang).alsoOn, site.mentions.toLangAttribute(lang));
      return copies.length > 0 ? site.languages.write(readPage(asker), write) : "";
    },
    contact: (asker?: PostLike) => site.languages.write(readPage(asker), (lang) => site.contact.html(lang)),
  };
}

/** Returns `undefined` for an omitted argument: Nunjucks passes an empty string, Handlebars its own options. */
function given<Value>(argument: Value): Value | undefined {
  const isOmitted = !argument || typeof Object(argument).lookupProperty === "function";
  return isOmitted ? undefined : argument;
}

/**
 * Creates a twt whose properties throw this error, because its post is not rendered yet. Eleventy renders a page later if
 * the body of a post was not available, but in Nunjucks it notices only errors of properties, not of filters.
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

function readUrl(post: PostLike): string | null {
  return typeof post === "string" ? post : post?.url || null;
}

function readPage(post: PostLike): RenderedPage | undefined {
  return typeof post === "string" ? { url: post } : post;
}

function readKey(post: PostLike): string | undefined {
  if (typeof post === "string") return post;
  const { url = false, inputPath, pageNumber = 0 } = post ?? {};
  return inputPath === undefined ? url || undefined : requirePermalink({ url, inputPath, pageNumber });
}
