// plugin/mentions/networks/post-copies.ts: posts copies of the posts in the live feed, as a target of the sending journal. PROTOCOL 2.7
import { hash } from "node:crypto";
import { ifTwtxtError, type TwtxtError } from "../../errors.js";
import { findAccountPage } from "../../feed/author-pages.js";
import type { ParsedTwt } from "../../feed/feed.js";
import { NETWORKS } from "../../options/syndicate.js";
import { readDimensions } from "../../pictures/dimensions.js";
import { removeMetadata } from "../../pictures/remove-metadata.js";
import { shrinkPicture } from "../../pictures/shrink-picture.js";
import type { CopyFacts, SitePages } from "../../site/site.js";
import { readJson } from "../../store/json.js";
import { type Change, changesSince, oldestMissing } from "../send/changes.js";
import { type LedgerOptions, MentionLedger, type MentionSource } from "../send/ledger.js";
import { FinishedRecord, type LedgerName, type StoredLedger } from "../send/ledger-records.js";
import { type LiveFeed, type LiveMention, readAnyFeed, readArchives, shortHash } from "../send/live-feed.js";
import {
  type DeliveryOptions,
  type MentionReport,
  NO_RESULT,
  type Result,
  recordResult,
  reportOfWaiting,
  resultOfError,
  toReport,
} from "../send/send-mention.js";
import { type TextPart, toParts } from "./copy-text.js";
import type { Copy, CopyToPost, Picture, PostingAccount } from "./network.js";
import { NetworkError } from "./network-json.js";
import { noteFault, notePostedCopy, type PostedCopies, readPostedCopies } from "./network-records.js";
import { findNetwork } from "./parse-copy.js";

const DAY = 24 * 3600_000;
/** Older posts are never posted, whatever the store knows. PROTOCOL 2.3 */
const MAX_AGE = 7 * DAY;
const NONE: ReadonlySet<string> = new Set();
const PICTURE_BYTES = 16 * 2 ** 20;
/** Digits of the hash of a text without its permalink, at the start of a copy's hash. */
const BODY_DIGITS = 8;

export interface CopiedPosts extends Pick<SitePages, "twts" | "deleted"> {
  accounts: readonly PostingAccount[];
}

/** A post with a copy, or one that gets one. */
interface LiveCopy {
  /** Its entry in the ledger. */
  mention: LiveMention;
  copy: CopyToPost;
}

interface CopyOptions extends LedgerOptions, Pick<DeliveryOptions, "ask" | "now" | "random" | "isOver" | "isDryRun"> {
  /** Whether to try copies now that wait for their next attempt. */
  isNow?: boolean;
  onMention?(mention: MentionReport): void;
}

/**
 * Posts what is new in the live feed, edits what has changed, and deletes the copies of deleted posts.
 *
 * A copy is searched for on the network before it is posted, so that a killed run, or a store that was lost or restored, never
 * leads to a second one.
 *
 * @throws TwtxtError `store-failed`
 */
export async function postCopies(feed: LiveFeed, posts: CopiedPosts, options: CopyOptions): Promise<MentionReport[]> {
  const posted = await readPostedCopies(options.store);
  const runs = posts.accounts.map((account) => new AccountRun(account, posts, { ...options, posted }).run(feed));
  return (await Promise.all(runs)).flat();
}

class AccountRun {
  readonly #ledger: MentionLedger;
  readonly #reports: MentionReport[] = [];
  /** The failure after which nothing more is asked in this run. */
  #failure: Result | null = null;
  /** Why pictures were left out of the copy that is being posted. */
  #leftOut: string[] = [];

  constructor(
    readonly account: PostingAccount,
    readonly posts: CopiedPosts,
    readonly options: CopyOptions & { posted: PostedCopies },
  ) {
    this.#ledger = new MentionLedger({ ...options, part: account.network });
  }

  async run(feed: LiveFeed): Promise<MentionReport[]> {
    const { ask, now, isNow, isDryRun } = this.options;
    const stored = await this.#ledger.read();
    const pairs = new Set(this.posts.twts.map(({ page }) => this.#toPair(page ?? "")));
    const isOnSite = ({ pair }: { pair: string }) => pairs.has(pair);
    // A clock that is behind the newest twt is wrong: by that clock, all posts would be new.
    const newest = Math.max(now(), ...feed.twts.map(({ instant }) => Date.parse(instant)));
    const baseline = { pairs: NONE, before: new Date(newest - MAX_AGE).toISOString() };
    const ofSite = { done: stored.done.filter(isOnSite), unfinished: stored.unfinished.filter(isOnSite) };
    const known = { ...stored, ...ofSite, baseline, linkBaseline: baseline };
    const wanted = oldestMissing(known, feed.twts);
    const older = wanted === null ? [] : this.#listLive((await readArchives(ask, feed, wanted)).twts);
    const copies = this.#listLive(feed.twts);
    const live = new Map([...older, ...copies].map((copy) => [copy.mention.pair, copy]));
    const [mentions = [], archived = []] = [copies, older].map((all) => all.map(({ mention }) => mention));
    const state = { mentions, archived, instants: NONE, linkedInstants: NONE, isWhole: false };
    const { due, later, stale } = changesSince(known, state, isNow ? Number.POSITIVE_INFINITY : now());
    if (!isDryRun) await this.#ledger.forget(stale);
    for (const change of due) {
      const copy = change.kind === "gone" ? undefined : live.get(change.mention.pair);
      if (copy) await this.#write(change, copy, change.kind === "new" ? findFormer(copy, stored, live) : undefined);
    }
    for (const { page } of this.posts.deleted ?? []) await this.#delete(page, stored);
    return [...this.#reports, ...later.map(reportOfWaiting)];
  }

  #listLive(twts: readonly ParsedTwt[]): LiveCopy[] {
    const { network, place: target } = this.account;
    const posts = new Map(this.posts.twts.map((twt) => [twt.timestamp, twt]));
    return twts.flatMap(({ timestamp, instant, text }): LiveCopy[] => {
      const { page = null, copy: facts } = posts.get(timestamp) ?? {};
      if (page === null || !facts?.networks.includes(network)) return [];
      if (facts.replyTo !== undefined && findNetwork(facts.replyTo) !== network) return [];
      const parts = toParts(text);
      const words = parts.flatMap((part) => (part.url === page ? [] : [part.text]));
      const rest = shortHash(JSON.stringify([page, text, { ...facts, networks: [] }]), 16 - BODY_DIGITS);
      const ids = { pair: this.#toPair(page), text: shortHash(words.join(""), BODY_DIGITS) + rest };
      const mention = { ...ids, timestamp, instant, nick: null, target, subject: null, isLink: false, network };
      const key = hash("sha256", [this.options.feedUrl, network, page].join("\n"));
      const attach: CopyToPost["attach"] = (...how) => this.#attach(facts.pictures ?? [], ...how);
      return [{ mention, copy: { ...facts, key, parts, permalink: page, attach } }];
    });
  }

  /** A permalink names its copy, so that a post with another date keeps it. */
  #toPair(page: string): string {
    return shortHash(`${this.account.network}\n${page}`, 32);
  }

  /** Posts a copy, or edits it. @param former - its record under the earlier permalink of its post */
  async #write(change: Change, { mention, copy }: LiveCopy, former: LedgerName | undefined): Promise<void> {
    const { account, options } = this;
    const record = former && (await readJson(options.store, former.key, FinishedRecord));
    const pages = [copy.permalink, record?.value.source ?? undefined] as const;
    const whole: Change = former ? { ...change, kind: "changed", mention, done: [...change.done, former] } : change;
    await this.#attempt(whole, { mention, source: copy.permalink }, async () => {
      const known = pages.map((page) => this.#findPosted(page)).find(Boolean) ?? (await account.find(copy.permalink));
      const posted = known ?? (await account.post(await this.#linkNames(copy)));
      if (known && whole.kind === "changed") await account.edit?.(known, await this.#linkNames(copy));
      await notePostedCopy(options.store, account.network, pages, posted);
      return posted;
    });
  }

  async #delete(page: string, stored: StoredLedger): Promise<void> {
    const { account, options } = this;
    const isOwn = ({ pair }: { pair: string }) => pair === this.#toPair(page);
    const [done, unfinished = null] = [stored.done.filter(isOwn), stored.unfinished.find(isOwn)];
    const instant = done.find(({ ending }) => ending === "sent")?.instant ?? unfinished?.instant;
    if (instant === undefined) return;
    const change: Change = { kind: "gone", instant, done, unfinished };
    const { mention } = await this.#ledger.readMention(change);
    await this.#attempt(change, { mention, source: page }, async () => {
      const posted = this.#findPosted(page) ?? (await account.find(page));
      if (posted) await account.delete(posted);
      await notePostedCopy(options.store, account.network, [page], null);
      return posted;
    });
  }

  #findPosted(page: string | undefined): Copy | undefined {
    return this.options.posted[page ?? ""]?.find(({ network }) => network === this.account.network);
  }

  /** @param work - also stores what was done, before the ledger has it as done */
  async #attempt(change: Change, known: MentionSource, work: () => Promise<Copy | null>): Promise<void> {
    const result = await this.#run(work);
    const ended = await recordResult(change, known, result, { ...this.options, ledger: this.#ledger });
    const report = { ...toReport(change, known.mention), ...ended };
    this.#reports.push(report);
    this.options.onMention?.(report);
  }

  async #run(work: () => Promise<Copy | null>): Promise<Result> {
    const { account, options } = this;
    const blank = { ...NO_RESULT, endpoint: account.place };
    if (options.isDryRun) return { ...blank, outcome: "would be sent" };
    if (options.isOver()) return { ...blank, outcome: "waiting" };
    if (this.#failure) return { ...this.#failure, isAsked: false };
    this.#leftOut = [];
    try {
      const copy = await work();
      await noteFault(options.store, account.network, null);
      const why = this.#leftOut.length === 0 ? null : `without a picture: ${this.#leftOut.join(" ")}`;
      return { ...blank, endpoint: copy?.url ?? account.place, outcome: "sent", why };
    } catch (error) {
      const { outcome, why } = resultOfError(error);
      const { status, notBefore, isOfAccount } =
        error instanceof NetworkError ? error : { ...blank, isOfAccount: false };
      if (isOfAccount) await noteFault(options.store, account.network, why);
      // A token may be replaced.
      const result = { ...blank, outcome: isOfAccount ? "retry" : outcome, why, status, notBefore };
      if (result.outcome === "retry") this.#failure = result;
      return result;
    }
  }

  /** Links names to the accounts that the feeds of the people name: on this network, or else on another one. */
  async #linkNames(copy: CopyToPost): Promise<CopyToPost> {
    const link = async (part: TextPart): Promise<TextPart> => {
      if (!part.isName) return part;
      const feed = await readAnyFeed(this.options.ask, part.url ?? "").catch(ifTwtxtError(() => null));
      const url = feed && findAccountPage(feed.header, [this.account.network, ...NETWORKS]);
      return url ? { text: part.text, url } : part;
    };
    return { ...copy, parts: await Promise.all(copy.parts.map(link)) };
  }

  /** Attaches pictures of the site itself. One that is left out is on the page. */
  async #attach<T>(
    pictures: NonNullable<CopyFacts["pictures"]>,
    { count, bytes }: { count: number; bytes: number },
    upload: (picture: Picture) => Promise<T>,
  ): Promise<T[]> {
    const { host } = new URL(this.options.feedUrl);
    const own = pictures.filter(({ url }) => new URL(url).host === host);
    const leaveOut = (error: TwtxtError) => {
      if (error instanceof NetworkError && error.isOfAccount) throw error;
      this.#leftOut.push(error.message);
      return null;
    };
    const attached: T[] = [];
    for (const { url, alt } of own.slice(0, count)) {
      const picture = await this.#readPicture(url, bytes).catch(ifTwtxtError(leaveOut));
      const one = picture && (await upload({ ...picture, alt }).catch(ifTwtxtError(leaveOut, "source-refused")));
      if (one !== null) attached.push(one);
    }
    return attached;
  }

  async #readPicture(url: string, maxBytes: number): Promise<Omit<Picture, "alt">> {
    const response = await this.options.ask(url, { maxBytes: PICTURE_BYTES });
    const picture = await shrinkPicture(removeMetadata(await response.bytes(), url), maxBytes, url);
    return { ...picture, ...readDimensions(picture) };
  }
}

/** The record of a copy whose post has another permalink now: of the same second, or with the same text on the same day. */
function findFormer(
  { mention: { pair, instant, text } }: LiveCopy,
  { done }: StoredLedger,
  live: ReadonlyMap<string, unknown>,
): LedgerName | undefined {
  const isSameDay = (record: LedgerName) => Math.abs(Date.parse(record.instant) - Date.parse(instant)) < DAY;
  const hasSameText = (record: LedgerName) => record.text.slice(0, BODY_DIGITS) === text.slice(0, BODY_DIGITS);
  const isSame = (record: LedgerName) => record.instant === instant || (hasSameText(record) && isSameDay(record));
  const gone = done.filter((record) => record.ending === "sent" && record.pair !== pair && !live.has(record.pair));
  return gone.find(isSame);
}
