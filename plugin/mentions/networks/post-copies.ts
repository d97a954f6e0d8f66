// plugin/mentions/networks/post-copies.ts: posts copies of the posts in the live feed, as a target of the sending journal. PROTOCOL 2.7
import { hash } from "node:crypto";
import { ifTwtxtError, type TwtxtError } from "../../errors.js";
import type { ParsedTwt } from "../../feed/feed.js";
import { removeMetadata } from "../../pictures/remove-metadata.js";
import type { SitePages } from "../../site/site.js";
import { readJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { type Change, changesSince } from "../send/changes.js";
import { MentionLedger, type MentionSource } from "../send/ledger.js";
import { FinishedRecord, type LedgerName, type LedgerState } from "../send/ledger-records.js";
import { type LiveMention, shortHash } from "../send/live-feed.js";
import { type MentionReport, reportOfWaiting, scheduleRetry } from "../send/send-mention.js";
import { noteFault } from "./account-faults.js";
import { toParts } from "./copy-text.js";
import { type Copy, NetworkError } from "./network.js";
import { notePostedCopy, type PostedCopies, readPostedCopies } from "./posted-copies.js";
import type { CopyToPost, PostingAccount, PostingParts } from "./posting.js";

/** Older posts are never posted, whatever the store knows. PROTOCOL 2.3 */
const MAX_AGE = 7 * 24 * 3600_000;
const PICTURE_BYTES = 16 * 2 ** 20;
const DAY = 24 * 3600_000;
/** Digits of the hash of a text without its permalink, at the start of a copy's hash. */
const BODY_DIGITS = 8;

export interface CopiedPosts {
  accounts: readonly PostingAccount[];
  twts: SitePages["twts"];
  /** The pages of deleted posts. */
  deleted: readonly string[];
}

/** A post with a copy, or one that gets one. */
interface LiveCopy extends LiveMention {
  page: string;
  parts: CopyToPost["parts"];
  facts: NonNullable<SitePages["twts"][number]["copy"]>;
}

export interface CopyOptions extends PostingParts {
  store: Store;
  feedUrl: string;
  /** 0 up to, not including, 1. */
  random(): number;
  /** When true, nothing more is started. */
  isOver(): boolean;
  isDryRun?: boolean;
  /** Whether to try copies now that wait for their next attempt. */
  isNow?: boolean;
  onMention?(mention: MentionReport): void;
}

interface Outcome extends Pick<MentionReport, "outcome" | "status" | "why"> {
  endpoint: string | null;
  notBefore: number | null;
  isAsked: boolean;
}

/**
 * Posts what is new in the live feed, edits what has changed, and deletes the copies of deleted posts.
 *
 * A copy is searched for on the network before it is posted, so that a killed run, or a store that was lost or restored, never
 * leads to a second one.
 *
 * @param twts - of the live feed
 * @throws TwtxtError `store-failed`
 */
export async function postCopies(
  twts: readonly ParsedTwt[],
  posts: CopiedPosts,
  options: CopyOptions,
): Promise<MentionReport[]> {
  const posted = await readPostedCopies(options.store);
  const runs = posts.accounts.map((account) => new AccountRun(account, posts, { ...options, posted }).run(twts));
  return (await Promise.all(runs)).flat();
}

class AccountRun {
  readonly #ledger: MentionLedger;
  readonly #reports: MentionReport[] = [];
  /** The failure after which nothing more is asked in this run. */
  #failure: Outcome | null = null;

  constructor(
    readonly account: PostingAccount,
    readonly posts: CopiedPosts,
    readonly options: CopyOptions & { posted: PostedCopies },
  ) {
    this.#ledger = new MentionLedger({ ...options, part: account.network });
  }

  async run(twts: readonly ParsedTwt[]): Promise<MentionReport[]> {
    const stored = await this.#ledger.read();
    const live = this.#listLive(twts);
    const known = { ...stored, ...this.#createBaselines(twts) };
    const state = { mentions: live, archived: [], instants: new Set<string>(), linkedInstants: new Set<string>() };
    const now = this.options.isNow ? Number.POSITIVE_INFINITY : this.options.now();
    const { due, later, stale } = changesSince(known, { ...state, isWhole: false }, now);
    if (!this.options.isDryRun) await this.#ledger.forget(stale);
    const byPair = new Map(live.map((copy) => [copy.pair, copy]));
    for (const change of due) {
      const copy = change.kind === "gone" ? undefined : byPair.get(change.mention.pair);
      if (copy) await this.#change(change, copy, findFormer(change, copy, known, byPair));
    }
    for (const page of this.posts.deleted) await this.#delete(page, known);
    return [...this.#reports, ...later.map(reportOfWaiting)];
  }

  #listLive(twts: readonly ParsedTwt[]): LiveCopy[] {
    const { network, place } = this.account;
    const posts = new Map(this.posts.twts.map((twt) => [twt.timestamp, twt]));
    return twts.flatMap(({ timestamp, instant, text }): LiveCopy[] => {
      const { page = null, copy: facts } = posts.get(timestamp) ?? {};
      if (page === null || !facts?.networks.includes(network)) return [];
      const parts = toParts(text);
      const body = shortHash(
        parts
          .filter(({ url }) => url !== page)
          .map((part) => part.text)
          .join(""),
        BODY_DIGITS,
      );
      const rest = shortHash(JSON.stringify([page, text, { ...facts, networks: [] }]), 16 - BODY_DIGITS);
      const mention = { pair: this.#toPair(page), timestamp, instant, nick: null, target: place, text: body + rest };
      return [{ ...mention, subject: null, isLink: false, network, page, parts, facts }];
    });
  }

  /** A permalink names its copy, so that a post with another date keeps it. */
  #toPair(page: string): string {
    return shortHash(`${this.account.network}\n${page}`, 32);
  }

  /** Nothing old is posted. A clock that is behind the newest twt is wrong: by that clock, all posts would be new. */
  #createBaselines(twts: readonly ParsedTwt[]): Pick<LedgerState, "baseline" | "linkBaseline"> {
    const newest = Math.max(this.options.now(), ...twts.map(({ instant }) => Date.parse(instant)));
    const baseline = { pairs: new Set<string>(), before: new Date(newest - MAX_AGE).toISOString() };
    return { baseline, linkBaseline: baseline };
  }

  async #change(change: Change, copy: LiveCopy, former: LedgerName | null): Promise<void> {
    const source = former
      ? ((await readJson(this.options.store, former.key, FinishedRecord))?.value.source ?? null)
      : null;
    const isEdit = change.kind === "changed" || former !== null;
    const work = async () => {
      const known = this.#findPosted(source ?? copy.page) ?? this.#findPosted(copy.page);
      const posted = known ?? (await this.account.find({ permalink: copy.page }));
      if (posted && !(isEdit && this.account.canEdit)) return posted;
      const toPost = await this.#toCopyToPost(copy);
      return posted ? this.account.edit(posted, toPost) : this.account.post(toPost);
    };
    const outcome = await this.#attempt(work, (posted) =>
      notePostedCopy(
        this.options.store,
        copy.network ?? this.account.network,
        { page: copy.page, former: source ?? copy.page },
        posted,
      ),
    );
    const moved: Change = {
      ...change,
      kind: "changed",
      mention: copy,
      done: [...change.done, ...(former ? [former] : [])],
    };
    await this.#record(former ? moved : change, { mention: withoutFacts(copy), source: copy.page }, outcome);
  }

  async #delete(page: string, { done, unfinished }: LedgerState): Promise<void> {
    const pair = this.#toPair(page);
    const [sent] = done.filter((record) => record.pair === pair && record.ending === "sent");
    const waiting = unfinished.find((record) => record.pair === pair) ?? null;
    const instant = sent?.instant ?? waiting?.instant;
    if (instant === undefined) return;
    const own = done.filter((record) => record.pair === pair);
    const change: Change = { kind: "gone", instant, done: own, unfinished: waiting };
    const known = await this.#ledger.readMention(change);
    const outcome = await this.#attempt(
      async () => {
        const posted = this.#findPosted(page) ?? (await this.account.find({ permalink: page }));
        if (posted) await this.account.delete(posted);
        return posted;
      },
      () => notePostedCopy(this.options.store, this.account.network, { page }, null),
    );
    await this.#record(change, { ...known, source: page }, outcome);
  }

  #findPosted(page: string): Copy | null {
    return this.options.posted[page]?.find(({ network }) => network === this.account.network) ?? null;
  }

  /** @param note - writes what was done, before the ledger has it as done */
  async #attempt(work: () => Promise<Copy | null>, note: (copy: Copy | null) => Promise<void>): Promise<Outcome> {
    const blank = { endpoint: this.account.place, status: null, why: null, notBefore: null, isAsked: true };
    if (this.options.isDryRun) return { ...blank, outcome: "would be sent" };
    if (this.options.isOver()) return { ...blank, outcome: "waiting" };
    if (this.#failure) return { ...this.#failure, isAsked: false };
    try {
      const copy = await work();
      await note(copy);
      await noteFault(this.options.store, this.account.network, null);
      return { ...blank, endpoint: copy?.url ?? this.account.place, outcome: "sent" };
    } catch (error) {
      const outcome = { ...blank, ...ifTwtxtError(toFailure)(error) };
      const isRefusedAccount = outcome.status === 401 || outcome.status === 403;
      if (isRefusedAccount) await noteFault(this.options.store, this.account.network, outcome.why);
      if (outcome.outcome === "retry") this.#failure = outcome;
      return outcome;
    }
  }

  async #record(change: Change, known: MentionSource, outcome: Outcome): Promise<void> {
    const { endpoint, status, why, notBefore, isAsked } = outcome;
    const { timestamp, nick, target, isLink, network, text } = known.mention;
    const report = { kind: change.kind, timestamp, nick, target, isLink, network, endpoint, method: null, status, why };
    const end = (name: MentionReport["outcome"], next: number | null) => {
      const ended = { ...report, outcome: name, next: next === null ? null : new Date(next).toISOString() };
      this.#reports.push(ended);
      this.options.onMention?.(ended);
    };
    if (outcome.outcome === "waiting" || outcome.outcome === "would be sent") return end(outcome.outcome, null);
    const now = this.options.now();
    const before = change.unfinished?.text === text ? change.unfinished : null;
    const isRetried = outcome.outcome === "retry";
    const retry = isRetried ? scheduleRetry(before, { notBefore, isAsked }, now, this.options.random) : null;
    if (retry) {
      await this.#ledger.postpone(known, change, { ...retry, endpoint, status, why });
      return end("retry", retry.next);
    }
    const final = outcome.outcome === "sent" || outcome.outcome === "not-asked" ? outcome.outcome : "failed";
    const details = { timestamp, nick, target, isLink, network, endpoint, source: known.source, status, why, at: now };
    await this.#ledger.finish(change, final, details);
    end(final, null);
  }

  async #toCopyToPost({ page, parts, facts }: LiveCopy): Promise<CopyToPost> {
    const { feedUrl } = this.options;
    const { lang = null, warning = null, title, description = "", pictures = [], replyTo = null } = facts;
    return {
      key: hash("sha256", [feedUrl, this.account.network, page].join("\n")),
      parts,
      permalink: page,
      lang,
      warning,
      pictures: await this.#readPictures(pictures),
      card: title === undefined ? null : { title, description },
      replyTo,
    };
  }

  /** Pictures of the site itself. One that cannot be read is left out: the page has it. */
  async #readPictures(pictures: NonNullable<LiveCopy["facts"]["pictures"]>): Promise<CopyToPost["pictures"]> {
    const own = pictures.filter(({ url }) => new URL(url).host === new URL(this.options.feedUrl).host).slice(0, 4);
    const read = own.map(async ({ url, alt }) => {
      const response = await this.options.ask(url, { maxBytes: PICTURE_BYTES });
      if (response.status !== 200) {
        response.close();
        return [];
      }
      const { bytes, type } = removeMetadata(await response.bytes(), url);
      return [{ bytes, type, alt }];
    });
    return (await Promise.all(read.map((one) => one.catch(ifTwtxtError(() => []))))).flat();
  }
}

/** The record of a copy whose post has another permalink now: of the same second, or with the same text on the same day. */
function findFormer(
  change: Change,
  { pair, instant, text }: LiveMention,
  { done }: LedgerState,
  live: ReadonlyMap<string, unknown>,
): LedgerName | null {
  if (change.kind !== "new") return null;
  const isSame = (record: LedgerName) =>
    record.instant === instant ||
    (record.text.slice(0, BODY_DIGITS) === text.slice(0, BODY_DIGITS) &&
      Math.abs(Date.parse(record.instant) - Date.parse(instant)) < DAY);
  const gone = done.filter((record) => record.ending === "sent" && record.pair !== pair && !live.has(record.pair));
  return gone.find(isSame) ?? null;
}

function withoutFacts({ page: _, parts: __, facts: ___, ...mention }: LiveCopy): LiveMention {
  return mention;
}

function toFailure(error: TwtxtError): Pick<Outcome, "outcome" | "status" | "why" | "notBefore"> {
  if (error.code === "store-failed") throw error;
  const status = error instanceof NetworkError ? error.status : null;
  const notBefore = error instanceof NetworkError ? error.notBefore : null;
  const why = error.message.replace(/\.$/, "");
  // A token may be replaced.
  const isTemporary = error.code === "unreachable" || status === 401 || status === 403;
  if (isTemporary) return { outcome: "retry", status, why, notBefore };
  return { outcome: error.code === "address-refused" ? "not-asked" : "failed", status, why, notBefore: null };
}
