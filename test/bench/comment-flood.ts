// test/bench/comment-flood.ts: floods of comments on both hosts: what the site stores, and what each comment costs.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { mentions as createFunction } from "../../netlify/functions/mentions.js";
import { siteServices } from "../../plugin/host/site-services.js";
import { toResponse } from "../../plugin/http/respond.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import type { Identity } from "../../plugin/keys/identity.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { blobsSite } from "../helpers/blobs-server.js";
import { builtHostSettings } from "../helpers/built-site.js";
import { ALICE, COMMENTS } from "../helpers/commenter.js";
import { runAfterEachHooks } from "../helpers/hooks.js";
import { identityOf } from "../helpers/identity.js";
import { PAGE, PAGES } from "../helpers/receiver.js";
import { runNode } from "./child.js";
import { median, type Part, time } from "./table.js";

/** Warm processes of a function, each of which has one request at a time. */
const INSTANCES = 10;
/** The size of a page of Netlify Blobs. */
const PAGE_SIZE = 1000;

const FLOODS = [
  { name: "from one address", count: 1000, addresses: 1, isSigned: false },
  { name: "from 50 addresses", count: 500, addresses: 50, isSigned: false },
  { name: "from 50 addresses, signed by 50 keys", count: 500, addresses: 50, isSigned: true },
];

interface Host {
  name: string;
  /** Processes of the site, each of which answers one request after the other. */
  instances: ((request: Request, address: string) => Promise<Response | undefined>)[];
  store: StreamingStore;
  /** The number of requests to the store so far. */
  countRequests(): Promise<number>;
  end(): Promise<void>;
}

const OPTIONS = { host: "netlify", key: ALICE.publicKey, mentions: { comments: true } } as const;
const SITE = { settings: builtHostSettings("https://alice.example", OPTIONS), pages: PAGES };

/** @param folder - is created */
export async function measureFloods(
  folder: string,
  { share, stop }: { share: number; stop: AbortSignal },
): Promise<Part> {
  const bundle = join(folder, "netlify");
  await runNode([fileURLToPath(new URL("../../build/netlify.mjs", import.meta.url)), bundle], { stop });
  const rows = [["", "stored", "refused", "CPU each", "store requests each", "stored bytes"]];
  const figures: Record<string, unknown> = {};
  for (const flood of FLOODS) {
    const count = flood.count * share;
    const addresses = Math.ceil(flood.addresses * share);
    for (const open of [() => openServe(join(folder, flood.name)), () => openNetlify(bundle, stop)]) {
      const host = await open();
      const reading = await measure(host, { ...flood, count, addresses });
      await host.end();
      const name = `${host.name}: ${count} ${flood.name}`;
      figures[name] = reading;
      const { stored, refused, milliseconds, requests, bytes } = reading;
      rows.push([name, String(stored), String(refused), time(milliseconds), requests.toFixed(2), String(bytes)]);
    }
  }
  const note = `On Netlify, ${INSTANCES} warm processes take turns. CPU is that of the handlers alone, without HTTP.`;
  return { title: "Floods of comments", rows, aims: [], note, figures };
}

async function measure(
  { instances, store, countRequests }: Host,
  { count, addresses, isSigned }: (typeof FLOODS)[number],
) {
  const keys = isSigned ? Array.from({ length: addresses }, (_, n) => identityOf(Buffer.alloc(32, `guest ${n}`))) : [];
  const flood = Array.from({ length: count }, (_, n) => ({
    request: createRequest(`Comment ${n}`, keys[n % addresses]),
    address: `198.51.${(n % addresses) >> 8}.${(n % addresses) & 255}`,
  }));
  // Each loads its code.
  for (const answer of instances) await answer(new Request(`${COMMENTS}?guest=x`), "unknown");
  const before = await countRequests();
  const cpu = process.cpuUsage();
  const statuses: number[] = [];
  const refusals: number[] = [];
  await Promise.all(
    instances.map(async (answer, turn) => {
      for (let n = turn; n < flood.length; n += instances.length) {
        const { request, address } = flood[n] as (typeof flood)[number];
        const start = performance.now();
        const status = (await answer(request, address))?.status ?? 0;
        statuses.push(status);
        if (status === 429) refusals.push(performance.now() - start);
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  const requests = ((await countRequests()) - before) / count;
  const all = await store.keys("");
  const values = await Promise.all(all.map(async (key) => (await store.get(key))?.bytes.length ?? 0));
  return {
    stored: statuses.filter((status) => status === 202).length,
    refused: refusals.length,
    others: statuses.filter((status) => status !== 202 && status !== 429),
    milliseconds: (user + system) / 1000 / count,
    latency: median(refusals),
    requests,
    keys: all.length,
    bytes: values.reduce((sum, size) => sum + size, 0) + all.join("").length,
  };
}

function createRequest(text: string, signer?: Identity): Request {
  const body = Buffer.from(JSON.stringify({ target: PAGE, text }));
  const headers = { "content-type": "application/json" };
  const signed = signer && signRequest({ method: "POST", url: COMMENTS, headers, body }, signer, Date.now());
  return new Request(COMMENTS, { method: "POST", headers: { ...headers, ...signed }, body });
}

async function openServe(folder: string): Promise<Host> {
  const store = new SqliteStore(folder);
  let requests = 0;
  const counted = new Proxy<StreamingStore>(store, {
    get(target, name: keyof StreamingStore) {
      return (...values: never[]) => {
        requests += 1;
        return (target[name] as (...given: never[]) => unknown).apply(target, values);
      };
    },
  });
  const { endpointAt } = siteServices({
    ...SITE,
    store: counted,
    environment: {},
    authority: "alice.example",
    client: "eleventy-plugin-twtxt/0",
    guard: { allowPrivateHosts: [] },
    now: Date.now,
    log: () => {},
    purge: null,
    isMetered: false,
    isLive: false,
    streams: { isDefault: false, streamMs: 0, lookMs: 0 },
    background: () => {},
  });
  const answer = async (request: Request, address: string) => {
    const found = await endpointAt("/comments")?.answer(request, address);
    return found && toResponse(found);
  };
  return {
    name: "serve",
    // One process, which has many requests at once.
    instances: Array.from({ length: INSTANCES }, () => answer),
    store,
    countRequests: async () => requests,
    end: async () => store.close(),
  };
}

async function openNetlify(bundle: string, stop: AbortSignal): Promise<Host> {
  const blobs = await startBlobs(stop);
  const context = { edgeURL: blobs.url, uncachedEdgeURL: blobs.url, token: "token", siteID: "site" };
  process.env.NETLIFY_BLOBS_CONTEXT = Buffer.from(JSON.stringify({ ...context, primaryRegion: "us-east-1" })).toString(
    "base64",
  );
  const bundled: { mentions: typeof createFunction } = await import(join(bundle, "mentions.js"));
  console.error = () => {};
  const { NetlifyStore } = await import("../../plugin/store/netlify.js");
  return {
    name: "Netlify",
    instances: Array.from({ length: INSTANCES }, () => {
      const run = bundled.mentions(SITE.settings, SITE.pages);
      return (request: Request, ip: string) => run(request, { deploy: { context: "production" }, ip });
    }),
    store: new NetlifyStore({ name: "twtxt" }),
    countRequests: blobs.countRequests,
    async end() {
      blobs.child.kill();
      await once(blobs.child, "exit");
    },
  };
}

/** Starts Netlify's local store in a process of its own, so that its work is not measured as that of the function. */
async function startBlobs(stop: AbortSignal) {
  const child: ChildProcess = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), "blobs"], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    signal: stop,
  });
  const receive = () => new Promise<unknown>((resolve) => child.once("message", resolve));
  const url = String(await receive());
  const countRequests = () => {
    child.send("count");
    return receive().then(Number);
  };
  return { child, url, countRequests };
}

const [, script, what] = process.argv;
if (script === fileURLToPath(import.meta.url) && what === "blobs") {
  const { url, requests } = await blobsSite(true, PAGE_SIZE);
  process.send?.(url);
  process.on("message", () => process.send?.(requests.length));
  process.on("disconnect", () => void runAfterEachHooks().finally(() => process.exit()));
}
