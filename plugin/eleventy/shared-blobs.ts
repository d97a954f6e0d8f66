// plugin/eleventy/shared-blobs.ts: `blob:KEY` in posts and pages, and the filter `sharedBlob`, as the URL where a blob is shared.
import { authorError } from "../errors.js";
import { show } from "../options/fault.js";
import type { Settings } from "../options.js";
import { BLOB_KEY, isBlobKey, sharedUrlOf } from "../site/blob-url.js";
import { escapeHtml } from "../site/html.js";
import { PATHS } from "../site/routes.js";
import { BlobLinks } from "./blob-links.js";
import type { MarkdownIt } from "./markdown-mentions.js";
import type { SiteUrls } from "./site-urls.js";

/** Where the blobs of a page's links are. */
interface LinkTargets {
  /** The URL of the blob with this key; `null` to leave the link as it is. */
  urlOf(key: string): string | null;
  /** Told of a link such as `blob:a b`, which has no key. */
  onNoKey(link: string): void;
}

/** The links of browsers to data in memory. */
const OF_BROWSER = /^\s*blob:(?:https?:|null\/)/;
const WHOLE_LINK = new RegExp(`^\\s*blob:(${BLOB_KEY.source})\\s*$`);
const LINK_IN_LIST = new RegExp(`(?<![^\\s,])blob:(${BLOB_KEY.source})(?![^\\s,])`, "g");
const CODE_OR_LINK_IN_TEXT = new RegExp(
  `(\`+)(?:(?!\`)[^])*?\\1(?!\`)|(?<=\\]\\()blob:(${BLOB_KEY.source})(?=\\)|\\s+["'(])`,
  "g",
);

/** What is no markup, to the end of the page where nothing ends it (SVG has such tags without), and the tags that lead somewhere. */
const TAGS =
  /<!--.*?(?:-->|$)|<(?<raw>script|style|textarea|title)\b(?![^<>]*\/>).*?(?:<\/\k<raw>\s*>|$)|(?<tag><(?:a|audio|img|link|source|video)\s(?:"[^"]*"|'[^']*'|[^"'<>])*>)/gis;
const ATTRIBUTES = /(?<![^\s"'<>/=])([^\s"'<>/=]+)(\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;

/** The blobs of a site, for its pages, its posts and its templates. */
export class SharedBlobs {
  readonly #settings: Pick<Settings, "authors" | "blobs">;
  readonly #urls: Pick<SiteUrls, "absolute">;
  /** The files whose links stay as they are, since the option is off. */
  readonly #left = new Set<string>();
  readonly links = new BlobLinks();

  constructor(settings: Pick<Settings, "authors" | "blobs">, urls: Pick<SiteUrls, "absolute">) {
    this.#settings = settings;
    this.#urls = urls;
  }

  /**
   * Where a blob is for everybody, whether it is there or not. Absolute, since a build on one's own machine has none.
   *
   * @param owner - a user or a public key of the site; without one, the first author
   * @param page - the file that asks
   * @throws TwtxtError `bad-blob-key`, or `bad-option` where no such owner keeps blobs here
   */
  urlOf(key: unknown, owner: unknown, page: string | undefined): string {
    const { blobs } = this.#settings;
    const where = `${page === undefined ? "" : `${page}: `}the filter "sharedBlob"`;
    if (blobs === false) {
      throw authorError(
        "bad-option",
        `${where} got ${show(key)}, but this site keeps no blobs. Give the plugin the option blobs: true.`,
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

  /** Teaches `blob:KEY` to a Markdown library. Where the option is off, the pages show who has counted on it. */
  teach(markdown: MarkdownIt): void {
    if (this.#settings.blobs !== false) addBlobRule(markdown, (file) => this.#targetsIn(file));
  }

  /** A page or a part of one. @param file - which it was made from */
  linkInHtml(html: string, file: string | undefined): string {
    return linkBlobs(html, this.#targetsIn(file));
  }

  /** Markdown that nobody renders, as the front matter has it. @param file - which it stands in */
  linkInText(text: string, file: string): string {
    return text.replace(CODE_OR_LINK_IN_TEXT, (found, _code, key: string | undefined) => {
      return key === undefined ? found : (this.#urlIn(file, key) ?? found);
    });
  }

  /** The files that count on the option, which is off, and a clean slate for the next build. */
  takeDisabledFiles(): string[] {
    const files = [...this.#left];
    this.#left.clear();
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
    if (file !== undefined) this.#left.add(file);
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
      `${where}: expected a user of this site (${users}), or a public key of theirs or of the option blobs.owners, got ${show(owner)}.`,
    );
  }
}

/** In links, images and reference definitions, and in HTML that passes through; code has no such tokens. */
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
