// plugin/text/blob-links.ts: replaces `blob:KEY` links in Markdown and HTML by URLs.
import type { MarkdownIt } from "markdown-it";
import { escapeHtml } from "../site/html.js";
import { BLOB_KEY } from "../site/routes.js";
import { readFile } from "./markdown-mentions.js";

export interface LinkTargets {
  /** The URL of the blob with this key; `null` to leave the link as it is. */
  toUrl(key: string): string | null;
  /** Called with a link without a valid key, such as `blob:a b`. */
  onNoKey(link: string): void;
}

/** `blob:` URLs that browsers create for data in memory. */
const OF_BROWSER = /^\s*blob:(?:https?:|null\/)/;
const WHOLE_LINK = new RegExp(`^\\s*blob:(${BLOB_KEY.source})\\s*$`);
const LINK_IN_LIST = new RegExp(`(?<![^\\s,])blob:(${BLOB_KEY.source})(?![^\\s,])`, "g");
const CODE_OR_LINK_IN_TEXT = new RegExp(
  `(\`+)(?:(?!\`)[^])*?\\1(?!\`)|(?<=\\]\\()blob:(${BLOB_KEY.source})(?=\\)|\\s+["'(])`,
  "g",
);

/** Matches comments and raw text as a whole, up to the end of the page if they are not closed, and tags with links. */
const TAGS =
  /<!--.*?(?:-->|$)|<(?<raw>script|style|textarea|title)\b(?![^<>]*\/>).*?(?:<\/\k<raw>\s*>|$)|(?<tag><(?:a|audio|img|link|source|video)\s(?:"[^"]*"|'[^']*'|[^"'<>])*>)/gis;
/** The attributes of a tag: name, equals sign, and the value in double, single or no quotes. */
export const ATTRIBUTES = /(?<![^\s"'<>/=])([^\s"'<>/=]+)(\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;

/** Replaces blob links in links, images, reference definitions and inline HTML, but not in code. */
export function addBlobRule(markdown: MarkdownIt, targetsIn: (file: string | undefined) => LinkTargets): void {
  markdown.core.ruler.push("twtxt_blob", ({ tokens, env }) => {
    const targets = targetsIn(readFile(env));
    for (const token of tokens.flatMap((block) => [block, ...(block.children ?? [])])) {
      if (token.type.startsWith("html_")) token.content = linkBlobs(token.content, targets);
      for (const name of ["href", "src"]) {
        const value = token.attrGet(name);
        if (value !== null) token.attrSet(name, linkedValue(name, value, targets));
      }
    }
  });
}

export function linkBlobs(html: string, targets: LinkTargets): string {
  if (!html.includes("blob:")) return html;
  return html.replace(TAGS, (found, _raw, tag: string | undefined) => (tag ? linkTag(tag, targets) : found));
}

export function linkBlobsInText(text: string, toUrl: LinkTargets["toUrl"]): string {
  return text.replace(CODE_OR_LINK_IN_TEXT, (found, _code, key: string | undefined) => {
    return key === undefined ? found : (toUrl(key) ?? found);
  });
}

function linkTag(tag: string, { toUrl, onNoKey }: LinkTargets): string {
  const escaped = {
    onNoKey,
    toUrl: (key: string) => {
      const url = toUrl(key);
      return url && escapeHtml(url);
    },
  };
  return tag.replace(ATTRIBUTES, (found, name: string, equals: string, double?: string, single?: string, bare = "") => {
    const value = double ?? single ?? bare;
    const linked = linkedValue(name.toLowerCase(), value, escaped);
    return linked === value ? found : `${name}${equals}"${linked.replaceAll('"', "&quot;")}"`;
  });
}

function linkedValue(name: string, value: string, { toUrl, onNoKey }: LinkTargets): string {
  const link = (found: string, key: string) => toUrl(key) ?? found;
  if (name === "srcset") return value.replace(LINK_IN_LIST, link);
  if (!["href", "poster", "src"].includes(name)) return value;
  if (/^\s*blob:/.test(value) && !WHOLE_LINK.test(value) && !OF_BROWSER.test(value)) onNoKey(value.trim());
  return value.replace(WHOLE_LINK, link);
}
