// plugin/mentions/receive/manage.ts: the author's signed requests that list, decide and delete mentions.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import {
  type Handler,
  type HttpRequest,
  json,
  parseBody,
  parseLimit,
  parseParameters,
  type RequestHeaders,
} from "../../http/respond.js";
import { type ReadSigned, signedRoute } from "../../http/signed-route.js";
import { TimeSlices } from "../../http/time-slices.js";
import { MAX_MANAGED_PAGE, ROUTES } from "../../site/routes.js";
import { publicMention } from "../inform/list-json.js";
import type { MentionState, StoredMention } from "../mention.js";
import { formatReference } from "../reference.js";
import { toMentionVersion } from "./event.js";
import { ImportBody, importMentions } from "./import-mentions.js";
import { ManagedMention, STATES, type VerifiedPending } from "./managed-mention.js";
import { blockSource, isFrom, isListed, type Moderation } from "./moderation.js";
import type { PendingMention, PendingMentions } from "./pending.js";
import type { ReceivedMentions } from "./received.js";
import type { SiteIndex } from "./site-index.js";
import { newestFirst, parseCursor, shortenPage, takePage } from "./sorted-lists.js";
import type { ClaimProcessor } from "./verify-and-store.js";

const BODY_LIMIT = 1024 * 1024;
const PAGE = 100;
/** Long texts fill a page earlier. A function of Netlify's answers with at most 6 MB. */
const PAGE_BYTES = 4 * 2 ** 20;
/** Time limit of `verify`; the platform ends a function after 60 s. */
const VERIFY_MS = 20_000;

const Decision = v.strictObject({ state: v.picklist(["shown", "held", "rejected"]) });
const SourceDecision = v.strictObject({ state: v.picklist(["held", "rejected"]) });

/** The routes of {@link manageMentions}. */
type ManagedRoute = "mentions" | "verifyMentions" | "importMentions" | "mention";

/**
 * Creates the handlers of the routes below `/api/v1/mentions`. `GET` lists, `POST /:id` decides, `POST ?source=` blocks, `POST /verify` verifies
 * pending mentions, `POST /import` imports mentions that another service verified, `DELETE /:id` and `DELETE ?source=`
 * delete.
 *
 * @see PROTOCOL 2.5, "Managing"
 */
export function manageMentions(parts: ManageParts): Record<ManagedRoute, Handler> {
  const signed = (
    route: ManagedRoute,
    work: (request: HttpRequest, body: Uint8Array, id: string) => Promise<unknown>,
  ) =>
    signedRoute(ROUTES[route], { readSigned: parts.readSigned, maxBytes: BODY_LIMIT }, async (request, body, params) =>
      json(await work(request, body, params.rest ?? "")),
    );
  return {
    mentions: signed("mentions", ({ method, url }, body) => {
      if (method === "GET") return list(parts, url);
      return method === "POST" ? decideSource(parts, url, body) : forgetSource(parts, url);
    }),
    verifyMentions: signed("verifyMentions", () => verify(parts)),
    importMentions: signed("importMentions", (_, body) =>
      importMentions(parseBody(ImportBody, body, "Send at most 500 mentions in the format of the list."), parts),
    ),
    mention: signed("mention", ({ method, headers }, body, id) =>
      method === "POST" ? decide(parts, id, body, headers) : forgetOne(parts, id),
    ),
  };
}

interface ManageParts {
  readSigned: ReadSigned;
  received: ReceivedMentions;
  pending: PendingMentions;
  siteIndex: SiteIndex;
  moderation: Pick<Moderation, "lists" | "blockList">;
  claims: Pick<ClaimProcessor, "verifyPending">;
  guestFeeds: string | null;
  /** Reads the recent threads on other networks. @returns how many */
  readThreads(isOver: () => boolean): Promise<number>;
  now: Clock;
}

async function list({ received, pending, siteIndex, moderation }: ManageParts, url: string) {
  const { id, state = "shown", after, limit } = parseParameters(url, ["id", "state", "after", "limit"]);
  const size = parseLimit(limit, MAX_MANAGED_PAGE, PAGE);
  const known = STATES.find((name) => name === state);
  if (known === undefined) throw new TwtxtError("bad-request", `Expected "state" to be one of ${STATES.join(", ")}.`);
  if (id !== undefined) {
    const waiting = (await pending.all()).filter((mention) => mention.id.startsWith(id)).map(itemOfPending);
    const items = [...(await received.find(id)).map((mention) => itemOfStored(mention, mention.state)), ...waiting];
    return { mentions: items.slice(0, size).map((item) => siteIndex.addTitle(item)), next: null, count: items.length };
  }
  if (known === "pending") {
    const start = after === undefined ? undefined : parseCursor(after);
    const items = (await pending.all()).map((mention) => siteIndex.addTitle(itemOfPending(mention)));
    const older = items.filter((item) => !start || newestFirst(start, item) < 0).sort(newestFirst);
    return { ...toPage(takePage(older, size)), count: items.length };
  }
  const { mentions, next, count } = await received.list({ state: known, limit: size, after });
  const blocked = known === "rejected" && { blocked: (await moderation.blockList?.read()) ?? [] };
  const toItem = (mention: StoredMention) => siteIndex.addTitle(itemOfStored(mention, known));
  return { ...toPage({ items: await new TimeSlices().map(mentions, toItem), next }), count, ...blocked };
}

function toPage(whole: { items: ManagedMention[]; next: string | null }) {
  const { items, next } = shortenPage(whole, PAGE_BYTES, (item) => Buffer.byteLength(JSON.stringify(item)));
  return { mentions: items, next };
}

async function decide(
  parts: ManageParts,
  id: string,
  body: Uint8Array,
  headers: RequestHeaders,
): Promise<ManagedMention> {
  const { state } = parseBody(Decision, body, 'Send {"state": "shown"}, {"state": "held"} or {"state": "rejected"}.');
  const mention = await parts.received.moderate(id, state, decidedVersion(headers, parts));
  if (!mention) throw noSuchMention(id);
  return parts.siteIndex.addTitle(itemOfStored(mention, state));
}

async function forgetOne(parts: ManageParts, id: string): Promise<{ forgotten: number }> {
  const isIt = (mention: { id: string }) => mention.id === id;
  if ((await forget(parts, isIt, isIt)) === 0) throw noSuchMention(id);
  return { forgotten: 1 };
}

function noSuchMention(id: string): TwtxtError {
  return new TwtxtError("not-found", `There is no mention ${JSON.stringify(id.slice(0, 40))}.`);
}

/**
 * Reads the version that the author decided about.
 *
 * @throws TwtxtError `precondition-required` if mentions need approval and the request has no version
 */
function decidedVersion(headers: RequestHeaders, { moderation }: ManageParts): string | null {
  const tag = headers.get("if-match");
  if (tag !== null && tag !== "*") return tag.replace(/^"(.*)"$/, "$1");
  if (!moderation.lists.moderate) return null;
  throw new TwtxtError(
    "precondition-required",
    'Send the "version" from the list as If-Match, since the mention may have changed.',
  );
}

async function forgetSource(parts: ManageParts, url: string): Promise<{ forgotten: number }> {
  const source = readSource(url);
  const isPendingFromSource = (mention: PendingMention) => isListed(source, mention.source);
  return { forgotten: await forget(parts, isPendingFromSource, (mention) => isFrom(source, mention)) };
}

/** Rejects what a source has sent, and will send, until that is undone. */
async function decideSource(parts: ManageParts, url: string, body: Uint8Array): Promise<{ rejected: number }> {
  const source = readSource(url);
  const { state } = parseBody(SourceDecision, body, 'Send {"state": "rejected"} or {"state": "held"}.');
  if (state === "rejected") return { rejected: await blockSource(source, parts) };
  await parts.moderation.blockList?.change(source, false);
  return { rejected: 0 };
}

function readSource(url: string): string {
  const { source } = parseParameters(url, ["source"]);
  if (source) return source;
  throw new TwtxtError("bad-request", 'Expected the parameter "source": a feed, a host or "host:port".');
}

/** Deletes pending and stored mentions. @returns how many */
async function forget(
  { received, pending }: ManageParts,
  isPendingMeant: (mention: PendingMention) => boolean,
  isStoredMeant: (mention: StoredMention) => boolean,
): Promise<number> {
  const waiting = (await pending.all()).filter(isPendingMeant);
  for (const mention of waiting) await pending.drop(mention);
  return (await received.forget(isStoredMeant)) + waiting.length;
}

async function verify({ claims, readThreads, now }: ManageParts): Promise<VerifiedPending> {
  const start = now();
  const isOver = () => now() >= start + VERIFY_MS;
  const [verified, threads] = await Promise.all([
    claims.verifyPending("all", { isOver, steadySince: start }),
    readThreads(isOver),
  ]);
  return threads > 0 ? { ...verified, threads } : verified;
}

function itemOfStored(mention: StoredMention, state: MentionState): ManagedMention {
  const { id, timestamp, author, copy } = mention;
  const shown = publicMention({ ...mention, state: "shown" });
  const html = timestamp === null || author.guest ? shown.html : null;
  const own = { id, version: toMentionVersion(mention), state, html, ...(copy !== undefined && { copy }) };
  // Without the fields that only lists need.
  return v.parse(ManagedMention, { ...shown, ...own });
}

function itemOfPending({ id, source, timestamps, target, under, since }: PendingMention): ManagedMention {
  const [timestamp] = timestamps;
  return {
    id,
    version: null,
    state: "pending",
    source: timestamp === undefined ? source : formatReference(source, timestamp),
    target: target.url,
    under,
    type: null,
    author: null,
    text: null,
    html: null,
    published: null,
    received: new Date(since).toISOString(),
  };
}
