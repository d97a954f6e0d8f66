// plugin/mentions/send/discover.ts: finds the endpoint of a mention or a link, or the reason why it has none.
import type { Element } from "hast";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { memoize } from "../../concurrency.js";
import { TwtxtError } from "../../errors.js";
import { parseFeed } from "../../feed/feed.js";
import { endpointInHeader, firstEndpoint, startsAsMarkup } from "../../http/feed-file.js";
import type { Ask, GuardedResponse } from "../../http/guard.js";
import { findBase, hasRel, parseHtml, readHref, walkElements } from "../../http/parse-html.js";
import { freshUntil, parseRetryAfter } from "../../http/retry.js";
import { isFeedUrl, isSmallWeb, resolveUrl } from "../../url.js";
import type { LiveMention } from "./live-feed.js";

export const FoundEndpoint = v.object({
  /** http or https, without credentials and fragment. Its address is checked when it is requested. */
  endpoint: v.string(),
  method: v.picklist(["feed field", "Link header", "HTML"]),
  /** Milliseconds since 1970 until which this may be reused; `null` for this run only. */
  freshUntil: v.nullable(v.number()),
});
export type FoundEndpoint = v.InferOutput<typeof FoundEndpoint>;

export const NoEndpoint = v.object({
  endpoint: v.null(),
  /** Half a sentence for the author. */
  why: v.string(),
  freshUntil: v.nullable(v.number()),
});
type NoEndpoint = v.InferOutput<typeof NoEndpoint>;

/** @param target - the URL of a feed or a page; its fragment is ignored */
export type Discover = (target: string) => Promise<FoundEndpoint | NoEndpoint>;

/** `unreachable`: the server answered 429 or 5xx. */
export class ServerBusyError extends TwtxtError {
  constructor(
    message: string,
    /** From Retry-After, milliseconds since 1970; `null` without one. */
    readonly notBefore: number | null,
  ) {
    super("unreachable", message);
  }
}

const MAX_BYTES = 1 << 20;

/**
 * Creates the function that finds the endpoint of a target. It requests each target once, and each site's front page
 * once.
 *
 * @returns a function that throws TwtxtError `unreachable` for temporary failures ({@link ServerBusyError} for 429 and
 *   5xx), `address-refused`, `too-many-redirects` and `bad-compression`
 * @see PROTOCOL 2.2
 */
export function createDiscover({ ask, now }: { ask: Ask; now(): number }): Discover {
  const askNow = (url: string) => askOnce(ask, url, now);

  const onFrontPage = memoize(async (url) => {
    const response = await askNow(url);
    const fresh = freshUntil(response.headers, now());
    if (!isGood(response)) return { endpoint: null, freshUntil: fresh };
    const { kind, text } = await readTarget(response, true);
    return { endpoint: kind === "page" ? await endpointInHtml(text, response.url) : null, freshUntil: fresh };
  });

  const discover = memoize(async (target): Promise<FoundEndpoint | NoEndpoint> => {
    const response = await askNow(target);
    const fresh = freshUntil(response.headers, now());
    const none = (why: string) => ({ endpoint: null, why, freshUntil: fresh });
    const { status } = response;
    if (!isGood(response)) {
      return none(status === 404 || status === 410 ? `nothing is there (${status})` : `their server answers ${status}`);
    }

    const { kind, found } = await searchTarget(response);
    if (found !== null) return { ...found, freshUntil: fresh };
    if (kind === "page") return none("no endpoint in the page or its headers");

    if (isSmallWeb(response.url)) return none("no endpoint in the feed");
    const front = await onFrontPage(new URL("/", response.url).href);
    const both = fresh === null || front.freshUntil === null ? null : Math.min(fresh, front.freshUntil);
    if (front.endpoint !== null) return { endpoint: front.endpoint, method: "HTML", freshUntil: both };
    return { ...none("no endpoint in the feed, its headers or its site"), freshUntil: both };
  });
  return (target) => discover(target.replace(/#.*$/s, ""));
}

async function searchTarget(
  response: GuardedResponse,
): Promise<{ kind: TargetStart["kind"]; found: Pick<FoundEndpoint, "endpoint" | "method"> | null }> {
  const inHeaders = firstEndpoint(linkTargets(response.headers.link ?? "", "webmention"), response.url);
  const { kind, text } = await readTarget(response, inHeaders === null);
  const inFeed = kind === "feed" ? endpointInHeader(parseFeed(text).header, response.url) : null;
  if (inFeed !== null) return { kind, found: { endpoint: inFeed, method: "feed field" } };
  if (inHeaders !== null) return { kind, found: { endpoint: inHeaders, method: "Link header" } };

  const inPage = kind === "page" ? await endpointInHtml(text, response.url) : null;
  return { kind, found: inPage === null ? null : { endpoint: inPage, method: "HTML" } };
}

type MentionTarget = Pick<LiveMention, "target" | "isLink">;

/**
 * Half a sentence why a target is not requested.
 *
 * @param isBlocked - whether the option `mentions.block` names a URL; applies to links
 * @returns `null` if it is requested
 */
export function whyNotRequested({ target, isLink }: MentionTarget, isBlocked: (url: string) => boolean): string | null {
  if (isLink && isBlocked(target)) return "blocked by the option mentions.block";
  const { protocol } = new URL(target);
  return isFeedUrl(target) ? null : `feeds are read over http, https, gemini and gopher only, not ${protocol}//`;
}

/**
 * Finds the endpoint of a target.
 *
 * @returns `why` is half a sentence
 * @throws as `discover`
 */
export async function findEndpoint(
  { target, isLink }: MentionTarget,
  discover: Discover,
): Promise<FoundEndpoint | { endpoint: null; why: string }> {
  const found = await discover(target);
  if (!isLink || found.endpoint === null || found.method !== "feed field") return found;
  return { endpoint: null, why: "its author is notified of mentions, not of links" };
}

/** @throws ServerBusyError for 429 and 5xx; also as the guard does */
async function askOnce(ask: Ask, url: string, now: Clock): Promise<GuardedResponse> {
  const response = await ask(url, { maxBytes: MAX_BYTES, isFeed: true });
  if (isGood(response)) return response;
  response.close();
  if (response.status !== 429 && response.status < 500) return response;
  const notBefore = parseRetryAfter(response.headers["retry-after"], now());
  throw new ServerBusyError(`${url} answers ${response.status}.`, notBefore);
}

function isGood({ status }: GuardedResponse): boolean {
  return status >= 200 && status < 300;
}

interface TargetStart {
  kind: "feed" | "page" | "other";
  /** Everything before a feed's first twt, or a page's HTML. */
  text: string;
}

/**
 * Reads a response up to the point where its endpoint must appear. A response above the size limit counts up to the limit.
 *
 * @param isPageNeeded - whether a page's HTML is needed, or only its kind
 * @throws TwtxtError what the body throws, except `too-large`
 * @see PROTOCOL 2.2
 */
async function readTarget(response: GuardedResponse, isPageNeeded: boolean): Promise<TargetStart> {
  const isHtml = /^\s*(text\/html|application\/xhtml\+xml)\s*(;|,|$)/i.test(response.headers["content-type"] ?? "");
  const lines: string[] = [];
  let kind: TargetStart["kind"] | null = null;
  for await (const line of readLines(response.body)) {
    if (kind === null && line.trim() !== "") kind = detectKind(line, isHtml);
    const isEnough = kind === "feed" ? isTwt(line) : kind === "page" ? !isPageNeeded : kind === "other";
    if (isEnough) break;
    lines.push(line);
  }
  return { kind: kind ?? "other", text: lines.join("\n") };
}

/** A feed may be served as HTML; a page is not a feed under any content type. */
function detectKind(firstLine: string, isHtml: boolean): TargetStart["kind"] {
  if (firstLine.startsWith("#") || isTwt(firstLine)) return "feed";
  if (isHtml) return "page";
  return startsAsMarkup(firstLine) ? "other" : "feed";
}

function isTwt(line: string): boolean {
  return line.includes("\t") && parseFeed(line).twts.length > 0;
}

async function* readLines(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let open = "";
  try {
    for await (const chunk of body) {
      const [end = "", ...next] = decoder.decode(chunk, { stream: true }).split("\n");
      open += end;
      for (const line of next) {
        yield open;
        open = line;
      }
    }
  } catch (error) {
    if (!(error instanceof TwtxtError && error.code === "too-large")) throw error;
  }
  yield open + decoder.decode();
}

/** A quoted value, perhaps without its last quote, or one up to the next separator. */
const VALUE = String.raw`"(?:[^"\\]|\\.)*"?|[^;,]*`;
/** A parameter with its name and value. Text between its value and the next semicolon is ignored. */
const PARAMETER = String.raw`;([^=;,]*)(?:=\s*(${VALUE}))?[^;,]*`;
const PARAMETERS = new RegExp(PARAMETER, "gs");
/** A link with its target and parameters, or something else up to the next comma. */
const LINK = new RegExp(String.raw`[\s,]*(?:<([^>]*)>([^;,]*(?:${PARAMETER})*)|[^\s,<][^,]*)`, "gsy");

/**
 * The first usable endpoint that the `link` and `a` elements of a page name, in document order.
 *
 * @param pageUrl - the URL of the page after redirects
 * @see PROTOCOL 2.2, W3C Webmention 3.1.2
 */
async function endpointInHtml(html: string, pageUrl: string): Promise<string | null> {
  const elements = [...walkElements((await parseHtml(html)).tree)];
  const base = findBase(elements, pageUrl);
  const links = elements.filter(isEndpoint).map(readHref);
  const urls = links.map((href) => (href === "" ? pageUrl : resolveUrl(href ?? "", base)));
  return firstEndpoint(
    urls.filter((url) => url !== null),
    pageUrl,
  );
}

function isEndpoint(element: Element): boolean {
  const isLink = element.tagName === "link" || element.tagName === "a";
  return isLink && readHref(element) !== null && hasRel(element, "webmention");
}

/**
 * The targets of the links that have a relation, in order.
 *
 * A link with an `anchor` belongs to another page and is left out. A malformed link is skipped up to the next comma.
 *
 * @param header - the values of all `Link` headers, joined by commas
 * @param rel - in lower case
 * @returns the targets as written, possibly relative; in time linear in the header's length
 * @example linkTargets('</next>; rel=next, </wm>; rel="x webmention"', "webmention") // ["/wm"]
 * @see RFC 8288, 3 and B.3
 */
export function linkTargets(header: string, rel: string): string[] {
  const targets: string[] = [];
  for (const [, target, rest = ""] of header.matchAll(LINK)) {
    const parameters = parseParameters(rest);
    const rels = parameters.get("rel")?.toLowerCase().split(/\s+/) ?? [];
    if (target !== undefined && rels.includes(rel) && !parameters.has("anchor")) targets.push(target.trim());
  }
  return targets;
}

/** @returns values by lowercase name; the first of each counts */
function parseParameters(text: string): Map<string, string> {
  const found = [...text.matchAll(PARAMETERS)].map(
    ([, name = "", value = ""]) => [name.trim().toLowerCase(), unquoted(value.trim())] as const,
  );
  return new Map(found.reverse());
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.replace(/^"|"$/g, "").replace(/\\(.)/gs, "$1") : value;
}
