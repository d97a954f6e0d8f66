// test/helpers/blobs-server.ts: Netlify's local store behind a proxy that makes it respond as production does.
//
// The local store checks a condition and writes in two steps, gives all writes of a key in one tick of the disk's clock
// the same etag, returns etags only in lists, and has no pages. So the proxy forwards one request at a time, delays a
// second write of a key until the clock has advanced, adds the etag to responses, and divides lists into pages.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, request as sendRequest } from "node:http";
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

interface Answer {
  status: number;
  /** Empty if there is none. */
  etag: string;
  body: Buffer;
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

  const passOn = async (request: IncomingMessage, body: Buffer): Promise<Answer> => {
    const { method = "", url = "" } = request;
    const isWrite = method === "PUT";
    if (isWrite) await clockMoved(url);
    const answer = await ask(behind + url, { method, headers: headersOf(request), body: isWrite ? body : null });
    if (method !== "GET" || answer.status !== 200) return answer;
    const [, , store = "", ...key] = url.split("/");
    if (key.length === 0) return { ...answer, body: pageOf(JSON.parse(answer.body.toString()), url, pageSize) };
    if (!isProduction) return answer;
    // A server sends weak etags if it may compress.
    const weak = request.headers["accept-encoding"]?.includes("gzip") ? "W/" : "";
    return { ...answer, etag: weak + (await etagOf(store, key.join("/"))) };
  };

  const etagOf = async (store: string, key: string): Promise<string> => {
    const list = await ask(`${behind}/site/${store}?prefix=${key}`, { headers: { authorization: "Bearer token" } });
    return (JSON.parse(list.body.toString()) as Listed).blobs.find((blob) => blob.key === key)?.etag ?? "";
  };

  const front = await loopbackServer(async (request, response) => {
    const line = `${request.method} ${request.url?.replace("/site/site:", "")}`;
    site.requests.push(line);
    const body = await buffer(request);
    const fault = site.faultOf(line);
    if (fault === "silence") return;
    if (fault === "cut before") return void request.socket.destroy();
    if (typeof fault === "number") return void response.writeHead(fault).end("trouble");
    const answer = await inTurn.add(() => passOn(request, body));
    if (fault === "cut after") return void request.socket.destroy();
    send(fault === "no etag" ? { ...answer, etag: "" } : answer, response, fault === "cut in the middle");
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

interface Asked {
  method?: string;
  headers: OutgoingHttpHeaders;
  body?: Buffer | null;
}

/** Sends a request to the local store, with a client that needs less processor time than `fetch`. */
function ask(url: string, { method = "GET", headers, body = null }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body && { "content-length": body.length };
    const sent = sendRequest(url, { method, headers: { ...headers, ...length } }, async (answer) => {
      const { statusCode: status = 0, headers } = answer;
      resolve({ status, etag: headers.etag ?? "", body: await buffer(answer) });
    });
    sent.on("error", reject).end(body);
  });
}

function headersOf({ headers }: IncomingMessage): OutgoingHttpHeaders {
  const names = ["authorization", "if-match", "if-none-match"] as const;
  return Object.fromEntries(names.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])));
}

/** A page of a list, with a cursor to the next one. */
function pageOf({ blobs }: Listed, url: string, size: number): Buffer {
  const start = Number(new URL(url, "http://localhost").searchParams.get("cursor") ?? 0);
  const end = start + size;
  const page = { blobs: blobs.slice(start, end), ...(blobs.length > end && { next_cursor: String(end) }) };
  return Buffer.from(JSON.stringify(page));
}

function send({ status, etag, body }: Answer, response: ServerResponse, isCut: boolean): void {
  const sent = status === 204 ? {} : { "content-length": body.length };
  response.writeHead(status, { ...sent, ...(etag && { etag }) });
  if (isCut) response.write(body.subarray(0, body.length / 2), () => response.destroy());
  else response.end(body);
}
