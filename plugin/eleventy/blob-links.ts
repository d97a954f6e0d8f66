// plugin/eleventy/blob-links.ts: check of the links to blobs.
import { TwtxtError } from "../errors.js";
import type { Ask } from "../http/guard.js";
import { loopbackHostOf } from "../http/loopback.js";

/** Timeout of the check. */
const TOTAL_MS = 6_000;
const CONCURRENCY = 8;

/** A link to a blob. */
export interface BlobLink {
  key: string;
  url: string;
  /** The input paths of the pages with this link. */
  files: ReadonlySet<string>;
}

/** The result of a check. */
export interface CheckedLinks {
  missing: BlobLink[];
  /** Why the check is incomplete; `null` if it is complete. */
  fault: string | null;
}

/** Collects the links to blobs during a build, and checks them. */
export class BlobLinks {
  readonly #links = new Map<string, BlobLink & { files: Set<string> }>();
  readonly #withoutKey = new Map<string, Set<string>>();
  /** URLs that an earlier build of this process has found. */
  readonly #found = new Set<string>();

  note(key: string, url: string, file: string | undefined): void {
    if (file === undefined) return;
    const link = this.#links.get(url);
    if (link) link.files.add(file);
    else this.#links.set(url, { key, url, files: new Set([file]) });
  }

  /** @param link - a link without a valid key, such as `blob:a b` */
  noteWithoutKey(link: string, file: string | undefined): void {
    if (file === undefined) return;
    const files = this.#withoutKey.get(link);
    if (files) files.add(file);
    else this.#withoutKey.set(link, new Set([file]));
  }

  /** Returns and clears the collected links. */
  take(): { links: BlobLink[]; withoutKey: { link: string; files: ReadonlySet<string> }[] } {
    const links = [...this.#links.values()];
    const withoutKey = [...this.#withoutKey].map(([link, files]) => ({ link, files }));
    this.#links.clear();
    this.#withoutKey.clear();
    return { links, withoutKey };
  }

  /**
   * Requests each blob from the site. If the site does not answer, nothing is reported as missing.
   *
   * @param links - links to blobs of this site
   */
  async check(links: readonly BlobLink[], userAgent: string): Promise<CheckedLinks> {
    const unknown = links.filter(({ url }) => !this.#found.has(url));
    const [first] = unknown;
    if (!first) return { missing: [], fault: null };
    const { createGuard } = await import("../http/guard.js");
    const ask = createGuard({ userAgent, allowPrivateHosts: loopbackHostOf(first.url) });
    const result: CheckedLinks = { missing: [], fault: null };
    const signal = AbortSignal.timeout(TOTAL_MS);
    const queue = unknown.values();
    const work = async () => {
      for (const link of queue) {
        if (result.fault !== null) return;
        const fault = await this.#checkLink(link, ask, signal, result.missing);
        result.fault ??= fault;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    return result;
  }

  /** @returns why the site could not answer; `null` if it answered */
  async #checkLink(link: BlobLink, ask: Ask, signal: AbortSignal, missing: BlobLink[]): Promise<string | null> {
    try {
      const response = await ask(link.url, { method: "HEAD", maxBytes: 0, signal });
      response.close();
      if (response.status === 404) missing.push(link);
      else if (response.status >= 400) return `${link.url} answers ${response.status}.`;
      else this.#found.add(link.url);
      return null;
    } catch (error) {
      if (error instanceof TwtxtError) return error.message;
      throw error;
    }
  }
}
