// plugin/author/comments/comment-import.ts: comments of other systems as twts of guests' feeds at this site. PROTOCOL 2.6
import { createHash } from "node:crypto";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { toSiteUrl } from "../../mentions/comments/comment-fields.js";
import { type Answered, answerTwt, toTwt } from "../../mentions/comments/guest-feed.js";
import { HTML_LIMIT, type ImportedMention } from "../../mentions/receive/import-mentions.js";
import { formatReference } from "../../mentions/reference.js";
import { sanitizeHtml } from "../../mentions/verify/page-content.js";
import type { PublishedSite } from "../../site/site.js";
import { cleanName, GUEST } from "../../site/visible-name.js";
import { type Move, pageFinder } from "./find-page.js";

/** Why a comment is not imported, as reports name it. */
export type LeftOut =
  | "deleted"
  | "marked as spam"
  | "not approved"
  | "by pingback or trackback"
  | "without text or date";

/** A comment as the readers of all formats give it. It has no e-mail address and no network address. */
export interface ExportedComment {
  /** The name of the system and its id of the comment, the same in each export. */
  id: string;
  /** The id of the comment that it answers; `null` for none. */
  parent: string | null;
  leftOut: LeftOut | null;
  /** URLs and paths of its page, the best first. */
  pages: readonly string[];
  /** As text, like `site`; empty for none. */
  name: string;
  site: string;
  /** Untrusted. */
  html: string;
  /** Milliseconds since 1970; `NaN` if it is unknown. */
  time: number;
}

/** Characters of a text. With what it answers, it stays below the limit of a mention. */
const LIMIT = 4500;
const YEAR_10000 = Date.UTC(10_000, 0);

/** The comments of an export. Its counts are complete when all mentions have been taken. */
export class CommentImport {
  readonly byPage = new Map<string, number>();
  /** By the URL in the export. */
  readonly withoutPage = new Map<string, number>();
  readonly leftOut = new Map<LeftOut, number>();
  /** Those with a text that is longer than a site takes. */
  cut = 0;
  readonly #comments = new Map<string, ExportedComment>();
  /** The comments in the export that have a place; for one that is left out, the one above it. */
  readonly #placed = new Map<string, (Answered & { target: string }) | null>();
  readonly #findPage: ReturnType<typeof pageFinder>;
  readonly #posts: ReadonlyMap<string | null, PublishedSite["pages"]["twts"][number]>;

  private constructor(
    private readonly site: PublishedSite,
    moves: readonly Move[],
  ) {
    this.#findPage = pageFinder(site, moves);
    this.#posts = new Map(site.pages.twts.map((twt) => [twt.page, twt]));
  }

  /** @throws TwtxtError `no-settings` for a site without comments, and errors of the export */
  static async read(site: PublishedSite, comments: AsyncIterable<ExportedComment>, moves: readonly Move[]) {
    if (!site.settings.mentions.comments) {
      const what = "To import comments, set the option mentions: { comments: true }, build and deploy.";
      throw new TwtxtError("no-settings", what);
    }
    const found = new CommentImport(site, moves);
    // Copied, because parts of a text keep the whole text in memory, which is the file.
    for await (const comment of comments) found.#comments.set(comment.id, structuredClone(comment));
    return found;
  }

  get found(): number {
    return this.#comments.size;
  }

  /** The comments in the format of `POST /import`, each after the one that it answers. */
  async *mentions(): AsyncGenerator<ImportedMention> {
    for (const comment of this.#comments.values()) {
      for (const next of this.#listUnplaced(comment)) {
        const mention = await this.#place(next);
        if (mention) yield mention;
      }
    }
  }

  /** A comment and those above it that have no place yet, from the top. Comments that answer each other are cut there. */
  #listUnplaced(comment: ExportedComment): ExportedComment[] {
    const line = new Set<ExportedComment>();
    for (let next: ExportedComment | undefined = comment; next && !this.#placed.has(next.id) && !line.has(next); ) {
      line.add(next);
      next = this.#comments.get(next.parent ?? "");
    }
    return [...line].reverse();
  }

  async #place(comment: ExportedComment): Promise<ImportedMention | null> {
    const { id, parent, time, pages } = comment;
    const above = this.#placed.get(parent ?? "") ?? null;
    this.#placed.set(id, above);
    const target = this.#findPage(pages);
    const content = comment.leftOut ? null : await sanitizeHtml(comment.html, target ?? "", LIMIT);
    comment.html = "";
    if (!content || !(time > 0 && time < YEAR_10000)) {
      count(this.leftOut, comment.leftOut ?? "without text or date");
      return null;
    }
    count(target === null ? this.withoutPage : this.byPage, target ?? pages[0] ?? "(no URL)");
    if (target === null) return null;
    if (content.text.endsWith("…") && content.text.length > 0.8 * LIMIT) this.cut += 1;
    const timestamp = formatTimestamp(time);
    const feed = this.#nameFeed(id, timestamp);
    const answered = above?.target === target ? above : this.#answerPost(target);
    const words = { ...content, name: toName(comment.name), site: toSiteUrl(comment.site) };
    const { author, text, html, hash } = await toTwt(words, { feed, timestamp, answered });
    this.#placed.set(id, { target, hash, author: { name: author.name, feed } });
    return {
      ...{ source: formatReference(feed, timestamp), target, type: "reply", author, text },
      ...(html.length <= HTML_LIMIT && { html }),
      ...{ published: timestamp, received: timestamp },
    };
  }

  /** The feed of a guest who has this comment alone, the same in each import. */
  #nameFeed(id: string, timestamp: string): string {
    const digest = createHash("sha256").update(`${id}\n${timestamp}`).digest("hex");
    return `${this.site.settings.urls.guestFeeds}/anon-${digest.slice(0, 16)}.txt`;
  }

  #answerPost(page: string): Answered | null {
    const { nick, feedUrl } = this.site.settings;
    const twt = this.#posts.get(page);
    return twt ? answerTwt(twt, { name: nick, feed: feedUrl }) : null;
  }
}

/** A name without the host of an e-mail address, which some readers have typed there. */
function toName(typed: string): string {
  return cleanName(typed.replace(/(\S)@\S+\.\S+/g, "$1")) ?? GUEST;
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
