// test/helpers/blobs-server.ts: Netlify's local store behind a proxy that makes it respond as production does.
//
// The local store checks a condition and writes in two steps, gives all writes of a key in one tick of the disk's clock
// the same etag, returns etags only in lists, and has no pages. So the proxy forwards one request at a time, delays a
// second write of a key until the clock has advanced, adds the etag to responses, and divides lists into pages.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { BlobsServer } from "@netlify/blobs/server";
import PQueue from "p-queue";
import { NetlifyStore, type NetlifyStoreOptions } from "../../plugin/store/netlify.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { afterEach } from "./hooks.js";
import { loopbackServer } from "./loopback.js";

/** The size of a page; small, so that few keys fill several pages. */
const PAGE_SIZE = 20;
const ACCESS = { siteID: "site", token: "token" };

/** A failure of a request; a number is the status of the proxy's response. */
export type Fault = "cut before" | "cut after" | "cut in the middle" | "silence" | "no etag" | number;

export interface BlobsSite {
  /** The requests, in order: `PUT store/key`, `GET store?prefix=`. */
  requests: string[];
  /** Returns the failure of a request; `null`, the default, for none. */
  faultOf(request: string): Fault | null;
  /** The URL of the proxy. */
  url: string;
  /** A store of the site. */
  store(name: string, options?: Partial<NetlifyStoreOptions>): StreamingStore;
  /** The same store, without the proxy. */
  behind(name: string): StreamingStore;
}

interface Listed {
  blobs: { key: string; etag: string }[];
}

const ended: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** @param isProduction - `false` returns etags only in lists, as `netlify dev` does */
export async function blobsSite(isProduction = true, pageSize = PAGE_SIZE): Promise<BlobsSite> {
  const directory = mkdtempSync(join(tmpdir(), "twtxt-blobs-"));
  const server = new BlobsServer({ directory, token: ACCESS.token });
  const { port } = await server.start();
  ended.push(
    () => server.stop(),
    () => rmSync(directory, { recursive: true, force: true }),
  );
  const behind = `http://localhost:${port}`;
  const inTurn = new PQueue({ concurrency: 1 });
  const clockMoved = clockOf(join(directory, "clock"));

  const passOn = async (request: IncomingMessage, headers: Headers, body: Buffer) => {
    const { method = "", url = "" } = request;
    const isWrite = method === "PUT";
    if (isWrite) await clockMoved(url);
    const answer = await fetch(behind + url, { method, headers, ...(isWrite && { body }) });
    if (method !== "GET" || !answer.ok) return answer;
    const [, , store = "", ...key] = url.split("/");
    if (key.length === 0) return pageOf((await answer.json()) as Listed, url, pageSize);
    if (!isProduction) return answer;
    // A server sends weak etags if it may compress.
    const weak = request.headers["accept-encoding"]?.includes("gzip") ? "W/" : "";
    return withEtag(answer, weak + (await etagOf(store, key.join("/"))));
  };

  const etagOf = async (store: string, key: string): Promise<string> => {
    const list = await fetch(`${behind}/site/${store}?prefix=${key}`, { headers: { authorization: "Bearer token" } });
    return ((await list.json()) as Listed).blobs.find((blob) => blob.key === key)?.etag ?? "";
  };

  const front = await loopbackServer(async (request, response) => {
    const line = `${request.method} ${request.url?.replace("/site/site:", "")}`;
    site.requests.push(line);
    const body = await buffer(request);
    const fault = site.faultOf(line);
    if (fault === "silence") return;
    if (fault === "cut before") return void request.socket.destroy();
    if (typeof fault === "number") return void response.writeHead(fault).end("trouble");
    const answer = await inTurn.add(() => passOn(request, headersOf(request), body));
    if (fault === "cut after") return void request.socket.destroy();
    await send(fault === "no etag" ? withEtag(answer, "") : answer, response, fault === "cut in the middle");
  });

  const open =
    (url: string): BlobsSite["store"] =>
    (name, options) =>
      new NetlifyStore({ ...ACCESS, name, edgeURL: url, uncachedEdgeURL: url, ...options });
  const site: BlobsSite = {
    url: front.url,
    requests: [],
    faultOf: () => null,
    store: open(front.url),
    behind: open(behind),
  };
  return site;
}

/** Delays a second write of a path until the disk's clock has advanced. */
function clockOf(file: string): (path: string) => Promise<void> {
  const written = new Map<string, number>();
  const now = () => {
    writeFileSync(file, "");
    return Math.floor(statSync(file).mtimeMs);
  };
  return async (path) => {
    const before = written.get(path) ?? 0;
    for (let tries = 0; now() <= before && tries < 1000; tries += 1) await sleep(1);
    written.set(path, now());
  };
}

function headersOf({ headers }: IncomingMessage): Headers {
  const names = ["authorization", "if-match", "if-none-match"] as const;
  return new Headers(names.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])) as [string, string][]);
}

/** A page of a list, with a cursor to the next one. */
function pageOf({ blobs }: Listed, url: string, pageSize: number): Response {
  const start = Number(new URL(url, "http://localhost").searchParams.get("cursor") ?? 0);
  const end = start + pageSize;
  return Response.json({ blobs: blobs.slice(start, end), ...(blobs.length > end && { next_cursor: String(end) }) });
}

/** @param etag - empty for a response without one */
function withEtag(answer: Response, etag: string): Response {
  const headers = new Headers(answer.headers);
  headers.delete("etag");
  if (etag) headers.set("etag", etag);
  return new Response(answer.body, { status: answer.status, headers });
}

async function send(answer: Response, response: ServerResponse, isCut: boolean): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer());
  const etag = answer.headers.get("etag");
  const sent = answer.status === 204 ? {} : { "content-length": body.length };
  response.writeHead(answer.status, { ...sent, ...(etag && { etag }) });
  if (isCut) response.write(body.subarray(0, body.length / 2), () => response.destroy());
  else response.end(body);
}
