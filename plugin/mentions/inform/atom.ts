// plugin/mentions/inform/atom.ts: the mentions of a page, or of the whole site, as an Atom feed.
import { publicList } from "../../http/public-list.js";
import { type Handler, parseParameters } from "../../http/respond.js";
import { chooseWords } from "../../options/translations.js";
import { element, type MarkupElement, toHtml } from "../../site/html.js";
import { ROUTES } from "../../site/routes.js";
import type { HostSettings } from "../../site/site.js";
import { type ListMentions, publishedTime, type StoredMention } from "../mention.js";
import type { SiteIndex } from "../receive/site-index.js";
import { toSource } from "../reference.js";
import { plainName } from "../verify/source-text.js";
import { formatHeadline } from "./digest-text.js";
import { findTarget } from "./list-json.js";

const PARAMETERS = ["target"] as const;
const ENTRIES = 50;
/** Atom needs a date even for an empty feed. One that stays the same keeps the ETag. */
const NEVER = "1970-01-01T00:00:00Z";
/** Characters that XML 1.0 does not allow, such as U+0007 and unpaired surrogates. */
const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

interface AtomParts {
  list: ListMentions;
  siteIndex: Pick<SiteIndex, "target" | "addTitle" | "feedUrl">;
  settings: Pick<HostSettings, "url" | "feedUrl" | "nick" | "lang" | "urls" | "mentions">;
  /** The tag by which the CDN's copies are purged. */
  cacheTag: string;
}

/**
 * Lists the newest 50 shown mentions for feed readers: `GET /mentions.atom?target=`.
 *
 * @see RFC 4287
 * @see PROTOCOL 2.6
 */
export function listAsAtom({ list, siteIndex, settings, cacheTag }: AtomParts): Handler {
  const { url, nick, lang, feedUrl, urls } = settings;
  const words = chooseWords(lang, { words: settings.mentions.words, lang });
  const listed = {
    type: "application/atom+xml; charset=utf-8",
    tag: cacheTag,
    seconds: 3600,
    parameters: PARAMETERS,
  };
  return publicList(ROUTES.mentionsAtom.methods, listed, async (asked) => {
    const target = findTarget(parseParameters(asked, PARAMETERS).target, siteIndex);
    const { mentions } = await list({ state: "shown", target, limit: ENTRIES });
    const self = `${urls.mentionsAtom}${target === undefined ? "" : `?target=${encodeURIComponent(target)}`}`;
    const page = target === undefined || target === feedUrl ? (urls.mentionsPage ?? url) : target;
    const { title = nick } = siteIndex.addTitle({ target: page, under: null });
    const { host } = new URL(url);
    const entries = mentions.map((mention) => toEntry(mention, host, formatHeadline(mention, siteIndex, words)));
    const feed = element(
      "feed",
      { xmlns: "http://www.w3.org/2005/Atom", "xml:lang": lang ?? "en" },
      element("id", {}, self),
      element("title", {}, `${words.title}: ${title}`),
      element("updated", {}, mentions.map(changedTime).sort().at(-1) ?? NEVER),
      element("link", { rel: "self", href: self }),
      element("link", { rel: "alternate", type: "text/html", href: page }),
      ...entries,
    );
    return `<?xml version="1.0" encoding="utf-8"?>\n${toHtml(feed)
      .replace(/<link ([^<>]*)>/g, "<link $1/>")
      .replace(NOT_XML, "")}\n`;
  });
}

function changedTime({ changed, received }: StoredMention): string {
  return changed ?? received;
}

function toEntry(mention: StoredMention, host: string, title: string): MarkupElement {
  const { id, received, author, text, html } = mention;
  return element(
    "entry",
    {},
    // RFC 4151. A mention keeps its id when it is edited.
    element("id", {}, `tag:${host},${received.slice(0, 10)}:${id}`),
    element("title", {}, title),
    element("link", { rel: "alternate", href: mention.url ?? toSource(mention) }),
    element("author", {}, element("name", {}, plainName(mention)), element("uri", {}, author.url)),
    element("published", {}, publishedTime(mention) ?? received),
    element("updated", {}, changedTime(mention)),
    html === null ? element("content", { type: "text" }, text) : element("content", { type: "html" }, html),
  );
}
