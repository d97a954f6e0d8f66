// plugin/mentions/send/send-mention.ts: sends one mention: finds its endpoint, posts, records the outcome.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { isAttemptAhead, nextAttempt } from "../../http/retry.js";
import { hostQueue } from "../host-queue.js";
import { formatReference } from "../reference.js";
import type { Change, WaitingChange } from "./changes.js";
import { type FoundEndpoint, findEndpoint, ServerBusyError, whyNotRequested } from "./discover.js";
import type { EndpointCache } from "./endpoint-cache.js";
import type { MentionLedger, MentionSource } from "./ledger.js";
import type { FinalOutcome, LedgerEntry, UnfinishedMention } from "./ledger-records.js";
import type { LiveMention } from "./live-feed.js";
import { type Answer, type Attempt, postMention, type Source } from "./post-mention.js";
import { comparableLink, type LinksOfPage, type SiteLinks } from "./site-links.js";

/** The URL of a copy on a network is the endpoint once it is posted. */
export interface MentionReport
  extends Pick<LedgerEntry, "timestamp" | "nick" | "target" | "isLink" | "network" | "endpoint" | "status" | "next"> {
  kind: Change["kind"];
  /** `null` if no endpoint was found or looked for. */
  method: FoundEndpoint["method"] | null;
  /** `would be sent` in a dry run; `retry` failed and is tried again; `waiting` was not tried in this run. */
  outcome: FinalOutcome | "retry" | "waiting" | "would be sent";
  /** Half a sentence; `null` for a success, unless a copy has no picture. */
  why: string | null;
}

/**
 * Finds a twt of another feed among those that this site knows.
 *
 * @param hash - of either version
 * @returns its timestamp as its feed has it; `null` if it is not known
 */
export type FindTwt = (feedUrl: string, hash: string) => Promise<string | null>;

export interface DeliveryOptions {
  ask: Ask;
  ledger: MentionLedger;
  endpoints: EndpointCache;
  /** The feed's own URL, for references. */
  identity: string;
  linksOfPage: LinksOfPage;
  /** `null` if the site sends no links. */
  siteLinks: SiteLinks | null;
  findPage(timestamp: string): string | null;
  findTwt?: FindTwt | undefined;
  now: Clock;
  random(): number;
  isOver(): boolean;
  isDryRun?: boolean;
}

/** Posts run before queued discoveries, so that a run that ends early has sent what it has looked up. */
const POST_PRIORITY = 1;

export interface Result extends Pick<MentionReport, "outcome" | "endpoint" | "status" | "why"> {
  /** The URL that was posted; `null` for none. */
  source: string | null;
  /** From Retry-After, in milliseconds since 1970. */
  notBefore: number | null;
  /** `false` if nothing was requested because the host is paused, which is not counted as an attempt. */
  isAsked: boolean;
}

export const NO_RESULT = {
  ...{ endpoint: null, status: null, why: null, source: null, notBefore: null, isAsked: true },
} as const;

/**
 * Delivers the mentions of one run.
 *
 * Each result is recorded within its request's slot of the queue, so a killed run leaves in doubt only the requests that
 * were in progress. After a record fails, nothing more is started: the next run would repeat it.
 */
export class MentionDelivery {
  readonly #queue = hostQueue();
  /** Circuit breaker: the results for hosts that did not answer or asked for a pause. */
  readonly #paused = new Map<string, Result>();
  #hasFailed = false;

  constructor(readonly options: DeliveryOptions) {}

  /** @throws TwtxtError `store-failed` */
  async send(change: Change): Promise<MentionReport> {
    const { ledger, endpoints } = this.options;
    const known = await ledger.readMention(change);
    const { target } = known.mention;
    const blank = toReport(change, known.mention);
    const postTo = (found: FoundEndpoint) => async () => {
      const { endpoint, method } = found;
      const result = await this.#post(change, known, found);
      if (result.outcome === "waiting" || !result.isAsked) endpoints.noteUntried(target);
      return { ...blank, method, ...(await this.#record(change, known, { ...result, endpoint })) };
    };
    const { report } = await this.#queue(readHost(target), async () => {
      const found = await this.#discover(known.mention);
      if ("outcome" in found) {
        const recorded = this.#record(change, known, { ...found, endpoint: null });
        return { report: recorded.then((end) => ({ ...blank, ...end })) };
      }
      // Queued here, before the next discovery of this host starts, but not awaited in this slot.
      return { report: this.#queue(readHost(found.endpoint), postTo(found), POST_PRIORITY) };
    });
    return report;
  }

  #resultWithoutRequest(url: string): Result | undefined {
    const isOver = this.#hasFailed || this.options.isOver();
    return isOver ? { ...NO_RESULT, outcome: "waiting" } : this.#paused.get(readHost(url));
  }

  async #discover(mention: LiveMention): Promise<FoundEndpoint | Result> {
    const { endpoints, siteLinks } = this.options;
    const none = (why: string): Result => ({ ...NO_RESULT, outcome: "no-endpoint", why });
    const why = whyNotRequested(mention, (url) => siteLinks?.isBlocked(url) ?? false);
    if (why !== null) return none(why);
    const { target } = mention;
    const early = this.#resultWithoutRequest(target);
    if (early) return early;
    try {
      const found = await findEndpoint(mention, (url) => endpoints.discover(url));
      return found.endpoint === null ? none(found.why) : found;
    } catch (error) {
      const hasAnswered = error instanceof ServerBusyError && error.notBefore === null;
      return hasAnswered ? resultOfError(error) : this.#pauseHost(target, resultOfError(error));
    }
  }

  async #post(change: Change, known: MentionSource, found: FoundEndpoint): Promise<Result> {
    const { ask, endpoints, now, isDryRun } = this.options;
    if (isDryRun) return { ...NO_RESULT, outcome: "would be sent" };
    const { endpoint } = found;
    const attempts = await this.#listAttempts(change, known, found);
    const [first] = attempts;
    const early = this.#resultWithoutRequest(endpoint) ?? (await this.#checkLivePage(change, known, first.source));
    if (early) return early;
    const answer = await postMention(ask, endpoint, attempts, now);
    const isFirst = answer.source === first.source && answer.target === first.target;
    if (answer.outcome === "accepted" && !isFirst) {
      // Losing this hint costs one refusal later; an error here must not keep the mention out of the ledger.
      await endpoints.noteForm(endpoint, answer.source.form, answer.target !== first.target).catch(() => {});
    }
    const result = resultOfAnswer(answer, change);
    return result.status === null || result.notBefore !== null ? this.#pauseHost(endpoint, result) : result;
  }

  /**
   * Compares a link with the live page: its receiver reads that page, which may be older than the build.
   *
   * @returns a result if the page does not confirm the change
   */
  async #checkLivePage(change: Change, { mention }: MentionSource, { url }: Source): Promise<Result | undefined> {
    if (!mention.isLink) return;
    // The page of a post that has left the feed keeps the link, so waiting would not change that.
    if (change.kind === "gone" && this.options.siteLinks?.isWithoutTwt(url)) return;
    try {
      const links = await this.options.linksOfPage(url);
      const hasLink = links?.has(comparableLink(mention.target));
      if (links === null || hasLink === (change.kind !== "gone")) return;
      return { ...NO_RESULT, outcome: "retry", why: `${url} ${hasLink ? "still has" : "does not have"} this link` };
    } catch (error) {
      return resultOfError(error);
    }
  }

  #pauseHost(url: string, result: Result): Result {
    if (result.outcome === "retry") {
      const host = readHost(url);
      // The reason names one mention's URL, but applies to all mentions of its host.
      const why = result.why?.replaceAll(url, host) ?? null;
      this.#paused.set(host, { ...result, why, status: null, source: null, isAsked: false });
    }
    return result;
  }

  /** What to post, in the order to try it. A removal repeats the source that the receiver knows. */
  async #listAttempts(
    change: Change,
    { mention, source }: MentionSource,
    found: FoundEndpoint,
  ): Promise<[Attempt, ...Attempt[]]> {
    const { target } = mention;
    if (change.kind === "gone" && source !== null) {
      return [{ source: { form: source.includes("#:~:text=") ? "reference" : "page", url: source }, target }];
    }
    const known = await this.options.endpoints.readForm(found.endpoint);
    const preferred = known?.form ?? (found.method === "feed field" ? "reference" : "page");
    const [first, ...others] = this.#listSources(mention, preferred);
    const answered = known?.needsFeedTarget ? null : await this.#findAnswered(mention, found);
    const rest = others.map((other) => ({ source: other, target }));
    if (answered === null) return [{ source: first, target }, ...rest];
    return [{ source: first, target: answered }, { source: first, target }, ...rest];
  }

  #listSources({ timestamp, isLink }: LiveMention, preferred: Source["form"]): [Source, ...Source[]] {
    const { identity, findPage } = this.options;
    const reference: Source = { form: "reference", url: formatReference(identity, timestamp) };
    const url = findPage(timestamp);
    if (url === null) return [reference];
    const page: Source = { form: "page", url };
    if (isLink) return [page];
    return preferred === "reference" ? [reference, page] : [page, reference];
  }

  /** A reference to the twt that a mention answers, for endpoints in feeds; `null` if the twt is not known. */
  async #findAnswered({ target, subject }: LiveMention, { method }: FoundEndpoint): Promise<string | null> {
    if (method !== "feed field" || subject === null) return null;
    const timestamp = (await this.options.findTwt?.(target, subject.toLowerCase())) ?? null;
    return timestamp === null ? null : formatReference(target, timestamp);
  }

  async #record(change: Change, known: MentionSource, result: Result): Promise<RecordedResult> {
    if (this.options.isDryRun) return { ...result, next: null };
    try {
      return await recordResult(change, known, result, this.options);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }
}

/** How an attempt ended, with the time of the next one. */
type RecordedResult = Pick<MentionReport, "outcome" | "endpoint" | "status" | "why" | "next">;

export async function recordResult(
  change: Change,
  known: MentionSource,
  result: Result,
  { ledger, now, random }: Pick<DeliveryOptions, "ledger" | "now" | "random">,
): Promise<RecordedResult> {
  const { outcome, endpoint, status, why } = result;
  const recorded = { endpoint, status, why };
  if (outcome === "waiting" || outcome === "would be sent") return { ...recorded, outcome, next: null };
  const { text } = known.mention;
  // A changed text starts over with its own attempts.
  const before = change.unfinished?.text === text ? change.unfinished : null;
  const retry = outcome === "retry" ? scheduleRetry(before, result, now(), random) : null;
  // A command ran ahead of schedule. `serve` may be allowed to ask that address, so its attempt stays scheduled.
  const scheduled = outcome === "not-asked" && before && isAttemptAhead(before.next, now()) ? before : retry;
  const record = { ...known.mention, source: result.source ?? known.source, ...recorded };
  if (retry) await ledger.postpone({ ...record, ...retry }, change);
  if (scheduled) return { ...recorded, outcome, next: new Date(scheduled.next).toISOString() };
  const final = outcome === "retry" ? "failed" : outcome;
  await ledger.finish(change, final, { ...record, at: now() });
  return { ...recorded, outcome: final, next: null };
}

/** @throws errors that say nothing about a target */
export function resultOfError(error: unknown): Result {
  if (!(error instanceof TwtxtError) || error.code === "store-failed") throw error;
  const result = { ...NO_RESULT, why: error.message.replace(/\.$/, "") };
  if (error.code === "unreachable") {
    return { ...result, outcome: "retry", notBefore: error instanceof ServerBusyError ? error.notBefore : null };
  }
  return { ...result, outcome: error.code === "address-refused" ? "not-asked" : "failed" };
}

const OUTCOMES = { accepted: "sent", unavailable: "retry", "not-asked": "not-asked", refused: "failed" } as const;

function resultOfAnswer(answer: Answer, { kind }: Change): Result {
  const result = { ...NO_RESULT, ...answer, source: answer.source.url, outcome: OUTCOMES[answer.outcome] };
  // The receiver checked the source and did not find the mention, so it knows.
  const isKnown = kind === "gone" && answer.outcome === "refused" && (answer.status ?? 0) >= 400;
  return isKnown ? { ...result, outcome: "sent", why: null } : result;
}

/**
 * An attempt that the author makes ahead of schedule is not counted and does not move the scheduled one.
 *
 * @returns `null` to give up
 */
function scheduleRetry(
  before: UnfinishedMention | null,
  { notBefore, isAsked }: Pick<Result, "notBefore" | "isAsked">,
  now: number,
  random: () => number,
) {
  const first = Math.min(before?.first ?? now, now);
  if (before && isAttemptAhead(before.next, now)) {
    return { attempts: before.attempts, first, next: Math.max(before.next, notBefore ?? 0) };
  }
  const attempts = (before?.attempts ?? 0) + (isAsked ? 1 : 0);
  const next = nextAttempt({ attempts, first }, notBefore, now, random);
  return next === null ? null : { attempts, first, next };
}

function readHost(url: string): string {
  return new URL(url).host;
}

/** What a report says before an attempt. */
export function toReport({ kind }: Change, { timestamp, nick, target, isLink, network }: LiveMention) {
  return { kind, timestamp, nick, target, isLink, network, endpoint: null, method: null };
}

export function reportOfWaiting(change: WaitingChange): MentionReport {
  const next = new Date(change.unfinished.next).toISOString();
  return { ...toReport(change, change.unfinished), outcome: "waiting", status: null, why: null, next };
}
