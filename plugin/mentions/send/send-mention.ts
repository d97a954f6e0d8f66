// plugin/mentions/send/send-mention.ts: sends one mention: finds its endpoint, posts, records the outcome.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { nextAttempt } from "../../http/retry.js";
import type { HostQueue } from "../host-queue.js";
import { formatReference } from "../reference.js";
import type { Change, FinalOutcome, UnfinishedMention, WaitingChange } from "./changes.js";
import { CircuitBreaker } from "./circuit-breaker.js";
import { type FoundEndpoint, ServerBusyError } from "./discover.js";
import type { EndpointCache } from "./endpoint-cache.js";
import type { MentionLedger, MentionSource } from "./ledger.js";
import { type Answer, postMention, type Source } from "./post-mention.js";

/** The outcome of one mention in a run. */
export interface MentionReport {
  kind: Change["kind"];
  timestamp: string;
  nick: string | null;
  target: string;
  /** `null` if none was found or looked for. */
  endpoint: string | null;
  method: FoundEndpoint["method"] | null;
  /** `would be sent` in a dry run; `retry` failed and is tried again; `waiting` was not tried in this run. */
  outcome: FinalOutcome | "retry" | "waiting" | "would be sent";
  status: number | null;
  /** Half a sentence; `null` for a success. */
  why: string | null;
  /** Time of the next attempt, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  next: string | null;
}

export interface DeliveryOptions {
  ask: Ask;
  ledger: MentionLedger;
  endpoints: EndpointCache;
  queue: HostQueue;
  /** The feed's own URL, for references. */
  identity: string;
  pageOf(timestamp: string): string | null;
  now: Clock;
  random(): number;
  isOver(): boolean;
  isDryRun?: boolean;
}

/** Posts run before queued discoveries, so that a run that ends early has sent what it has looked up. */
const POST_PRIORITY = 1;

/** A failed attempt that is followed by another. */
interface Retry {
  outcome: "retry";
  status: number | null;
  why: string;
  source: Source | null;
  /** From Retry-After, in milliseconds since 1970. */
  notBefore: number | null;
  /** `false` if the circuit breaker answered for the host, which is not counted as an attempt. */
  isAsked: boolean;
}

/** The result of an attempt, before it is recorded. */
type Result =
  | { outcome: FinalOutcome; status: number | null; why: string | null; source: Source | null }
  | Retry
  | { outcome: "waiting" }
  | { outcome: "would be sent" };

type RecordedResult = Pick<MentionReport, "outcome" | "status" | "why" | "next">;

/**
 * Delivers the mentions of one run.
 *
 * Each result is recorded within its request's slot of the queue, so a killed run leaves in doubt only the requests that
 * were under way. After a record fails, nothing more is started: the next run would repeat it.
 */
export class MentionDelivery {
  readonly #options: DeliveryOptions;
  readonly #breaker = new CircuitBreaker<Retry>();
  #hasFailed = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** @throws TwtxtError `store-failed` */
  async send(change: Change): Promise<MentionReport> {
    const { ledger, queue, endpoints } = this.#options;
    const known = await ledger.mentionOf(change);
    const { timestamp, nick, target } = known.mention;
    const blank = { kind: change.kind, timestamp, nick, target, endpoint: null, method: null };
    const postTo = (found: FoundEndpoint) => async () => {
      const { endpoint, method } = found;
      const result = await this.#post(change, known, found);
      if (isUntried(result)) endpoints.noteUntried(target);
      return { ...blank, endpoint, method, ...(await this.#record(change, known, result, endpoint)) };
    };
    const { report } = await queue(hostOf(target), async () => {
      const found = await this.#discover(target);
      if ("outcome" in found) {
        return { report: this.#record(change, known, found, null).then((end) => ({ ...blank, ...end })) };
      }
      // Queued here, before the next discovery of this host starts, but not awaited in this slot.
      return { report: queue(hostOf(found.endpoint), postTo(found), POST_PRIORITY) };
    });
    return report;
  }

  get #isOver(): boolean {
    return this.#hasFailed || this.#options.isOver();
  }

  async #discover(target: string): Promise<FoundEndpoint | Result> {
    if (this.#isOver) return { outcome: "waiting" };
    const { protocol } = new URL(target);
    if (protocol !== "http:" && protocol !== "https:") {
      const why = `mentions are sent over http and https only, not ${protocol}//`;
      return { outcome: "no-endpoint", status: null, why, source: null };
    }
    const paused = this.#breaker.verdictOn(hostOf(target));
    if (paused) return paused;
    try {
      const found = await this.#options.endpoints.discover(target);
      if (found.endpoint !== null) return found;
      return { outcome: "no-endpoint", status: null, why: found.why, source: null };
    } catch (error) {
      const result = resultOfError(error);
      const hasAnswered = error instanceof ServerBusyError && error.notBefore === null;
      return hasAnswered ? result : this.#pauseHost(target, result);
    }
  }

  async #post(change: Change, known: MentionSource, found: FoundEndpoint): Promise<Result> {
    const { ask, endpoints, now, isDryRun } = this.#options;
    if (isDryRun) return { outcome: "would be sent" };
    const { endpoint } = found;
    const sources = await this.#sourcesFor(change, known, found);
    if (this.#isOver) return { outcome: "waiting" };
    const paused = this.#breaker.verdictOn(hostOf(endpoint));
    if (paused) return paused;
    const answer = await postMention(ask, { endpoint, target: known.mention.target, sources }, now);
    if (answer.outcome === "accepted" && answer.source !== sources[0]) {
      // Losing this hint costs one refusal later; an error here must not keep the mention out of the ledger.
      await endpoints.noteForm(endpoint, answer.source.form).catch(() => {});
    }
    const result = resultOfAnswer(answer, change);
    const isSilent = answer.status === null || ("notBefore" in answer && answer.notBefore !== null);
    return isSilent ? this.#pauseHost(endpoint, result) : result;
  }

  /** Skips a host that did not answer, or asked for a pause, for the rest of this run. */
  #pauseHost(url: string, result: Result): Result {
    if (result.outcome === "retry") {
      const host = hostOf(url);
      // The reason names one mention's URL, but applies to all mentions of its host.
      const why = result.why.replaceAll(url, host);
      this.#breaker.open(host, { ...result, why, status: null, source: null, isAsked: false });
    }
    return result;
  }

  /** Sources in the order to try them. A removal repeats the source that the receiver knows. */
  async #sourcesFor(
    change: Change,
    { mention: { timestamp }, source }: MentionSource,
    { endpoint, method }: FoundEndpoint,
  ): Promise<[Source, ...Source[]]> {
    const { endpoints, identity, pageOf } = this.#options;
    const reference: Source = { form: "reference", url: formatReference(identity, timestamp) };
    if (change.kind === "gone" && source !== null) {
      return [{ form: source.includes("#:~:text=") ? "reference" : "page", url: source }];
    }
    const url = pageOf(timestamp);
    if (url === null) return [reference];
    const page: Source = { form: "page", url };
    const preferred = (await endpoints.formOf(endpoint)) ?? (method === "feed field" ? "reference" : "page");
    return preferred === "reference" ? [reference, page] : [page, reference];
  }

  async #record(
    change: Change,
    known: MentionSource,
    result: Result,
    endpoint: string | null,
  ): Promise<RecordedResult> {
    if (result.outcome === "waiting" || result.outcome === "would be sent") {
      return { outcome: result.outcome, status: null, why: null, next: null };
    }
    if (this.#options.isDryRun) return { outcome: result.outcome, status: result.status, why: result.why, next: null };
    try {
      return await this.#writeResult(change, known, result, endpoint);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  async #writeResult(
    change: Change,
    known: MentionSource,
    result: Exclude<Result, { outcome: "waiting" | "would be sent" }>,
    endpoint: string | null,
  ): Promise<RecordedResult> {
    const { ledger, now, random } = this.#options;
    const { status, why } = result;
    const source = result.source?.url ?? known.source;
    const { unfinished } = change;
    // A changed text starts over with its own attempts.
    const before = unfinished?.text === known.mention.text ? unfinished : null;
    const next = result.outcome === "retry" ? scheduleRetry(before, result, now(), random) : null;
    if (next) {
      await ledger.postpone({ ...known, source }, change, { ...next, endpoint, status, why });
      return { outcome: "retry", status, why, next: new Date(next.next).toISOString() };
    }
    // A command ran ahead of schedule. `serve` may be allowed to ask that address, so its attempt stays scheduled.
    if (result.outcome === "not-asked" && before && before.next > now()) {
      return { outcome: "not-asked", status, why, next: new Date(before.next).toISOString() };
    }
    const outcome = result.outcome === "retry" ? "failed" : result.outcome;
    const { timestamp, nick, target } = known.mention;
    await ledger.finish(change, outcome, { timestamp, nick, target, endpoint, source, status, why, at: now() });
    return { outcome, status, why, next: null };
  }
}

function isUntried(result: Result): boolean {
  return result.outcome === "waiting" || (result.outcome === "retry" && !result.isAsked);
}

/** @throws the error itself if it says nothing about a target */
function resultOfError(error: unknown): Result {
  if (!(error instanceof TwtxtError) || error.code === "store-failed") throw error;
  const result = { status: null, why: error.message.replace(/\.$/, ""), source: null };
  if (error.code === "unreachable") {
    const notBefore = error instanceof ServerBusyError ? error.notBefore : null;
    return { ...result, outcome: "retry", notBefore, isAsked: true };
  }
  return { ...result, outcome: error.code === "address-refused" ? "not-asked" : "failed" };
}

function resultOfAnswer(answer: Answer, { kind }: Change): Result {
  switch (answer.outcome) {
    case "accepted":
      return { ...answer, outcome: "sent", why: null };
    case "unavailable":
      return { ...answer, outcome: "retry", isAsked: true };
    case "not-asked":
      return answer;
    case "refused":
      // The receiver looked for a mention that is gone and refused it: it knows.
      return kind === "gone" && (answer.status ?? 0) >= 400
        ? { ...answer, outcome: "sent", why: null }
        : { ...answer, outcome: "failed" };
  }
}

/**
 * An attempt that the author makes ahead of schedule is not counted and does not move the scheduled one.
 *
 * @returns `null` to give up
 */
function scheduleRetry(
  before: UnfinishedMention | null,
  { notBefore, isAsked }: Retry,
  now: number,
  random: () => number,
) {
  const first = before?.first ?? now;
  if (before && before.next > now) {
    return { attempts: before.attempts, first, next: Math.max(before.next, notBefore ?? 0) };
  }
  const attempts = (before?.attempts ?? 0) + (isAsked ? 1 : 0);
  const next = nextAttempt({ attempts, first }, notBefore, now, random);
  return next === null ? null : { attempts, first, next };
}

function hostOf(url: string): string {
  return new URL(url).host;
}

/** The report of a mention that waits for its next attempt. */
export function reportOfWaiting({ kind, unfinished: { timestamp, nick, target, next } }: WaitingChange): MentionReport {
  const untried = { endpoint: null, method: null, outcome: "waiting", status: null, why: null } as const;
  return { kind, timestamp, nick, target, ...untried, next: new Date(next).toISOString() };
}
