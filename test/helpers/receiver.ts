// test/helpers/receiver.ts: Alice's site with its real endpoints, without a host.

import { type SiteServices, siteServices } from "../../plugin/host/site-services.js";
import { BackgroundWork } from "../../plugin/host/work.js";
import type { GuardOptions } from "../../plugin/http/guard.js";
import { toResponse } from "../../plugin/http/respond.js";
import type { TwtxtOptions } from "../../plugin/options.js";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import type { HostSettings, SitePages } from "../../plugin/site/site.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { builtHostSettings } from "./built-site.js";
import { PATIENT_MS } from "./longest.js";
import { type LoopbackServer, loopbackRoute, loopbackServer } from "./loopback.js";

export const FEED = "https://alice.example/twtxt.txt";
export const PAGE = "https://alice.example/posts/quinces/";
/** The twt of `PAGE`. */
export const TWT = {
  timestamp: "2026-10-04T07:12:30Z",
  hashes: ["ghijklm", "abcdefghijkl"],
  page: PAGE,
  replyTo: null,
};

export interface Receiver {
  services: SiteServices;
  /** Responds as a host does; 404 if no endpoint has the path. */
  answer(request: Request, address?: string): Promise<Response>;
  store: StreamingStore;
  /** Milliseconds since 1970; a test may set it. */
  clock: { time: number };
  log: string[];
  /** The names of the jobs that have run, each as often as it has. */
  jobs: string[];
  /** Waits for background work. */
  settled(): Promise<void>;
  /** Cache tags that were purged. */
  purged: string[];
  mentioned(
    form: { source: string; target: string } | string,
    /** The sender's network address. */
    address?: string,
  ): Promise<{ status: number; code: string | null; text: string }>;
  /** The public list of mentions. */
  mentions(target?: string): Promise<PublicMention[]>;
}

export interface ReceiverOptions {
  store?: StreamingStore;
  mentions?: Exclude<TwtxtOptions["mentions"], false | undefined>;
  key?: string;
  lang?: string;
  inbox?: HostSettings["inbox"];
  /** Default: a URL that cannot be reached, so that no mention is sent. */
  feedUrl?: string;
  /** Default: {@link PAGES}. */
  pages?: SitePages;
  /** The feeds that Alice follows in her timeline; default: she has no timeline. */
  follow?: NonNullable<HostSettings["timeline"]>["follow"];
  /** Servers on this machine to which the guard may connect. */
  neighbours?: readonly Pick<LoopbackServer, "host">[];
  /** The environment variables of its host. */
  environment?: Record<string, string>;
  /** Whether its host bills by the second; default true. */
  isMetered?: boolean;
  /** Whether visitors see this build; default true. */
  isLive?: boolean;
  /** DNS lookup; default: the system's. */
  lookup?: GuardOptions["lookup"];
  /** The servers on this machine that answer for hosts on the web, without TLS. */
  hosts?: Readonly<Record<string, Pick<LoopbackServer, "port">>>;
}

export function receiver(options: ReceiverOptions = {}): Receiver {
  const store = options.store ?? memoryStore();
  const clock = { time: Date.parse("2026-11-20T09:00:00Z") };
  const log: string[] = [];
  const jobs: string[] = [];
  const purged: string[] = [];
  const work = new BackgroundWork();
  const services = siteServices({
    settings: settingsOf(options),
    pages: options.pages ?? PAGES,
    store,
    environment: options.environment ?? {},
    authority: "alice.example",
    client: "eleventy-plugin-twtxt/0",
    guard: {
      allowPrivateHosts: (options.neighbours ?? []).map(({ host }) => host),
      ...(options.lookup && { lookup: options.lookup }),
      route(target) {
        const server = options.hosts?.[target.host];
        return loopbackRoute(server ? { protocol: "http:", host: "127.0.0.1", port: server.port } : target);
      },
      totalMs: PATIENT_MS,
      firstByteMs: PATIENT_MS,
    },
    now: () => clock.time,
    log: (line) => void log.push(line),
    onJob: (name) => void jobs.push(name),
    purge: async (tag) => void purged.push(tag),
    isMetered: options.isMetered ?? true,
    isLive: options.isLive ?? true,
    streams: { isDefault: false, streamMs: 0, lookMs: 0 },
    background: work.add,
  });

  const answer: Receiver["answer"] = async (request, address = "192.0.2.1") => {
    const found = await services.endpointAt(new URL(request.url).pathname)?.answer(request, address);
    return found ? toResponse(found) : new Response(null, { status: 404 });
  };

  return {
    services,
    answer,
    store,
    clock,
    log,
    jobs,
    settled: () => work.settled(),
    purged,
    async mentioned(form, address = "192.0.2.1") {
      const body = typeof form === "string" ? form : new URLSearchParams(form).toString();
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const request = new Request("https://alice.example/webmention", { method: "POST", headers, body });
      const response = await answer(request, address);
      const text = await response.text();
      const isProblem = response.headers.get("content-type") === "application/problem+json";
      return { status: response.status, code: isProblem ? JSON.parse(text).code : null, text };
    },
    async mentions(target) {
      const query = target === undefined ? "" : `?target=${encodeURIComponent(target)}`;
      const request = new Request(`https://alice.example/mentions.json${query}`);
      const response = await answer(request);
      return Object(await response.json()).mentions;
    },
  };
}

export const PAGES: SitePages = {
  feeds: [FEED, "https://old.example/alice.txt"],
  pages: ["https://alice.example/", PAGE],
  twts: [TWT],
};

/** The settings of Alice's site, which has an inbox only with the option `inbox`. */
export function settingsOf({
  mentions = {},
  inbox = null,
  key,
  lang,
  feedUrl = FEED,
  follow,
}: ReceiverOptions): HostSettings {
  const settings = builtHostSettings("https://alice.example", {
    mentions,
    key,
    lang,
    ...(inbox === null && { inbox: false }),
  });
  return { ...settings, feedUrl, inbox, timeline: follow ? { follow } : null };
}

/** Bob's feed, whose twts a test may change. */
export interface FeedServer extends LoopbackServer {
  feedUrl: string;
  twts: Record<string, string>;
  /** The status of the responses. */
  status: number;
  /** Returns a reference to a twt. */
  twt(timestamp: string): string;
}

export async function feedServer(twts: Record<string, string>): Promise<FeedServer> {
  const state = { twts, status: 200 };
  const server = await loopbackServer((_, response) => {
    const lines = Object.entries(state.twts).map(([timestamp, text]) => `${timestamp}\t${text}\n`);
    response.writeHead(state.status, { "content-type": "text/plain; charset=utf-8" });
    response.end(state.status === 200 ? `# nick = bob\n\n${lines.join("")}` : "");
  });
  const feedUrl = `${server.url}/twtxt.txt`;
  return Object.assign(state, server, { feedUrl, twt: (timestamp: string) => `${feedUrl}#:~:text=${timestamp}` });
}
