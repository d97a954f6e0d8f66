// plugin/eleventy/shared-blobs.ts: URLs of public blobs for `blob:KEY` links and the filter `sharedBlob`.
import { authorError } from "../errors.js";
import { show } from "../options/fault.js";
import type { Settings } from "../options.js";
import { BLOB_KEY, isBlobKey, sharedUrlOf } from "../site/blob-url.js";
import { escapeHtml } from "../site/html.js";
import { PATHS } from "../site/routes.js";
import { BlobLinks } from "./blob-links.js";
import type { MarkdownIt } from "./markdown-mentions.js";
import type { SiteUrls } from "./site-urls.js";

/** Resolves the blob links of a page. */
interface LinkTargets {
  /** The URL of the blob with this key; `null` to leave the link as it is. */
  urlOf(key: string): string | null;
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
const ATTRIBUTES = /(?<![^\s"'<>/=])([^\s"'<>/=]+)(\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;

/** Replaces blob links in pages and posts, and serves the filter `sharedBlob`. */
export class SharedBlobs {
  readonly #settings: Pick<Settings, "authors" | "blobs">;
  readonly #urls: Pick<SiteUrls, "absolute">;
  /** Files with blob links that are not replaced, because the option is off. */
  readonly #disabledFiles = new Set<string>();
  readonly links = new BlobLinks();

  constructor(settings: Pick<Settings, "authors" | "blobs">, urls: Pick<SiteUrls, "absolute">) {
    this.#settings = settings;
    this.#urls = urls;
  }

  /**
   * The absolute URL of a public blob, whether it exists or not. Local builds have no blobs, so they link to the live site.
   *
   * @param owner - a user or a public key of the site; without one, the first author
   * @param page - the file that uses the filter
   * @throws TwtxtError `bad-blob-key`; `bad-option` for an unknown owner, or if the option `blobs` is off
   */
  urlOf(key: unknown, owner: unknown, page: string | undefined): string {
    const { blobs } = this.#settings;
    const where = `${page === undefined ? "" : `${page}: `}the filter "sharedBlob"`;
    if (blobs === false) {
      throw authorError(
        "bad-option",
        `${where} got ${show(key)}, but this site stores no blobs. Set the option blobs: true.`,
      );
    }
    if (typeof key !== "string" || !isBlobKey(key)) {
      const expected = 'expected the key of a blob, 1 to 128 of A-Z a-z 0-9 . _ -, such as "quinces.jpg"';
      throw authorError("bad-blob-key", `${where}: ${expected}, got ${show(key)}.`);
    }
    const url = this.#url(key, this.#ownerOf(owner, blobs.owners, where));
    this.links.note(key, url, page);
    return url;
  }

  /** Adds a rule for `blob:KEY` to the Markdown library, if the option is on. */
  extendMarkdown(markdown: MarkdownIt): void {
    if (this.#settings.blobs !== false) addBlobRule(markdown, (file) => this.#targetsIn(file));
  }

  /** Replaces blob links in a page or part of one. @param file - its source */
  linkInHtml(html: string, file: string | undefined): string {
    return linkBlobs(html, this.#targetsIn(file));
  }

  /** Replaces blob links in Markdown of the front matter. @param file - its source */
  linkInText(text: string, file: string): string {
    return text.replace(CODE_OR_LINK_IN_TEXT, (found, _code, key: string | undefined) => {
      return key === undefined ? found : (this.#urlIn(file, key) ?? found);
    });
  }

  /** Returns and clears the files with blob links that were not replaced, because the option is off. */
  takeDisabledFiles(): string[] {
    const files = [...this.#disabledFiles];
    this.#disabledFiles.clear();
    return files;
  }

  #targetsIn(file: string | undefined): LinkTargets {
    return {
      urlOf: (key) => this.#urlIn(file, key),
      onNoKey: (link) => this.links.noteWithoutKey(link, file),
    };
  }

  #urlIn(file: string | undefined, key: string): string | null {
    if (this.#settings.blobs !== false) {
      const url = this.#url(key);
      this.links.note(key, url, file);
      return url;
    }
    if (file !== undefined) this.#disabledFiles.add(file);
    return null;
  }

  #url(key: string, owner = this.#settings.authors[0]?.key ?? ""): string {
    return sharedUrlOf(this.#urls.absolute(PATHS.shared), { owner, key });
  }

  #ownerOf(owner: unknown, others: readonly string[], where: string): string | undefined {
    const { authors } = this.#settings;
    if (owner === undefined || owner === null) return authors[0]?.key;
    const found = authors.find(({ user, key }) => owner === user || owner === key)?.key;
    const key = found ?? others.find((other) => owner === other);
    if (key !== undefined) return key;
    const users = authors.map(({ user }) => `"${user}"`).join(", ");
    throw authorError(
      "bad-option",
      `${where}: expected a user of this site (${users}), or their public key or one from the option blobs.owners, got ${show(owner)}.`,
    );
  }
}

/** Replaces blob links in links, images, reference definitions and inline HTML, but not in code. */
function addBlobRule(markdown: MarkdownIt, targetsIn: (file: string | undefined) => LinkTargets): void {
  markdown.core.ruler.push("twtxt_blob", ({ tokens, env }) => {
    const targets = targetsIn(env?.page?.inputPath);
    for (const token of tokens.flatMap((block) => [block, ...(block.children ?? [])])) {
      if (token.type.startsWith("html_")) token.content = linkBlobs(token.content, targets);
      for (const name of ["href", "src"]) {
        const value = token.attrGet(name);
        if (value !== null) token.attrSet(name, linkedValue(name, value, targets));
      }
    }
  });
}

function linkBlobs(html: string, targets: LinkTargets): string {
  if (!html.includes("blob:")) return html;
  return html.replace(TAGS, (found, _raw, tag: string | undefined) => (tag ? linkTag(tag, targets) : found));
}

function linkTag(tag: string, { urlOf, onNoKey }: LinkTargets): string {
  const escaped = {
    onNoKey,
    urlOf: (key: string) => {
      const url = urlOf(key);
      return url && escapeHtml(url);
    },
  };
  return tag.replace(ATTRIBUTES, (found, name: string, equals: string, double?: string, single?: string, bare = "") => {
    const value = double ?? single ?? bare;
    const linked = linkedValue(name.toLowerCase(), value, escaped);
    return linked === value ? found : `${name}${equals}"${linked.replaceAll('"', "&quot;")}"`;
  });
}

function linkedValue(name: string, value: string, { urlOf, onNoKey }: LinkTargets): string {
  const link = (found: string, key: string) => urlOf(key) ?? found;
  if (name === "srcset") return value.replace(LINK_IN_LIST, link);
  if (!["href", "poster", "src"].includes(name)) return value;
  if (/^\s*blob:/.test(value) && !WHOLE_LINK.test(value) && !OF_BROWSER.test(value)) onNoKey(value.trim());
  return value.replace(WHOLE_LINK, link);
}
