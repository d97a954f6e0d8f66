// test/cli/blob-server.ts: `eleventy-twtxt serve` with blobs and comments, in a process that tests can kill, and Alice's requests.
import { type ChildProcess, spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { signRequest } from "../../plugin/http/sign-request.js";
import { openDatabase } from "../../plugin/store/sqlite-driver.js";
import { afterAll } from "../helpers/hooks.js";
import { COMMAND, LOOPBACK_ONLY } from "../helpers/paths.js";
import { settingsOf } from "../helpers/receiver.js";
import { ALICE } from "../messages/inbox/alices-inbox.js";
import { ALICES_DATA, type Blog, dataEnvironment } from "./helpers.js";
import { site } from "./server.js";

const running = new Set<ChildProcess>();

afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
});

export const SETTINGS = settingsOf({
  key: ALICE.publicKey,
  mentions: { comments: { perDay: 10_000, held: 10_000 } },
});
export const LIMITS = { owners: [ALICE.publicKey], count: 1000, bytes: 1000 * 2 ** 20, maxBytes: 100 * 2 ** 20 };
const PIECE = 64 * 1024;

/** A server with blobs. */
export interface BlobServer {
  url: string;
  pid: number;
  /** Kills the process. Resolves when it has exited. */
  kill(): Promise<void>;
  /** The peak memory of the process, in bytes. Linux only. */
  peakMemory(): number;
}

/** Alice's site, built with blobs. */
export function blobSite(): Blog {
  return site({ ...SETTINGS, blobs: LIMITS });
}

export async function startBlobServer({ folder }: Blog): Promise<BlobServer> {
  const child = spawn(
    process.execPath,
    ["--import", LOOPBACK_ONLY, COMMAND, "serve", "--port", "0", "--rate-limit", "0"],
    {
      cwd: folder,
      env: { ...process.env, ...dataEnvironment(folder) },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  running.add(child);
  const ended = once(child, "exit").then(() => void running.delete(child));
  const started = once(createInterface(child.stdout), "line");
  const line = await Promise.race([started.then(String), ended.then(() => "the process has exited")]);
  if (child.pid === undefined || !line.startsWith("http://")) throw new Error(`No server: ${line}`);
  const status = `/proc/${child.pid}/status`;
  return {
    url: line.replace(/\/$/, ""),
    pid: child.pid,
    kill() {
      child.kill("SIGKILL");
      return ended;
    },
    peakMemory: () => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1]) * 1024,
  };
}

/** The temporary files of unfinished writes in a site's store. */
export function temporaryFiles({ folder }: Blog): string[] {
  const database = openDatabase(join(folder, ALICES_DATA, "store.db"));
  const used = database.prepare("SELECT file FROM entries WHERE file IS NOT NULL").all();
  database.close();
  const files = join(folder, ALICES_DATA, "files");
  const names = existsSync(files) ? readdirSync(files) : [];
  return names.filter((name) => !used.some(({ file }) => file === name));
}

export interface BlobRequest {
  method: "PUT" | "POST" | "DELETE" | "GET" | "HEAD";
  key: string;
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** Called before each chunk of the body is sent. */
  onPiece?: () => unknown;
}

export interface BlobResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Sends a request that Alice has signed. Rejects if the connection closes before the response is complete. */
export function requestBlob(
  { url }: Pick<BlobServer, "url">,
  { method, key, headers = {}, body, onPiece }: BlobRequest,
): Promise<BlobResponse> {
  const signed = signRequest(
    {
      method,
      url: `${SETTINGS.urls.blobs}/${key}`,
      headers,
      ...(body && { bodyHash: hash("sha256", body, "buffer") }),
    },
    ALICE,
    Date.now(),
  );
  const sent = httpRequest(`${url}/api/v1/blob/${key}`, {
    method,
    agent: false,
    headers: { ...signed, ...(body && { "content-length": String(body.length) }) },
  });
  const answered = new Promise<BlobResponse>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", (response) => {
      const { statusCode = 0, headers } = response;
      buffer(response).then((body) => resolve({ status: statusCode, headers, body }), reject);
    });
  });
  // The response shows whether the body was sent completely.
  pipeline(Readable.from(chunksOf(body ?? new Uint8Array(), onPiece)), sent).catch(() => {});
  return answered;
}

async function* chunksOf(body: Uint8Array, onPiece: () => unknown = () => {}): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < body.length; start += PIECE) {
    await onPiece();
    yield body.subarray(start, start + PIECE);
  }
}
