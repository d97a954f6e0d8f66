// plugin/eleventy/pages/shared-blobs.ts: URLs of public blobs for `blob:KEY` links and the filter `sharedBlob`.
import type { MarkdownIt } from "markdown-it";
import { mapInParallel } from "../../concurrency.js";
import { authorError, ifTwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { show } from "../../options/messages.js";
import { formatSharedUrl, isBlobKey, PATHS } from "../../site/routes.js";
import { addBlobRule, type LinkTargets, linkBlobs, linkBlobsInText } from "../../text/blob-links.js";
import { Findings, sentenceAbout, shorten } from "../findings.js";
import type { SiteUrls } from "../site-urls.js";

const TOTAL_MS = 6_000;
const CONCURRENCY = 8;

/** Replaces blob links in pages and posts, serves the filter `sharedBlob`, and checks the links. */
export class SharedBlobs {
  readonly #links = new Findings();
  /** Links without a valid key, such as `blob:a b`. */
  readonly #withoutKey = new Findings();
  /** URLs that an earlier build of this process has found. */
  readonly #found = new Set<string>();

  constructor(readonly urls: Pick<SiteUrls, "absolute" | "has" | "userAgent" | "settings">) {}

  /**
   * The absolute URL of a public blob, whether it exists or not. Local builds have no blobs, so they link to the live site.
   *
   * @param owner - a user or a public key of the site; without one, the first author
   * @param page - the file that uses the filter
   * @throws TwtxtError `bad-blob-key`; `bad-option` for an unknown owner, or if the option `blobs` is off
   */
  toUrl(key: unknown, owner: unknown, page: string | undefined): string {
    const { blobs } = this.urls.settings;
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
    const url = this.#url(key, this.#findOwner(owner, [...blobs.owners, ...blobs.formerKeys], where));
    this.#links.note(url, page);
    return url;
  }

  /** Adds a rule for `blob:KEY` to the Markdown library, if the option is on. */
  extendMarkdown(markdown: MarkdownIt): void {
    if (this.urls.settings.blobs !== false) addBlobRule(markdown, (file) => this.#createTargets(file));
  }

  /** Replaces blob links in a page or part of one. @param file - its source */
  linkInHtml(html: string, file: string | undefined): string {
    return linkBlobs(html, this.#createTargets(file));
  }

  /** Replaces blob links in Markdown of the front matter. @param file - its source */
  linkInText(text: string, file: string): string {
    return linkBlobsInText(text, this.#createTargets(file).toUrl);
  }

  /**
   * Checks the links since the last check: requests each blob from the site. If the site does not answer, nothing is
   * reported as missing.
   *
   * @returns warnings about broken links, and a note if the check is incomplete
   */
  async check(): Promise<{ warnings: string[]; notes: string[] }> {
    const links = this.#links.take();
    const invalid = this.#withoutKey
      .take()
      .map(
        ({ text, files: [file] }) =>
          `${file}: broken link "${text}". Write blob: and a key of A-Z a-z 0-9 . _ - as "npx eleventy-twtxt blob list" shows it.`,
      );
    if (!this.urls.has("blobs")) return { warnings: [...shorten(invalid), ...this.#withoutBlobs(links)], notes: [] };

    const { missing, fault } = await this.#findMissing(links);
    const broken = missing.map(({ text, files: [file] }) => {
      const key = text.slice(text.lastIndexOf("/") + 1);
      return `${file}: broken link blob:${key}, because your site has no public blob with this key. See "npx eleventy-twtxt blob list". If the blob is private, run: npx eleventy-twtxt blob share ${key}. If it is missing: npx eleventy-twtxt blob put FILE --public --key ${key}`;
    });
    const notes = fault === null ? [] : [`The links to blobs could not be checked: ${fault}`];
    return { warnings: [...shorten(invalid), ...shorten(broken)], notes };
  }

  #withoutBlobs(links: readonly { files: string[] }[]): string[] {
    const pages = links.flatMap(({ files }) => files).map((inputPath) => ({ inputPath }));
    const isOff = this.urls.settings.blobs === false;
    const [where, advice] = isOff ? ["site", " Set the option blobs: true, or change the link."] : ["host", ""];
    return sentenceAbout(pages, `Broken link "blob:...", because this ${where} stores no blobs: {files}.${advice}`);
  }

  async #findMissing<Link extends { text: string }>(
    links: readonly Link[],
  ): Promise<{ missing: Link[]; fault: string | null }> {
    const unknown = links.filter(({ text }) => !this.#found.has(text));
    let fault: string | null = null;
    const [first] = unknown;
    if (!first) return { missing: [], fault };
    const { createGuard } = await import("../../http/build-network.js");
    const ask = createGuard({ userAgent: this.urls.userAgent(), ownUrl: first.text });
    const signal = AbortSignal.timeout(TOTAL_MS);
    const missing = await mapInParallel(unknown, CONCURRENCY, async (link) => {
      if (fault !== null) return [];
      const answer = await exists(link.text, ask, signal).catch(ifTwtxtError(({ message }) => message));
      if (typeof answer === "string") fault ??= answer;
      else if (answer) this.#found.add(link.text);
      return answer === false ? [link] : [];
    });
    return { missing: missing.flat(), fault };
  }

  #createTargets(file: string | undefined): LinkTargets {
    return {
      toUrl: (key) => {
        const url = this.#url(key);
        this.#links.note(url, file);
        return this.urls.settings.blobs === false ? null : url;
      },
      onNoKey: (link) => this.#withoutKey.note(link, file),
    };
  }

  /** @param owner - default: the author's oldest key, so that URLs in posts, and hashes of twts, outlive a change of the key */
  #url(key: string, owner = this.#oldestKey()): string {
    return formatSharedUrl(this.urls.absolute(PATHS.shared), { owner, key });
  }

  #oldestKey(): string {
    const { authors, blobs } = this.urls.settings;
    const [oldest] = blobs === false ? [] : blobs.formerKeys;
    return oldest ?? authors[0]?.key ?? "";
  }

  #findOwner(owner: unknown, others: readonly string[], where: string): string | undefined {
    const { authors } = this.urls.settings;
    if (owner === undefined || owner === null) return undefined;
    const found = authors.find(({ user, key }) => owner === user || owner === key)?.key;
    const key = found ?? others.find((other) => owner === other);
    if (key !== undefined) return key;
    const users = authors.map(({ user }) => `"${user}"`).join(", ");
    throw authorError(
      "bad-option",
      `${where}: expected a user of this site (${users}), the public key of one, or a key from the options blobs.owners and blobs.formerKeys, got ${show(owner)}.`,
    );
  }
}

/** @returns whether the blob exists, or why the site could not answer */
async function exists(url: string, ask: Ask, signal: AbortSignal): Promise<boolean | string> {
  const response = await ask(url, { method: "HEAD", maxBytes: 0, signal });
  response.close();
  if (response.status === 404) return false;
  return response.status >= 400 ? `${url} answers ${response.status}.` : true;
}
