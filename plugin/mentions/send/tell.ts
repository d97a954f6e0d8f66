// plugin/mentions/send/tell.ts: sends one mention, from the discovery of its endpoint to the ledger.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { nextAttempt } from "../../http/retry.js";
import type { PoliteQueue } from "../polite-queue.js";
import { formatReference } from "../reference.js";
import type { Change, Ending, UnfinishedMention, Waiting } from "./changes.js";
import { CircuitBreaker } from "./circuit-breaker.js";
import { type FoundEndpoint, NotNow } from "./discover.js";
import type { EndpointCache } from "./endpoints.js";
import type { KnownMention, MentionLedger } from "./ledger.js";
import { type Answer, postMention, type Source } from "./post-mention.js";

/** What became of a mention. */
export interface MentionReport {
  kind: Change["kind"];
  timestamp: string;
  nick: string | null;
  target: string;
  /** `null` where none was found or looked for. */
  endpoint: string | null;
  method: FoundEndpoint["method"] | null;
  /** `would be sent` in a dry run; `retry` is tried again, `waiting` was not tried now. */
  outcome: Ending | "retry" | "waiting" | "would be sent";
  status: number | null;
  /** Half a sentence; `null` where all went well. */
  why: string | null;
  /** When it is tried again, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  next: string | null;
}

export interface TellOptions {
  ask: Ask;
  ledger: MentionLedger;
  endpoints: EndpointCache;
  queue: PoliteQueue;
  /** The feed's own URL, for references. */
  identity: string;
  pageOf(timestamp: string): string | null;
  now: Clock;
  random(): number;
  isOver(): boolean;
  isDryRun?: boolean;
}

/** A POST goes before the discoveries that wait: a run that ends early has sent what it has looked up. */
const POST_PRIORITY = 1;

/** A mention that did not get through. */
interface Postponed {
  outcome: "retry";
  status: number | null;
  why: string;
  source: Source | null;
  /** What the other side has asked for, in milliseconds since 1970. */
  notBefore: number | null;
  /** `false` if the circuit breaker answered for the host: that is no attempt. */
  isAsked: boolean;
}

/** How it went, before it is written down. */
type Result =
  | { outcome: Ending; status: number | null; why: string | null; source: Source | null }
  | Postponed
  | { outcome: "waiting" }
  | { outcome: "would be sent" };

/**
 * Makes the function that tells one mention.
 *
 * It writes down what came of it while it has its turn still, so that a run that is killed leaves no more mentions in
 * doubt than there are requests under way. Once that has failed it starts no more: the next run would repeat them.
 *
 * @returns a function that throws TwtxtError `store-failed`
 */
export function teller(all: TellOptions): (change: Change) => Promise<MentionReport> {
  let isLost = false;
  const options = { ...all, isOver: () => isLost || all.isOver(), breaker: new CircuitBreaker<Postponed>() };
  const note = (change: Change, known: KnownMention, result: Result, endpoint: string | null) =>
    conclude(change, known, result, endpoint, options).catch((error: unknown) => {
      isLost = true;
      throw error;
    });

  return async (change) => {
    const known = await options.ledger.mentionOf(change);
    const { timestamp, nick, target } = known.mention;
    const blank = { kind: change.kind, timestamp, nick, target, endpoint: null, method: null };
    const postTo = (found: FoundEndpoint) => async () => {
      const { endpoint, method } = found;
      const result = await post(change, known, found, options);
      if (isUntried(result)) options.endpoints.noteUntried(target);
      return { ...blank, endpoint, method, ...(await note(change, known, result, endpoint)) };
    };
    const { report } = await options.queue(hostOf(target), async () => {
      const found = await discover(target, options);
      if ("outcome" in found) return { report: note(change, known, found, null).then((end) => ({ ...blank, ...end })) };
      // Queued before this host's turn ends, so that no other discovery comes between; not awaited in it.
      return { report: options.queue(hostOf(found.endpoint), postTo(found), POST_PRIORITY) };
    });
    return report;
  };
}

type Telling = TellOptions & { breaker: CircuitBreaker<Postponed> };

async function discover(target: string, { endpoints, isOver, breaker }: Telling): Promise<FoundEndpoint | Result> {
  if (isOver()) return { outcome: "waiting" };
  const { protocol } = new URL(target);
  if (protocol !== "http:" && protocol !== "https:") {
    const why = `mentions go over http and https alone, and this is ${protocol}//`;
    return { outcome: "no-endpoint", status: null, why, source: null };
  }
  const paused = breaker.verdictOn(hostOf(target));
  if (paused) return paused;
  try {
    const found = await endpoints.discover(target);
    if (found.endpoint !== null) return found;
    return { outcome: "no-endpoint", status: null, why: found.why, source: null };
  } catch (error) {
    const verdict = verdictOf(error);
    const hasAnswered = error instanceof NotNow && error.notBefore === null;
    return hasAnswered ? verdict : pauseHost(target, verdict, breaker);
  }
}

/** A host that gives no answer, or asks for a pause, is not asked again in this run. */
function pauseHost(url: string, result: Result, breaker: Telling["breaker"]): Result {
  if (result.outcome === "retry") {
    const host = hostOf(url);
    // The reason names the URL of one mention, and holds for all mentions of its host.
    const why = result.why.replaceAll(url, host);
    breaker.open(host, { ...result, why, status: null, source: null, isAsked: false });
  }
  return result;
}

function isUntried(result: Result): boolean {
  return result.outcome === "waiting" || (result.outcome === "retry" && !result.isAsked);
}

/** @throws what is no verdict on a target */
function verdictOf(error: unknown): Result {
  if (!(error instanceof TwtxtError) || error.code === "store-failed") throw error;
  const verdict = { status: null, why: error.message.replace(/\.$/, ""), source: null };
  if (error.code === "unreachable") {
    const notBefore = error instanceof NotNow ? error.notBefore : null;
    return { ...verdict, outcome: "retry", notBefore, isAsked: true };
  }
  return { ...verdict, outcome: error.code === "address-refused" ? "not-asked" : "failed" };
}

async function post(change: Change, known: KnownMention, found: FoundEndpoint, options: Telling): Promise<Result> {
  const { ask, endpoints, now, isOver, isDryRun, breaker } = options;
  if (isDryRun) return { outcome: "would be sent" };
  const { endpoint } = found;
  const sources = await sourcesFor(change, known, found, options);
  if (isOver()) return { outcome: "waiting" };
  const paused = breaker.verdictOn(hostOf(endpoint));
  if (paused) return paused;
  const answer = await postMention(ask, { endpoint, target: known.mention.target, sources }, now);
  if (answer.outcome === "accepted" && answer.source !== sources[0]) {
    // A hint that is lost costs one more refusal; the mention itself is known, and must be written down as such.
    await endpoints.noteForm(endpoint, answer.source.form).catch(() => {});
  }
  const result = resultOf(answer, change);
  const isSilent = answer.status === null || ("notBefore" in answer && answer.notBefore !== null);
  return isSilent ? pauseHost(endpoint, result, breaker) : result;
}

function resultOf(answer: Answer, { kind }: Change): Result {
  switch (answer.outcome) {
    case "accepted":
      return { ...answer, outcome: "sent", why: null };
    case "unavailable":
      return { ...answer, outcome: "retry", isAsked: true };
    case "not-asked":
      return answer;
    case "refused":
      // A receiver that looks, finds the mention gone and refuses it has learned what there was to learn.
      return kind === "gone" && (answer.status ?? 0) >= 400
        ? { ...answer, outcome: "sent", why: null }
        : { ...answer, outcome: "failed" };
  }
}

/** The form that suits the endpoint first. What is gone is known by the very source by which it was known before. */
async function sourcesFor(
  change: Change,
  { mention: { timestamp }, source }: KnownMention,
  { endpoint, method }: FoundEndpoint,
  { endpoints, identity, pageOf }: TellOptions,
): Promise<[Source, ...Source[]]> {
  const reference: Source = { form: "reference", url: formatReference(identity, timestamp) };
  if (change.kind === "gone" && source !== null) {
    return [{ form: source.includes("#:~:text=") ? "reference" : "page", url: source }];
  }
  const url = pageOf(timestamp);
  if (url === null) return [reference];
  const page: Source = { form: "page", url };
  const wanted = (await endpoints.formOf(endpoint)) ?? (method === "feed field" ? "reference" : "page");
  return wanted === "reference" ? [reference, page] : [page, reference];
}

/** Writes down how it went. */
async function conclude(
  change: Change,
  known: KnownMention,
  result: Result,
  endpoint: string | null,
  { ledger, now, random, isDryRun }: TellOptions,
): Promise<Pick<MentionReport, "outcome" | "status" | "why" | "next">> {
  if (result.outcome === "waiting" || result.outcome === "would be sent") {
    return { outcome: result.outcome, status: null, why: null, next: null };
  }
  const { status, why } = result;
  if (isDryRun) return { outcome: result.outcome, status, why, next: null };

  const source = result.source?.url ?? known.source;
  const { unfinished } = change;
  // Another text is another mention, with attempts of its own.
  const before = unfinished?.text === known.mention.text ? unfinished : null;
  const next = result.outcome === "retry" ? nextOf(before, result, now(), random) : null;
  if (next) {
    await ledger.postpone({ ...known, source }, change, { ...next, endpoint, status, why });
    return { outcome: "retry", status, why, next: new Date(next.next).toISOString() };
  }
  // Ahead of time by a command: `serve` may be allowed to ask that address, and tries it as announced.
  if (result.outcome === "not-asked" && before && before.next > now()) {
    return { outcome: "not-asked", status, why, next: new Date(before.next).toISOString() };
  }
  const ending = result.outcome === "retry" ? "failed" : result.outcome;
  const { timestamp, nick, target } = known.mention;
  await ledger.finish(change, ending, { timestamp, nick, target, endpoint, source, status, why, at: now() });
  return { outcome: ending, status, why, next: null };
}

/**
 * An attempt ahead of time, which the author has asked for, does not count and does not move the announced one.
 *
 * @returns `null` where it is given up
 */
function nextOf(
  before: UnfinishedMention | null,
  { notBefore, isAsked }: Postponed,
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

/** What is reported of a mention that waits for its next attempt. */
export function reportOfWaiting({ kind, unfinished: { timestamp, nick, target, next } }: Waiting): MentionReport {
  const untried = { endpoint: null, method: null, outcome: "waiting", status: null, why: null } as const;
  return { kind, timestamp, nick, target, ...untried, next: new Date(next).toISOString() };
}
