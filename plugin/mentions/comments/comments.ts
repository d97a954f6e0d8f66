// plugin/mentions/comments/comments.ts: the comments of readers without a site, stored as replies. PROTOCOL 2.6
import { hash } from "node:crypto";
import type { Clock } from "../../clock.js";
import { serialize } from "../../concurrency.js";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { listNetworks, SHARES } from "../../http/client-networks.js";
import type { DailyShares } from "../../http/daily-shares.js";
import { spendNonce } from "../../http/nonces.js";
import type { GuestRequest } from "../../http/signature.js";
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
import { type CommentContents, type CommentFields, readContents } from "./comment-fields.js";
import { type Answered, answerTwt, toTwt } from "./guest-feed.js";

/** More links make even a trusted reader's comment wait. */
const MAX_LINKS = 2;
/** A guest of whom the author has rejected so many comments, and approved none, is refused. */
const REJECTIONS = 3;
const LINK = /https?:\/\/|www\./gi;
/** A word, host or `host:port`. */
const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}.:-]*[\p{L}\p{N}])?/gu;

/** The sender of a comment. */
export interface Commenter extends Pick<GuestRequest, "spend"> {
  /** The key that has signed the request; `null` for an unsigned one. */
  key: string | null;
  /** The client's network address. */
  address: string;
}

interface CommentsParts {
  options: CommentsOptions;
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
  /** The guest's feed. */
  feed: string;
  target: string;
  answered: Answered;
  view: MentionView;
  /** The comment that is replaced. */
  known?: StoredMention;
}

/** The comments of a site. Changes are durable when their methods return. */
export class Comments {
  /** One after the other, so that each counts those before it. */
  readonly #inTurn = serialize();

  constructor(private readonly parts: CommentsParts) {}

  /**
   * Stores a comment, held unless its reader is trusted.
   *
   * @throws TwtxtError those of {@link readContents}; `not-found` for a page that is no post, `comments-closed`, `blocked`,
   *   `bad-request` for an unknown reply-to, `same-comment`, `too-many-comments`, `too-many-pending`
   */
  async add(fields: CommentFields, by: Commenter): Promise<StoredMention> {
    const contents = readContents(fields);
    const target = this.#findOpenPost(fields.target);
    const feed = this.#feed(by.key ?? this.#nameAnonymous(target, contents));
    return this.#inTurn(async () => {
      const { received, moderation } = this.parts;
      await moderation.blockList?.refresh();
      const view = await received.journal.read();
      const own = view.findComments(feed);
      if (this.#isRefused(own, feed)) throw new TwtxtError("blocked", "This site takes no comments from you.");
      const answered = this.#findShown(fields["reply-to"], target, view);
      const isSame = (known: StoredMention) => known.target === target && readWords(known) === contents.text;
      if (own.some(isSame)) throw new TwtxtError("same-comment", "This comment is already here.");
      return this.#store(contents, by, { feed, target, answered, view });
    });
  }

  /**
   * Replaces the words of a comment. A shown one is held again unless its reader is trusted.
   *
   * @throws TwtxtError those of {@link readContents}; `not-found`, `not-allowed` for another guest's, `too-many-comments`
   */
  async edit(id: string, fields: CommentFields, by: Commenter): Promise<StoredMention> {
    const contents = readContents(fields);
    return this.#inTurn(async () => {
      const view = await this.parts.received.journal.read();
      const known = this.#findOwn(id, view, by);
      const { identity: feed, target, subject } = known;
      const name = subject ?? "";
      // What it answers may no longer be shown.
      const gone = { ...this.#answerPost(target), ...(canParseUrl(name) ? { page: name } : { hash: name }) };
      const answered = this.#findAnswered(name, target, view) ?? gone;
      return this.#store(contents, by, { feed, target, answered, view, known });
    });
  }

  /** What a comment with these fields would answer. @throws TwtxtError as {@link add} */
  async readAnswered(fields: Pick<CommentFields, "target" | "reply-to">): Promise<Answered> {
    const target = this.#findOpenPost(fields.target);
    return this.#findShown(fields["reply-to"], target, await this.parts.received.journal.read());
  }

  /** Removes a comment. @throws TwtxtError `not-found`, `not-allowed` for another guest's */
  async remove(id: string, by: Commenter): Promise<void> {
    const { received } = this.parts;
    this.#findOwn(id, await received.journal.read(), by);
    await by.spend();
    await received.remove(id);
  }

  /** The comments of a guest, oldest first, with the number of shown answers to each. */
  async list(guest: string): Promise<{ comment: StoredMention; answers: number }[]> {
    const view = await this.parts.received.journal.read();
    const own = view.findComments(this.#feed(guest));
    return own.map((comment) => ({ comment, answers: view.countAnswers(comment) }));
  }

  /** The URL of a guest's feed. */
  #feed(guest: string): string {
    return `${this.parts.guestFeeds}/${guest}.txt`;
  }

  /** The guest of an unsigned comment: the same for the same words on one day, so that a repeat is known. */
  #nameAnonymous(target: string, { name, text }: CommentContents): string {
    const day = formatTimestamp(this.parts.now()).slice(0, 10);
    return `anon-${hash("sha256", [day, target, name, text].join("\n")).slice(0, 16)}`;
  }

  /** @returns the URL of the post as the site writes it. @throws TwtxtError `not-found`, `comments-closed` */
  #findOpenPost(url: string): string {
    const { siteIndex, pages, options, now } = this.parts;
    const target = siteIndex.target(url)?.url ?? "";
    const twt = pages.twts.find(({ page }) => page === target);
    if (!twt) throw new TwtxtError("not-found", "The target is not a post of this site.");
    const isClosed = pages.closed?.includes(target) || isTooOld(Date.parse(twt.timestamp), now(), options);
    if (isClosed) throw new TwtxtError("comments-closed", "This post takes no more comments.");
    return target;
  }

  #answerPost(target: string): Answered {
    const { pages, nick, siteIndex } = this.parts;
    const twt = pages.twts.find(({ page }) => page === target) ?? { hashes: [], timestamp: "" };
    return answerTwt(twt, { name: nick, feed: siteIndex.feedUrl });
  }

  /** @param name - a hash or URL; empty for the post. @returns `null` for a reply that is not shown */
  #findAnswered(name: string, target: string, view: MentionView): Answered | null {
    const post = this.#answerPost(target);
    const found = name === "" ? null : view.findAnswerable(name, target);
    if (found === "own") return { ...post, hash: name };
    if (!found) return name === "" ? post : null;
    const author = { name: found.author.name, feed: found.identity };
    if (found.hash !== null) return { hash: found.hash, author };
    // A page is no feed that a twt can mention.
    return { ...post, page: name, author: { ...author, feed: "" } };
  }

  /** @throws TwtxtError `bad-request` for a reply that is not shown */
  #findShown(name: string, target: string, view: MentionView): Answered {
    const answered = this.#findAnswered(name, target, view);
    if (answered) return answered;
    throw new TwtxtError("bad-request", '"reply-to" must be the hash or URL of a reply that is shown under this post.');
  }

  #isRefused(own: readonly StoredMention[], feed: string): boolean {
    const count = (wanted: StoredMention["state"]) => own.filter(({ state }) => state === wanted).length;
    return this.parts.moderation.isBlocked(feed) || (count("rejected") >= REJECTIONS && count("shown") === 0);
  }

  #isTrusted(own: readonly StoredMention[], contents: CommentContents, feed: string, isSigned: boolean): boolean {
    const { options, moderation } = this.parts;
    if (moderation.isAllowed(feed)) return true;
    const approved = own.filter(({ state }) => state === "shown").length;
    const links = contents.text.match(LINK)?.length ?? 0;
    const isHarmless = links <= MAX_LINKS && !namesBlocked(contents, moderation);
    return !moderation.lists.moderate && isSigned && options.trust > 0 && approved >= options.trust && isHarmless;
  }

  /** Reserves a time that no other process gives to a comment of this guest: it identifies a twt in its feed. */
  async #reserveTime(key: string | null, own: readonly StoredMention[]): Promise<string> {
    const { now, store } = this.parts;
    let time = Math.max(now(), ...own.map(({ timestamp }) => Date.parse(timestamp ?? "") + 1000));
    const reserve = (keyid: string) => spendNonce(store, { keyid, nonce: formatTimestamp(time), expires: time / 1000 });
    // An unsigned comment is the only one of its guest.
    while (key !== null && !(await reserve(key))) time += 1000;
    return formatTimestamp(time);
  }

  /**
   * Counts a comment for the day, and spends the request.
   *
   * @param isLimited - whether it also counts in what all readers share
   * @throws TwtxtError `too-many-comments`
   */
  async #count({ address, spend }: Commenter, isLimited: boolean): Promise<void> {
    const { shares } = this.parts;
    const networks = [...listNetworks(address), ...(isLimited ? [{ network: "all", shares: SHARES }] : [])];
    const senders = await shares.findFolders("comments", networks);
    const full = () => new TwtxtError("too-many-comments", "Too many comments came in today. Try again tomorrow.");
    if (!(await shares.haveRoom(senders))) throw full();
    await spend();
    if (!(await shares.claim(senders))) throw full();
  }

  /** Counts a comment for the day, and stores it. @throws TwtxtError `too-many-pending`, `too-many-comments` */
  async #store(contents: CommentContents, by: Commenter, place: CommentPlace): Promise<StoredMention> {
    const { options, received } = this.parts;
    const { feed, target, answered, view, known } = place;
    const own = view.findComments(feed);
    const isTrusted = this.#isTrusted(own, contents, feed, by.key !== null);
    if (!known && !isTrusted && view.heldComments >= options.held) {
      throw new TwtxtError("too-many-pending", "Too many comments wait for approval. Try again later.");
    }
    await this.#count(by, !isTrusted);
    const timestamp = known?.timestamp ?? (await this.#reserveTime(by.key, own));
    const { stored } = await received.keep({
      ...(await toTwt(contents, { feed, timestamp, answered })),
      ...{ identity: feed, given: feed, isDeclared: true, type: "reply", target, under: null, about: null },
      ...{ timestamp, instant: timestamp, published: timestamp, hold: isTrusted ? "never" : "always" },
    });
    // Never `null`: no other mention has this source.
    return stored as StoredMention;
  }

  /** @throws TwtxtError `not-found`, `not-allowed` for another guest's */
  #findOwn(id: string, view: MentionView, { key }: Commenter): StoredMention {
    const known = view.get(id);
    if (!known?.author.guest) throw new TwtxtError("not-found", "There is no such comment.");
    if (known.identity === this.#feed(key ?? "")) return known;
    throw new TwtxtError("not-allowed", "Only the reader who wrote a comment can change it.");
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
