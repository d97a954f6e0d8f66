// test/http-api/alices-site.ts: Alice's blog with all features, on a real loopback server.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { discoveryFiles, feedFiles } from "../../plugin/eleventy/output/feed-files.js";
import { TwtxtError } from "../../plugin/errors.js";
import { nodeServer } from "../../plugin/host/node-server.js";
import { rateLimit } from "../../plugin/host/rate-limit.js";
import { siteFiles } from "../../plugin/host/site-files.js";
import { SiteHost } from "../../plugin/host/site-host.js";
import { type SiteServices, siteServices } from "../../plugin/host/site-services.js";
import { READERS } from "../../plugin/mentions/answers/readers.js";
import type { TwtxtOptions } from "../../plugin/options.js";
import { type HostSettings, hostSettings } from "../../plugin/site/site.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import type { ConnectionTarget } from "../../plugin/transport/transport.js";
import { builtSite } from "../helpers/built-site.js";
import { afterAll, afterEach } from "../helpers/hooks.js";
import { loopbackServer } from "../helpers/loopback.js";
import { ALICE, ORIGIN, type RequestChanges, requestFor, sendRequest, sendTruncated, TOKEN } from "./asking.js";
import type { ReceivedResponse } from "./hold.js";

export const FEED = `${ORIGIN}/twtxt.txt`;
const PAGE = `${ORIGIN}/posts/quinces/`;
const ENDPOINT = `${ORIGIN}/webmention`;
const NOW = Date.parse("2026-11-20T09:00:00Z");

/** The twt of `PAGE`. */
const POST = {
  timestamp: "2026-10-04T07:12:30Z",
  hashes: ["ghijklm", "abcdefghijkl"],
  page: PAGE,
  replyTo: null,
};
const TWTS = [
  { timestamp: "2024-05-01T08:00:00Z", text: "The quinces are in flower." },
  { timestamp: "2025-10-02T07:12:30Z", text: "The first quinces are ripe." },
  { timestamp: "2026-10-04T07:12:30Z", text: "Ten jars of quince jelly." },
];
const BOBS_FEED = [
  "# nick = bob",
  "",
  `2026-11-19T18:40:02Z\t@<alice ${FEED}> hello`,
  "2026-11-19T18:41:00Z\tIt rains.",
  "",
].join("\n");

/** The error of a store that does not respond. */
export const STORE_TIMEOUT = new TwtxtError("store-failed", "The storage at 192.0.2.7 does not answer.");

/** Options that turn on every feature. */
export const OPTIONS = {
  url: ORIGIN,
  nick: "alice",
  key: ALICE.publicKey,
  host: "node",
  blobs: true,
  follow: [{ nick: "bob", url: "https://bob.example/twtxt.txt" }],
  timeline: true,
  mentions: { comments: { mail: true } },
  inbox: { guests: { mail: true } },
  fediverse: "@alice@mastodon.example",
} satisfies TwtxtOptions;

export interface SiteOptions {
  mentions?: Exclude<TwtxtOptions["mentions"], false | undefined>;
  inbox?: Partial<NonNullable<HostSettings["inbox"]>>;
  blobs?: Partial<NonNullable<HostSettings["blobs"]>>;
  fediverse?: string;
  /** `null` for a site without a token. */
  token?: null;
  /** The rate limit of mentions, and of messages, per client address. */
  perMinute?: number;
  /** Leaves out the files of the build. */
  isEmpty?: boolean;
  /** Every purge of the CDN fails. */
  isCdnDown?: boolean;
  /** The idle timeout of request bodies. */
  patienceMs?: number;
  /** Every call of the store fails with this error. */
  failure?: Error;
}

export interface AlicesSite {
  settings: HostSettings;
  endpointAt: SiteHost["findEndpoint"];
  /** Reads the feeds that Alice follows. */
  refreshTimeline(): Promise<void>;
  /** The response of Bob's server. */
  bob: { status: number; headers: Record<string, string>; body: string };
  /** From now on, every call of the store fails with this error. */
  fail(error: Error): void;
  /** Stores Alice as a guest who was asked to confirm an address, with the link of the example. */
  addReader(): Promise<void>;
  /** Changes the stored contents of all blobs. */
  damageBlobs(): Promise<void>;
  send(method: string, path: string, request?: RequestChanges): Promise<ReceivedResponse>;
  /** Sends a body that is shorter than its Content-Length. */
  sendTruncated(method: string, path: string): Promise<ReceivedResponse>;
}

const cleanups: (() => unknown)[] = [];
const finalCleanups: (() => unknown)[] = [];
const shared = new Map<string, Promise<AlicesSite>>();

let folders: { empty?: string; built?: string } = {};

afterEach(async () => {
  for (const end of cleanups.splice(0)) await end();
});
afterAll(async () => {
  shared.clear();
  for (const end of finalCleanups.splice(0)) await end();
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true });
  folders = {};
});

/** The site before it has received a mention, message or blob. */
export async function alicesSite(options: SiteOptions = {}, ends = cleanups): Promise<AlicesSite> {
  const bob: AlicesSite["bob"] = { status: 200, headers: { "content-type": "text/plain" }, body: BOBS_FEED };
  const bobsServer = await loopbackServer((_, response) => response.writeHead(bob.status, bob.headers).end(bob.body));
  const { store, fail } = breakable(memoryStore(), options.failure);
  const settings = settingsOf(options);
  const created: SiteServices[] = [];
  const { findEndpoint } = new SiteHost({
    site: { settings, pages: { feeds: [FEED], pages: [PAGE], twts: [POST] } },
    file: "",
    read: () => Promise.reject(new Error("The test has no build.")),
    make(built) {
      const services = siteServices({ ...serviceOptions(options, bobsServer.port), ...built, store });
      created.push(services);
      return services;
    },
    log: () => {},
  });
  const folder = await siteFolder(options);
  const { port, close } = await nodeServer({
    port: 0,
    host: "127.0.0.1",
    origin: ORIGIN,
    findEndpoint,
    serveFile: siteFiles({ folder, published: folder, prefix: "", feedPath: "/twtxt.txt", endpoint: ENDPOINT }),
    rateLimit: rateLimit({ perMinute: options.perMinute ?? 0, now: () => NOW }),
    trustedProxies: 0,
    log: () => {},
    ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
  });
  ends.push(close);
  return {
    settings,
    endpointAt: findEndpoint,
    refreshTimeline: async () => created[0]?.refreshTimeline(),
    bob,
    fail,
    async addReader() {
      const reader = { address: "dana@dana.example", key: "A".repeat(24), isConfirmed: false, isAsked: true };
      const others = { since: NOW, used: NOW, sending: null, threads: {} };
      await store.put(READERS, Buffer.from(JSON.stringify({ [ALICE.publicKey]: { ...reader, ...others } })));
    },
    async damageBlobs() {
      for (const key of await store.keys("blobs/contents/")) await store.put(key, Buffer.from("damaged"));
    },
    send: (method, path, request = {}) => sendRequest(port, requestFor(method, path, request, NOW)),
    sendTruncated(method, path) {
      const sent = requestFor(method, path, {}, NOW);
      return sendTruncated(findEndpoint(sent.path), sent);
    },
  };
}

/** The site after it has received the mention, message and blob of the examples in docs/openapi.yaml. */
export async function siteWithContent(options: SiteOptions = {}, ends = cleanups): Promise<AlicesSite> {
  const site = await alicesSite(options, ends);
  for (const [method, path] of [
    ["POST", "/webmention"],
    ["POST", "/inbox/{user}"],
    ["PUT", "/api/v1/blob/{key}"],
  ] as const) {
    const { status, body } = await site.send(method, path);
    if (status > 202) throw new Error(`${method} ${path}: ${status} ${body}`);
  }
  await site.refreshTimeline();
  return site;
}

/** A site shared by the tests of a file, for requests that change nothing and cause no request to Bob's server. */
export function sharedSite(open: typeof alicesSite, options: SiteOptions = {}): Promise<AlicesSite> {
  const key = JSON.stringify([open.name, { ...options, failure: String(options.failure) }]);
  const site = shared.get(key) ?? open(options, finalCleanups);
  shared.set(key, site);
  return site;
}

function settingsOf({ mentions = {}, inbox, blobs, fediverse }: SiteOptions): HostSettings {
  const settings = hostSettings(
    builtSite(ORIGIN, { ...OPTIONS, mentions: { ...OPTIONS.mentions, ...mentions } }).settings,
  );
  return {
    ...settings,
    ...(fediverse !== undefined && { fediverse }),
    inbox: settings.inbox && { ...settings.inbox, ...inbox },
    blobs: settings.blobs && { ...settings.blobs, maxBytes: 1000, ...blobs },
  };
}

/** The options of the host's services. All their requests go to Bob's server. */
function serviceOptions({ token, isCdnDown = false }: SiteOptions, port: number) {
  return {
    environment:
      token === null
        ? {}
        : {
            TWTXT_MENTIONS_TOKEN: TOKEN,
            TWTXT_MODERATION_SECRET: TOKEN,
            TWTXT_SMTP_URL: "smtp://127.0.0.1:9?from=a@alice.example",
          },
    authority: new URL(ORIGIN).host,
    client: "eleventy-plugin-twtxt/0",
    // All requests go to Bob's server, whatever their URL.
    guard: { route: (target: ConnectionTarget) => ({ ...target, protocol: "http:", host: "127.0.0.1", port }) },
    fetch,
    now: () => NOW,
    log: () => {},
    purge: () => (isCdnDown ? Promise.reject(new Error("The CDN is busy.")) : Promise.resolve()),
    isMetered: false,
    isLive: true,
    streams: { isDefault: true, streamMs: 50_000, lookMs: 1000 },
    background: () => {},
  };
}

/** The folder of the built site. Tests share it and never write to it. */
async function siteFolder({ isEmpty = false }: SiteOptions): Promise<string> {
  const kind = isEmpty ? "empty" : "built";
  folders[kind] ??= await writeSite(isEmpty);
  return folders[kind];
}

async function writeSite(isEmpty: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-http-api-"));
  const { options: settings, urls } = builtSite(ORIGIN, { ...OPTIONS, follow: [] });
  const files = [...feedFiles(TWTS, settings, urls), ...(await discoveryFiles(urls.inboxes()))];
  for (const { path, content } of isEmpty ? [] : files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function breakable(inner: StreamingStore, failure?: Error) {
  const wrapped =
    <Arguments extends unknown[], Result>(work: (...args: Arguments) => Promise<Result>) =>
    async (...args: Arguments) => {
      if (failure) throw failure;
      return work(...args);
    };
  const store: StreamingStore = {
    get: wrapped(inner.get),
    put: wrapped(inner.put),
    delete: wrapped(inner.delete),
    keys: wrapped(inner.keys),
    list: wrapped(inner.list),
    survey: wrapped(inner.survey),
    write: wrapped(inner.write),
    read: wrapped(inner.read),
  };
  return {
    store,
    fail: (error: Error) => {
      failure = error;
    },
  };
}
