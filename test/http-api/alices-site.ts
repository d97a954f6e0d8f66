// test/http-api/alices-site.ts: Alice's blog, all of it, on a real server of this machine.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildConnector } from "undici";
import { discoveryFiles } from "../../plugin/eleventy/output/discovery-files.js";
import { feedFiles } from "../../plugin/eleventy/output/feed-files.js";
import { TwtxtError } from "../../plugin/errors.js";
import { nodeServer } from "../../plugin/host/node-server.js";
import { rateLimit } from "../../plugin/host/rate-limit.js";
import { siteFiles } from "../../plugin/host/site-files.js";
import { SiteHost } from "../../plugin/host/site-host.js";
import { type SiteServices, siteServices } from "../../plugin/host/site-services.js";
import type { TwtxtOptions } from "../../plugin/options.js";
import { type HostSettings, hostSettings } from "../../plugin/site/site.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { builtSite } from "../helpers/built-site.js";
import { afterAll, afterEach } from "../helpers/hooks.js";
import { loopbackServer } from "../helpers/loopback.js";
import { ALICE, type Asked, answerTo, cutAnswer, ORIGIN, sentFor, TOKEN } from "./asking.js";
import type { Answer } from "./hold.js";

export const FEED = `${ORIGIN}/twtxt.txt`;
const PAGE = `${ORIGIN}/posts/quinces/`;
const ENDPOINT = `${ORIGIN}/webmention`;
const NOW = Date.parse("2026-11-20T09:00:00Z");

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

/** What a storage fails with that does not answer. */
export const SILENCE = new TwtxtError("store-failed", "The storage at 192.0.2.7 does not answer.");

/** The options by which everything is there. */
export const OPTIONS = {
  url: ORIGIN,
  nick: "alice",
  key: ALICE.publicKey,
  host: "node",
  blobs: true,
  follow: [{ nick: "bob", url: "https://bob.example/twtxt.txt" }],
  timeline: true,
} satisfies TwtxtOptions;

export interface SiteOptions {
  mentions?: Exclude<TwtxtOptions["mentions"], false | undefined>;
  inbox?: Partial<NonNullable<HostSettings["inbox"]>>;
  blobs?: Partial<NonNullable<HostSettings["blobs"]>>;
  /** `null` for a site whose owner has set none. */
  token?: null;
  /** Mentions, and messages, of one address. */
  perMinute?: number;
  /** Without the files that its build has made. */
  isEmpty?: boolean;
  /** The CDN does not listen. */
  isDeaf?: boolean;
  /** How long a body may be silent. */
  patienceMs?: number;
}

export interface AlicesSite {
  settings: HostSettings;
  endpointAt: SiteHost["endpointAt"];
  /** Reads the feeds that Alice follows. */
  refreshTimeline(): Promise<void>;
  /** What Bob's server answers with. */
  bob: { status: number; headers: Record<string, string>; body: string };
  /** What the storage fails with, from now on. */
  fail(error: Error): void;
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  /** Asks with a body that breaks off. */
  askCut(method: string, path: string): Promise<Answer>;
}

const ended: (() => unknown)[] = [];
const endedLast: (() => unknown)[] = [];
const shared = new Map<typeof alicesSite, Promise<AlicesSite>>();

let folders: { empty?: string; built?: string } = {};

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});
afterAll(async () => {
  shared.clear();
  for (const end of endedLast.splice(0)) await end();
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true });
  folders = {};
});

/** The site as it is when nothing has come yet. */
export async function alicesSite(options: SiteOptions = {}, ends = ended): Promise<AlicesSite> {
  const bob: AlicesSite["bob"] = { status: 200, headers: { "content-type": "text/plain" }, body: BOBS_FEED };
  const neighbour = await loopbackServer((_, response) => response.writeHead(bob.status, bob.headers).end(bob.body));
  const { store, fail } = breakable(memoryStore());
  const settings = settingsOf(options);
  const made: SiteServices[] = [];
  const { endpointAt } = new SiteHost({
    site: { settings, pages: { feeds: [FEED], pages: [PAGE], twts: [] } },
    file: "",
    read: () => Promise.reject(new Error("There is no build here.")),
    make(built) {
      const services = siteServices({ ...servedBy(options, neighbour.port), ...built, store });
      made.push(services);
      return services;
    },
    log: () => {},
  });
  const folder = await siteFolder(options);
  const { port, close } = await nodeServer({
    port: 0,
    host: "127.0.0.1",
    origin: ORIGIN,
    endpointAt,
    serveFile: siteFiles({ folder, published: folder, prefix: "", feedPath: "/twtxt.txt", endpoint: ENDPOINT }),
    rateLimit: rateLimit({ perMinute: options.perMinute ?? 0, now: () => NOW }),
    trustedProxies: 0,
    log: () => {},
    ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
  });
  ends.push(close);
  return {
    settings,
    endpointAt,
    refreshTimeline: async () => made[0]?.refreshTimeline(),
    bob,
    fail,
    ask: (method, path, asked = {}) => answerTo(port, sentFor(method, path, asked, NOW)),
    askCut(method, path) {
      const sent = sentFor(method, path, {}, NOW);
      return cutAnswer(endpointAt(sent.path), sent);
    },
  };
}

/** The site once Bob has mentioned Alice, somebody has written to her, and she has put a blob there, as the file says. */
export async function livedIn(options: SiteOptions = {}, ends = ended): Promise<AlicesSite> {
  const site = await alicesSite(options, ends);
  for (const [method, path] of [
    ["POST", "/webmention"],
    ["POST", "/inbox/{user}"],
    ["PUT", "/api/v1/blob/{key}"],
  ] as const) {
    const { status, body } = await site.ask(method, path);
    if (status > 202) throw new Error(`${method} ${path}: ${status} ${body}`);
  }
  await site.refreshTimeline();
  return site;
}

/** The same site for all tests of a file, for requests that change nothing and do not ask Bob's server. */
export function sharedSite(open: typeof alicesSite): Promise<AlicesSite> {
  const site = shared.get(open) ?? open({}, endedLast);
  shared.set(open, site);
  return site;
}

function settingsOf({ mentions = {}, inbox, blobs }: SiteOptions): HostSettings {
  const settings = hostSettings(builtSite(ORIGIN, { ...OPTIONS, mentions }).settings);
  return {
    ...settings,
    inbox: settings.inbox && { ...settings.inbox, ...inbox },
    blobs: settings.blobs && { ...settings.blobs, maxBytes: 1000, ...blobs },
  };
}

/** What a host gives to its services; all whom they ask is Bob. */
function servedBy({ token, isDeaf = false }: SiteOptions, port: number) {
  return {
    environment: token === null ? {} : { TWTXT_MENTIONS_TOKEN: TOKEN },
    authority: new URL(ORIGIN).host,
    client: "eleventy-plugin-twtxt/0",
    guard: { connector: () => leadingTo(port) },
    fetch,
    now: () => NOW,
    log: () => {},
    purge: () => (isDeaf ? Promise.reject(new Error("The CDN is busy.")) : Promise.resolve()),
    isMetered: false,
    isLive: true,
    streams: { isDefault: true, streamMs: 50_000, lookMs: 1000 },
    background: () => {},
  };
}

/** The folder of the built site, which is only read. */
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

/** Whoever is asked, and however: it is Bob's server that answers. */
function leadingTo(port: number): buildConnector.connector {
  const dial = buildConnector({});
  return (target, callback) =>
    dial({ ...target, protocol: "http:", hostname: "127.0.0.1", port: String(port) }, callback);
}

function breakable(inner: StreamingStore) {
  let trouble: Error | undefined;
  const through =
    <Given extends unknown[], Made>(work: (...given: Given) => Promise<Made>) =>
    async (...given: Given) => {
      if (trouble) throw trouble;
      return work(...given);
    };
  const store: StreamingStore = {
    get: through(inner.get),
    put: through(inner.put),
    delete: through(inner.delete),
    keys: through(inner.keys),
    write: through(inner.write),
    read: through(inner.read),
  };
  return {
    store,
    fail: (error: Error) => {
      trouble = error;
    },
  };
}
