// plugin/author/notes/compose.ts: the twt of a note that is not built yet, and who would be notified of it.
import { relative } from "node:path";
import MarkdownIt from "markdown-it";
import { ifTwtxtError } from "../../errors.js";
import { findMentions, type Mention } from "../../feed/mention.js";
import { byteLength } from "../../feed/twt.js";
import type { Ask } from "../../http/guard.js";
import { Moderation } from "../../mentions/receive/moderation.js";
import { createDiscover, type FoundEndpoint, findEndpoint, whyNotRequested } from "../../mentions/send/discover.js";
import { comparableLink } from "../../mentions/send/site-links.js";
import { formatSharedUrl, readPrefix } from "../../site/routes.js";
import { addBlobRule, type LinkTargets, linkBlobsInText } from "../../text/blob-links.js";
import { addMentionRule } from "../../text/markdown-mentions.js";
import { linkFinder, MAX_LINKS } from "../../text/post-links.js";
import * as htmlReader from "../../text/text-from-html.js";
import { textOfPost } from "../../text/text-from-post.js";
import { canParseUrl } from "../../url.js";
import type { Site } from "../site.js";
import { followedFeeds } from "../timeline/followed-feeds.js";
import { hasTemplateCode } from "./notes.js";

/** The twt that a note would have in the feed. */
export interface TwtPreview {
  /** Lines are separated by U+2028. Empty for a note without content. */
  text: string;
  bytes: number;
  /** Whether it is shortened, because it is too long for a line of a feed. */
  isCut: boolean;
  mentions: Mention[];
  /** The links to other sites, if the site sends them as mentions. */
  links: string[];
  /** Texts that look like mentions but name no feed that the site follows, such as `@bob`. */
  unknownMentions: string[];
  /** Whether a template language of the site may interpret a part of the text, such as `{{`. */
  hasTemplateCode: boolean;
}

/**
 * Computes the twt of a note with the code of the build, and with the Markdown of Eleventy without further plugins. A site
 * that extends its Markdown, or has the option `text`, may get another text.
 *
 * @param title - empty for a note
 * @param body - Markdown, with mentions
 * @param replyTo - the value for the front matter: `<hash> <nick> <feed url>`; `undefined` for no reply
 * @param file - the file of the note, absolute: links in the note are relative to its page
 */
export async function previewTwt(
  { title = "", body, replyTo }: { title?: string; body: string; replyTo: string | undefined },
  file: string,
  site: Site,
): Promise<TwtPreview> {
  const follow = (await followedFeeds(site)).map(({ nick, url }) => ({ nick, url }));
  const { settings } = site;
  const unknown = new Set<string>();
  const targets = blobTargets(site);
  const markdown = new MarkdownIt({ html: true }).disable("code");
  addMentionRule(markdown, follow, (name) => unknown.add(name));
  addBlobRule(markdown, () => targets);
  const html = markdown.render(body);
  const page = formatPage(file, site);
  const post = {
    url: new URL(page).pathname,
    inputPath: site.shown(file),
    date: new Date(0),
    data: { replyTo, ...(title !== "" && { title }) },
    templateContent: html,
  };
  const { text, isCut } = textOfPost(post, {
    settings: { text: undefined, follow, nick: settings.nick },
    feedUrl: settings.feedUrl,
    permalink: page,
    body: () => html,
    html: () => htmlReader,
    resolve: (link) => (canParseUrl(link, page) ? new URL(link, page).href : link),
    linkBlobs: (text) => linkBlobsInText(text, targets.toUrl),
    onUnknownMention: (name) => unknown.add(name),
    pictures: [],
  }) ?? { text: "", isCut: false };
  const mentions = [...new Map(findMentions(text).map((mention) => [mention.url, mention])).values()];
  const pages = new Set(mentions.map(({ url }) => comparableLink(url)));
  const links = linkFinder(settings)(html).slice(0, MAX_LINKS);
  return {
    ...{ text, isCut, bytes: byteLength(text) },
    mentions,
    links: links.filter((link) => !pages.has(comparableLink(link))),
    unknownMentions: [...unknown],
    hasTemplateCode: hasTemplateCode(body),
  };
}

/**
 * The URL of the page of a note with Eleventy's default permalink, such as
 * `https://alice.example/notes/20261120-093000/` for `notes/20261120-093000.md`.
 *
 * @param file - absolute
 */
export function formatPage(file: string, site: Site): string {
  const { input, url } = site.settings;
  const path = relative(site.file(input), file).replaceAll("\\", "/").replace(/\.md$/, "/");
  return new URL(`${readPrefix(site.settings)}/${encodeURI(path)}`, url).href;
}

/** Blobs of the first author, as in a build. */
function blobTargets({ settings }: Site): LinkTargets {
  const owner = settings.authors[0]?.key ?? "";
  const toUrl = (key: string) => (settings.blobs ? formatSharedUrl(settings.urls.shared, { owner, key }) : null);
  return { toUrl, onNoKey: () => {} };
}

/** A mentioned feed or page, or a page that the note links to, and how its endpoint was found. */
export interface Notified {
  /** `null` for a link, and for a mention without one. */
  nick: string | null;
  url: string;
  isLink: boolean;
  /** `null` if it cannot be notified. */
  endpoint: string | null;
  method: FoundEndpoint["method"] | null;
  /** Half a sentence why it cannot be notified; `null` if it can. */
  why: string | null;
}

/** Looks up the endpoints of the mentions and links, as sending does. Sends nothing. */
export function findNotified(
  { mentions, links }: Pick<TwtPreview, "mentions" | "links">,
  { site, ask, now }: { site: Pick<Site, "settings">; ask: Ask; now(): number },
): Promise<Notified[]> {
  const discover = createDiscover({ ask, now });
  const moderation = new Moderation(site.settings.mentions);
  const isBlocked = (url: string) => moderation.isBlocked(url);
  const all = [
    ...mentions.map((mention) => ({ ...mention, isLink: false })),
    ...links.map((url) => ({ nick: null, url, isLink: true })),
  ];
  return Promise.all(
    all.map(async (one) => {
      const target = { target: one.url, isLink: one.isLink };
      const none = (why: string) => ({ ...one, endpoint: null, method: null, why });
      const isGuest = one.url.startsWith(`${site.settings.urls.guestFeeds}/`);
      const refusal = isGuest ? "a guest, who reads the answer on your page" : whyNotRequested(target, isBlocked);
      if (refusal !== null) return none(refusal);
      const finding = findEndpoint(target, discover).then((found) =>
        found.endpoint === null ? none(found.why) : { ...one, ...found, why: null },
      );
      return finding.catch(ifTwtxtError(({ message }) => none(message)));
    }),
  );
}
