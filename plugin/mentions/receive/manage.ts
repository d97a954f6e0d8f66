// plugin/mentions/receive/manage.ts: what the author does with mentions, by signed requests.

import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { parseLimit, parseParameters } from "../../http/parameters.js";
import { type Handler, json, methodNotAllowed, type RequestContext } from "../../http/respond.js";
import { isSameHost } from "../../http/same-url.js";
import { ROUTES, type RouteName } from "../../site/routes.js";
import type { MentionState, StoredMention } from "../mention.js";
import { formatReference, sourceOf } from "../reference.js";
import { versionOf } from "./event.js";
import { isListed, type Moderation } from "./moderate.js";
import { newestFirst, pageOf } from "./page.js";
import type { PendingMention, PendingMentions } from "./pending.js";
import type { ReceivedMentions } from "./received.js";
import type { SiteIndex } from "./site-index.js";
import { TakeOver, takeOver } from "./take-over.js";
import type { VerifiedPending } from "./verify-pending.js";

const STATES = ["shown", "held", "rejected", "pending"] as const;
/** Methods whose requests must be signed even where a route does not allow them. */
const SIGNED_METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const BODY_LIMIT = 1024 * 1024;
const PAGE = 100;
/** The handler's own bound for `verify`; the platform ends a function after 60 s. */
const VERIFY_MS = 20_000;

const Decision = v.strictObject({ state: v.picklist(["shown", "rejected"]) });

/** What the list answers with: those that are stored, or those that wait for their verification. */
export interface ManagedMention {
  id: string;
  /** Names what of it is shown; a decision sends it as `If-Match`. `null` for what is pending. */
  version: string | null;
  state: MentionState | "pending";
  source: string;
  target: string;
  under: string | null;
  type: StoredMention["type"] | null;
  author: StoredMention["author"] | null;
  text: string | null;
  published: string | null;
  received: string;
}

/** The handlers of the routes below `/api/v1/mentions`. */
export type ManageHandlers = Record<"mentions" | "verify" | "import" | "mention", Handler>;

/**
 * `GET` lists, `POST /:id` decides, `POST /verify` verifies what is pending, `POST /import` imports what another service
 * has verified, `DELETE /:id` and `DELETE ?source=` forget. GET changes nothing.
 *
 * @see PROTOCOL 2.5, "Managing"
 */
export function manageMentions(parts: ManageParts): ManageHandlers {
  const signed = (route: RouteName, work: (request: Request, body: Uint8Array, id: string) => Promise<unknown>) => {
    const methods: readonly string[] = ROUTES[route].methods;
    return async (request: Request, { params }: RequestContext) => {
      if (!SIGNED_METHODS.includes(request.method)) return methodNotAllowed(methods);
      const body = await parts.readSigned(request, BODY_LIMIT);
      if (!methods.includes(request.method)) return methodNotAllowed(methods);
      return json(await work(request, body, params.rest ?? ""));
    };
  };
  return {
    mentions: signed("mentions", ({ method, url }) => (method === "GET" ? list(parts, url) : forgetSource(parts, url))),
    verify: signed("verifyMentions", () => verify(parts)),
    import: signed("importMentions", (_, body) =>
      takeOver(parsed(TakeOver, body, "Send at most 500 mentions as the list has them."), parts),
    ),
    mention: signed("mention", ({ method, headers }, body, id) =>
      method === "POST" ? decide(parts, id, body, headers) : forgetOne(parts, id),
    ),
  };
}

export interface ManageParts {
  /**
   * The body of a request that the author has signed.
   *
   * @throws TwtxtError `not-signed`, `not-allowed`, `body-too-large`
   */
  readSigned(request: Request, maxBytes: number): Promise<Uint8Array>;
  received: ReceivedMentions;
  pending: PendingMentions;
  siteIndex: SiteIndex;
  moderation: Pick<Moderation, "moderate">;
  verifyPending(which: "all", isOver: () => boolean): Promise<VerifiedPending>;
  now: Clock;
}

async function list({ received, pending }: ManageParts, url: string) {
  const { state = "shown", after, limit } = parseParameters(url, ["state", "after", "limit"]);
  const size = parseLimit(limit, PAGE);
  const known = STATES.find((name) => name === state);
  if (known === undefined) throw new TwtxtError("bad-request", `"state" is one of ${STATES.join(", ")}.`);
  if (known === "pending") {
    return pageOf((await pending.all()).map(shownPending).sort(newestFirst), { after, limit: size });
  }
  const page = await received.list({ state: known, limit: size, ...(after !== undefined && { after }) });
  return { mentions: page.mentions.map(shownStored), next: page.next };
}

async function decide(parts: ManageParts, id: string, body: Uint8Array, headers: Headers): Promise<ManagedMention> {
  const { state } = parsed(Decision, body, 'Send {"state": "shown"} or {"state": "rejected"}.');
  const mention = await parts.received.moderate(id, state, decidedVersion(headers, parts));
  if (!mention) throw noSuchMention(id);
  return shownStored(mention);
}

async function forgetOne({ received, pending }: ManageParts, id: string): Promise<{ forgotten: number }> {
  const waiting = (await pending.all()).filter((mention) => mention.id === id);
  for (const mention of waiting) await pending.drop(mention);
  const forgotten = await received.forget((mention) => mention.id === id);
  if (forgotten.length + waiting.length === 0) throw noSuchMention(id);
  return { forgotten: 1 };
}

function noSuchMention(id: string): TwtxtError {
  return new TwtxtError("not-found", `There is no mention ${JSON.stringify(id.slice(0, 40))}.`);
}

/**
 * The version that the author has decided about: what is approved is what was seen.
 *
 * @throws TwtxtError `precondition-required` where each mention is approved and the decision names no version
 */
function decidedVersion(headers: Headers, { moderation }: ManageParts): string | null {
  const tag = headers.get("if-match");
  if (tag !== null && tag !== "*") return tag.replace(/^"(.*)"$/, "$1");
  if (!moderation.moderate) return null;
  throw new TwtxtError(
    "precondition-required",
    'Send the "version" of the list as If-Match: the mention may have changed.',
  );
}

async function forgetSource({ received, pending }: ManageParts, url: string) {
  const { source } = parseParameters(url, ["source"]);
  if (!source) throw new TwtxtError("bad-request", 'Say which "source": a feed, a host or "host:port".');
  const waiting = (await pending.all()).filter((mention) => isListed(source, mention.source));
  for (const mention of waiting) await pending.drop(mention);
  // Anyone may have told a mention first, by a redirect from another host.
  const isMeant = ({ identity, given }: StoredMention) =>
    isListed(source, identity) || (isSameHost(given, identity) && isListed(source, given));
  return { forgotten: (await received.forget(isMeant)).length + waiting.length };
}

function verify({ verifyPending, now }: ManageParts): Promise<VerifiedPending> {
  const end = now() + VERIFY_MS;
  return verifyPending("all", () => now() >= end);
}

function shownStored(mention: StoredMention): ManagedMention {
  const { id, state, target, under, type, author, text, published, received } = mention;
  const version = versionOf(mention);
  return { id, version, state, source: sourceOf(mention), target, under, type, author, text, published, received };
}

function shownPending({ id, source, timestamps, target, under, since }: PendingMention): ManagedMention {
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
    published: null,
    received: new Date(since).toISOString(),
  };
}

function parsed<S extends v.GenericSchema>(schema: S, body: Uint8Array, expected: string): v.InferOutput<S> {
  try {
    return v.parse(schema, JSON.parse(Buffer.from(body).toString()));
  } catch (cause) {
    throw new TwtxtError("bad-request", expected, { cause });
  }
}
