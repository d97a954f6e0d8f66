// plugin/mentions/comments/comments.ts: the comments of readers without a site, stored as replies. PROTOCOL 2.6
import { createHash } from "node:crypto";
import type { Clock } from "../../clock.js";
import { serialize } from "../../concurrency.js";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { listNetworks, SHARES } from "../../http/client-networks.js";
import type { DailyShares } from "../../http/daily-shares.js";
import { spendNonce } from "../../http/nonces.js";
import { type CommentsOptions, isTooOld } from "../../options/comments.js";
import type { SitePages } from "../../site/site.js";
import type { Store } from "../../store/store.js";
import { canParseUrl } from "../../url.js";
import { readWords, type StoredMention } from "../mention.js";
import type { MentionView } from "../receive/mention-view.js";
import type { Moderation } from "../receive/moderation.js";
import type { ReceivedMentions } from "../receive/received.js";
import type { SiteIndex } from "../receive/site-index.js";
import { urlsInText } from "../verify/source-text.js";
import type { CommentContents, CommentFields } from "./comment-fields.js";
import { type Answered, answerTwt, toTwt } from "./guest-feed.js";

/** More links make even a trusted reader's comment wait. */
const MAX_LINKS = 2;
/** A guest of whom the author has rejected so many comments, and approved none, is refused. */
const REJECTIONS = 3;
const LINK = /https?:\/\/|www\./gi;
/** A word, host or `host:port`. */
const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}.:-]*[\p{L}\p{N}])?/gu;

/** The sender of a comment. */
export interface Commenter {
  /** The key, or the name of an anonymous guest. */
  guest: string;
  isSigned: boolean;
  /** The client's network address. */
  address: string;
  /** Called once before a comment is stored. @throws TwtxtError `not-signed` for a replayed request */
  spend(): Promise<void>;
}

interface CommentsParts {
  options: CommentsOptions;
  /** The nick of the site. */
  nick: string;
  /** The URL below which the feeds of guests are. */
  guestFeeds: string;
  pages: Pick<SitePages, "twts" | "closed">;
  siteIndex: SiteIndex;
  moderation: Moderation;
  received: ReceivedMentions;
  shares: DailyShares;
  store: Store;
  now: Clock;
}

interface CommentPlace {
  target: string;
  answered: Answered;
  view: MentionView;
  /** The comment that is replaced. */
  known?: StoredMention;
}

/** The comments of a site. Changes are durable when their methods return. */
export class Comments {
  readonly #parts: CommentsParts;
  /** One after the other, so that each counts those before it. */
  readonly #inTurn = serialize();

  constructor(parts: CommentsParts) {
    this.#parts = parts;
  }

  /**
   * Stores a comment, held unless its reader is trusted.
   *
   * @throws TwtxtError `not-found` for a page that is no post, `comments-closed`, `blocked`, `bad-request` for an unknown
   *   reply-to, `same-comment`, `too-many-comments`, `too-many-pending`
   */
  async add(fields: CommentFields, contents: CommentContents, by: Commenter): Promise<StoredMention> {
    const feed = this.#feed(by.guest);
    const target = this.#findOpenPost(fields.target);
    return this.#inTurn(async () => {
      const { received, moderation } = this.#parts;
      await moderation.blockList?.refresh();
      const view = await received.journal.read();
      const own = view.findComments(feed);
      if (this.#isRefused(own, feed)) throw new TwtxtError("blocked", "This site takes no comments from you.");
      const answered = this.#findAnswered(fields["reply-to"], target, view);
      const isSame = (known: StoredMention) => known.target === target && readWords(known) === contents.text;
      if (own.some(isSame)) throw new TwtxtError("same-comment", "This comment is already here.");
      return this.#store(contents, by, { target, answered, view });
    });
  }

  /**
   * Replaces the words of a comment. A shown one is held again unless its reader is trusted.
   *
   * @returns `null` for an unknown id
   * @throws TwtxtError `not-allowed` for another guest's, `too-many-comments`
   */
  async edit(id: string, contents: CommentContents, by: Commenter): Promise<StoredMention | null> {
    return this.#inTurn(async () => {
      const view = await this.#parts.received.journal.read();
      const known = this.#findOwn(id, view, by);
      if (!known) return null;
      const { target } = known;
      const answered = this.#answerAgain(known, view);
      return this.#store(contents, by, { target, answered, view, known });
    });
  }

  /** What a comment with these fields would answer. @throws TwtxtError as {@link add} */
  async readAnswered(fields: Pick<CommentFields, "target" | "reply-to">): Promise<Answered> {
    const target = this.#findOpenPost(fields.target);
    return this.#findAnswered(fields["reply-to"], target, await this.#parts.received.journal.read());
  }

  /** Removes a comment. @returns whether there was one. @throws TwtxtError `not-allowed` for another guest's */
  async remove(id: string, by: Commenter): Promise<boolean> {
    const { received } = this.#parts;
    const known = this.#findOwn(id, await received.journal.read(), by);
    if (!known) return false;
    await by.spend();
    await received.remove(id);
    return true;
  }

  /** The comments of a guest, oldest first, with the number of shown answers to each. */
  async list(guest: string): Promise<{ comment: StoredMention; answers: number }[]> {
    const view = await this.#parts.received.journal.read();
    const own = view.findComments(this.#feed(guest));
    return own.map((comment) => ({ comment, answers: view.countAnswers(comment) }));
  }

  /** The URL of a guest's feed. */
  #feed(guest: string): string {
    return `${this.#parts.guestFeeds}/${guest}.txt`;
  }

  /** @returns the URL of the post as the site writes it. @throws TwtxtError `not-found`, `comments-closed` */
  #findOpenPost(url: string): string {
    const { siteIndex, pages, options, now } = this.#parts;
    const target = siteIndex.target(url)?.url ?? "";
    const twt = pages.twts.find(({ page }) => page === target);
    if (!twt) throw new TwtxtError("not-found", "The target is not a post of this site.");
    const isClosed = pages.closed?.includes(target) || isTooOld(Date.parse(twt.timestamp), now(), options);
    if (isClosed) throw new TwtxtError("comments-closed", "This post takes no more comments.");
    return target;
  }

  #answerPost(target: string): Answered {
    const { pages, nick, siteIndex } = this.#parts;
    const twt = pages.twts.find(({ page }) => page === target) ?? { hashes: [], timestamp: "" };
    return answerTwt(twt, { name: nick, feed: siteIndex.feedUrl });
  }

  /** @param replyTo - as sent; empty for the post. @throws TwtxtError `bad-request` for an unknown one */
  #findAnswered(replyTo: string, target: string, view: MentionView): Answered {
    const typed = replyTo.trim();
    const name = canParseUrl(typed) ? typed : typed.toLowerCase();
    const answered = name === "" ? this.#answerPost(target) : this.#answerReply(name, target, view);
    if (answered) return answered;
    throw new TwtxtError("bad-request", '"reply-to" must be the hash or URL of a reply that is shown under this post.');
  }

  /** @param name - a hash or URL. @returns `null` for a reply that is not shown */
  #answerReply(name: string, target: string, view: MentionView): Answered | null {
    const { nick, siteIndex } = this.#parts;
    const found = view.findAnswerable(name, target);
    if (found === "own") return { hash: name, author: { name: nick, feed: siteIndex.feedUrl } };
    if (!found) return null;
    const author = { name: found.author.name, feed: found.identity };
    if (found.hash !== null) return { hash: found.hash, author };
    // A page is no feed that a twt can mention.
    return { ...this.#answerPost(target), page: name, author: { ...author, feed: "" } };
  }

  /** What an edited comment answers, also if that is no longer shown. */
  #answerAgain({ subject, target }: StoredMention, view: MentionView): Answered {
    const post = this.#answerPost(target);
    const name = subject ?? post.hash;
    return (
      this.#answerReply(name, target, view) ?? { ...post, ...(canParseUrl(name) ? { page: name } : { hash: name }) }
    );
  }

  #isRefused(own: readonly StoredMention[], feed: string): boolean {
    const count = (wanted: StoredMention["state"]) => own.filter(({ state }) => state === wanted).length;
    return this.#parts.moderation.isBlocked(feed) || (count("rejected") >= REJECTIONS && count("shown") === 0);
  }

  #isTrusted(own: readonly StoredMention[], contents: CommentContents, { guest, isSigned }: Commenter): boolean {
    const { options, moderation } = this.#parts;
    if (moderation.isAllowed(this.#feed(guest))) return true;
    const approved = own.filter(({ state }) => state === "shown").length;
    const links = contents.text.match(LINK)?.length ?? 0;
    const isHarmless = links <= MAX_LINKS && !namesBlocked(contents, moderation);
    if (moderation.moderate) return false;
    return isSigned && options.trust > 0 && approved >= options.trust && isHarmless;
  }

  /** Reserves a time that no other process gives to a comment of this guest: it identifies a twt in its feed. */
  async #reserveTime({ guest, isSigned }: Commenter, own: readonly StoredMention[]): Promise<string> {
    const { now, store } = this.#parts;
    let time = Math.max(now(), ...own.map(({ timestamp }) => Date.parse(timestamp ?? "") + 1000));
    const reserve = () => spendNonce(store, { keyid: guest, nonce: formatTimestamp(time), expires: time / 1000 });
    // An unsigned comment is the only one of its guest.
    if (isSigned) while (!(await reserve())) time += 1000;
    return formatTimestamp(time);
  }

  /**
   * Counts a comment for the day, and spends the request.
   *
   * @param isLimited - whether it also counts in what all readers share
   * @param name - what makes it a comment of its own
   * @returns a function that records it. Call it when the comment is stored, so that a failure can be repeated
   * @throws TwtxtError `same-comment`, `too-many-comments`
   */
  async #count({ address, spend }: Commenter, isLimited: boolean, name: readonly string[]) {
    const { shares } = this.#parts;
    const networks = [...listNetworks(address), ...(isLimited ? [{ network: "all", shares: SHARES }] : [])];
    const id = createHash("sha256").update(name.join("\n")).digest("hex");
    const folders = await shares.findFolders("comments", networks);
    const used = await Promise.all(folders.map((folder) => shares.survey(folder, id)));
    if (used.some(({ isCounted }) => isCounted)) throw new TwtxtError("same-comment", "This comment is already here.");
    if (!used.every((share) => shares.isWithin({ count: share.count + 1, bytes: 0 }, share))) {
      throw new TwtxtError("too-many-comments", "Too many comments came in today. Try again tomorrow.");
    }
    await spend();
    return () => Promise.all(folders.map((folder) => shares.record(folder, { id, size: 0 })));
  }

  /** Counts a comment for the day, and stores it. @throws TwtxtError `same-comment`, `too-many-comments` */
  async #store(
    contents: CommentContents,
    by: Commenter,
    { target, answered, view, known }: CommentPlace,
  ): Promise<StoredMention> {
    const { options, now } = this.#parts;
    const feed = this.#feed(by.guest);
    const own = view.findComments(feed);
    const isTrusted = this.#isTrusted(own, contents, by);
    if (!known && !isTrusted && view.heldComments >= options.held) {
      throw new TwtxtError("too-many-pending", "Too many comments wait for approval. Try again later.");
    }
    // An unsigned comment with the same words is the same one.
    const name = by.isSigned ? [known?.id ?? feed, String(now())] : [];
    const record = await this.#count(by, !isTrusted, [...name, target, contents.name, contents.text]);
    const timestamp = known?.timestamp ?? (await this.#reserveTime(by, own));
    const { stored } = await this.#parts.received.keep({
      ...(await toTwt(contents, { feed, timestamp, answered })),
      ...{ identity: feed, given: feed, isDeclared: true, type: "reply", target, under: null, about: null },
      ...{ timestamp, instant: timestamp, published: timestamp, hold: isTrusted ? "never" : "always" },
    });
    await record();
    // Never `null`: no other mention has this source.
    return stored as StoredMention;
  }

  /** @throws TwtxtError `not-allowed` for another guest's */
  #findOwn(id: string, view: MentionView, { guest }: Commenter): StoredMention | null {
    const known = view.get(id);
    if (!known?.author.guest) return null;
    if (known.identity !== this.#feed(guest)) {
      throw new TwtxtError("not-allowed", "Only the reader who wrote a comment can change it.");
    }
    return known;
  }
}

/** Whether a comment has an entry of `block` as a word, such as `casino` or `spam.example`, or a URL that it blocks. */
function namesBlocked({ text, name, site }: CommentContents, moderation: Moderation): boolean {
  const all = `${text} ${name} ${site ?? ""}`;
  const words: readonly string[] = all.toLowerCase().match(WORD) ?? [];
  return (
    moderation.blocked.some((entry) => words.includes(entry)) ||
    urlsInText(all).some((url) => canParseUrl(url) && moderation.isBlocked(url))
  );
}
