// test/mentions/send/outgoing.ts: Alice's live feed, the sites that it mentions, and runs of the sender.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { type Ask, createGuard } from "../../../plugin/http/guard.js";
import type { FoundEndpoint } from "../../../plugin/mentions/send/discover.js";
import { type SendOptions, type SendReport, sendMentions } from "../../../plugin/mentions/send/send.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { PATIENT_MS } from "../../helpers/longest.js";
import { type LoopbackServer, loopbackRoute, loopbackServer } from "../../helpers/loopback.js";

export const NOW = Date.parse("2026-11-20T09:00:00Z");
/** The page of every twt. */
export const PAGE = "https://alice.example/posts/quinces/";
const ENDPOINT = "/webmention?to=bob&x=%20";

export const TODAY = "2026-11-20T08:00:00Z";
export const DAYS_6 = "2026-11-14T09:00:00Z";
export const DAYS_8 = "2026-11-12T09:00:00Z";
export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

/** A mention that was posted. */
interface Post {
  source: string;
  target: string;
  /** Includes the query. */
  path: string;
  type: string | undefined;
  /** As it was received. */
  body: string;
}

export interface Answer {
  status?: number;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

/** A site that can be mentioned. */
export interface Neighbour extends LoopbackServer {
  feedUrl: string;
  endpoint: string;
  /** The mention as written in a twt. */
  mention: string;
  posts: Post[];
  /** The response to a POST; `undefined` for none. */
  answer: (post: Post, response: ServerResponse) => Answer | Promise<Answer | undefined> | undefined;
  /** Status and headers of all responses to GET. */
  status: number;
  headers: OutgoingHttpHeaders;
}

/** @param method - where the endpoint is declared; `null` for no endpoint */
export async function neighbour(
  nick = "bob",
  method: FoundEndpoint["method"] | null = "feed field",
): Promise<Neighbour> {
  const state: Pick<Neighbour, "posts" | "answer" | "status" | "headers"> = {
    posts: [],
    answer: () => ({ status: 202 }),
    status: 200,
    headers: {},
  };
  const server = await loopbackServer((request, response) => {
    if (request.method === "POST") void take(request, response);
    else respond(response, pageOf(request.url ?? ""));
  });
  const made = { feedUrl: `${server.url}/twtxt.txt`, endpoint: server.url + ENDPOINT };

  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const form = new URLSearchParams(body);
    const post: Post = {
      source: form.getAll("source").join(),
      target: form.getAll("target").join(),
      path: request.url ?? "",
      type: request.headers["content-type"],
      body,
    };
    state.posts.push(post);
    const answer = await state.answer(post, response);
    if (answer) respond(response, answer);
  };
  const pageOf = (path: string): Answer => {
    const isPost = path.startsWith("/posts/");
    if ((path === "/" || isPost) && method === "HTML") {
      return { body: `<a rel="webmention" href="${ENDPOINT}">`, ...html() };
    }
    if (isPost) return { body: "<p>hello", ...html() };
    if (path !== "/twtxt.txt") return { status: 404 };
    const field = method === "feed field" ? `# webmention = ${made.endpoint}\n` : "";
    const link = method === "Link header" ? { link: `<${ENDPOINT}>; rel="webmention"` } : {};
    return { status: state.status, body: `# nick = ${nick}\n${field}\n`, headers: { ...state.headers, ...link } };
  };
  const html = () => ({ headers: { ...state.headers, "content-type": "text/html" } });
  return Object.assign(state, server, made, { mention: `@<${nick} ${made.feedUrl}>` });
}

function respond(response: ServerResponse, { status = 200, headers = {}, body = "" }: Answer): void {
  response.writeHead(status, headers).end(body);
}

/** Alice's published feed. */
export interface Alice extends LoopbackServer {
  feedUrl: string;
  /** By timestamp. */
  twts: Record<string, string>;
  /** Her archives by file name, newest first, each with its twts. */
  archives: Record<string, Record<string, string>>;
  /** Responses that replace those of the site, by path. */
  answers: Record<string, (response: ServerResponse) => void>;
  /** A reference to a twt. */
  twt(timestamp: string): string;
}

export async function alice(): Promise<Alice> {
  const state: Pick<Alice, "twts" | "archives" | "answers"> = { twts: {}, archives: {}, answers: {} };
  const server = await loopbackServer((request, response) => {
    const path = request.url ?? "";
    const names = ["twtxt.txt", ...Object.keys(state.archives)];
    const at = names.indexOf(path.slice(1));
    const answer = state.answers[path];
    if (answer) return answer(response);
    if (at < 0) return respond(response, { status: 404 });
    const next = names[at + 1];
    const header = `# nick = alice\n# url = ${feedUrl}\n${next === undefined ? "" : `# prev = abcdefghijkl ${next}\n`}`;
    const twts = at === 0 ? state.twts : (state.archives[path.slice(1)] ?? {});
    const lines = Object.entries(twts).map(([timestamp, twt]) => `${timestamp}\t${twt}\n`);
    respond(response, { body: `${header}\n${lines.join("")}`, headers: { "content-type": "text/plain" } });
  });
  const feedUrl = `${server.url}/twtxt.txt`;
  return Object.assign(state, server, { feedUrl, twt: (timestamp: string) => `${feedUrl}#:~:text=${timestamp}` });
}

/** Alice's site, and the sender on her machine. */
export interface World {
  ask: Ask;
  alice: Alice;
  store: Store;
  /** In milliseconds since 1970; tests may set it. */
  clock: { time: number };
  /** One run of the sender. */
  send(options?: Partial<SendOptions>): Promise<SendReport>;
}

interface WorldOptions {
  store?: Store;
}

/** @param neighbours - the servers that the guard lets through */
export async function world(neighbours: readonly LoopbackServer[], options: WorldOptions = {}): Promise<World> {
  const made = await alice();
  const { store = memoryStore() } = options;
  const clock = { time: NOW };
  const ask = createGuard({
    userAgent: "test/1",
    allowPrivateHosts: [made, ...neighbours].map(({ host }) => host),
    route: loopbackRoute,
    totalMs: PATIENT_MS,
    firstByteMs: PATIENT_MS,
  });
  return {
    ask,
    alice: made,
    store,
    clock,
    send: (more = {}) =>
      sendMentions({
        ask,
        store,
        feedUrl: made.feedUrl,
        findPage: () => PAGE,
        now: () => clock.time,
        random: () => 0.5,
        sleep: sleepWithoutClock,
        ...more,
      }),
  };
}

/** Alice's site, whose guard lets Bob's through. */
export async function worldWithBob(method?: FoundEndpoint["method"] | null, options: WorldOptions = {}) {
  const bob = await neighbour("bob", method);
  return { bob, home: await world([bob], options) };
}

/** With a signal, sleeps until that aborts; otherwise for a millisecond. The clock does not move. */
function sleepWithoutClock(_: number, signal?: AbortSignal): Promise<void> {
  return signal
    ? new Promise((resolve) => signal.addEventListener("abort", () => resolve()))
    : setTimeout(1).then(() => {});
}

/** The outcome of each mention: kind, outcome and status. */
export function outcomes({ mentions }: SendReport): string[] {
  return mentions.map(({ kind, outcome, status }) => [kind, outcome, status].filter((part) => part !== null).join(" "));
}

/** A response instead of the feed. */
export function badAnswer(kind: string, response: ServerResponse): void {
  if (kind === "404" || kind === "500") response.writeHead(Number(kind)).end("# nick = alice\n");
  if (kind === "a page") response.end(`<!doctype html>\n# nick = alice\n${DAYS_6}\thi\n`);
  if (kind === "an empty body") response.end();
  if (kind === "a redirect loop") response.writeHead(302, { location: "/twtxt.txt" }).end();
  if (kind === "a broken connection") {
    response.writeHead(200, { "content-length": 1000 });
    response.write("# nick = alice\n\n", () => response.destroy());
  }
}
