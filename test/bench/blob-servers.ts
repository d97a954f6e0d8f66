// test/bench/blob-servers.ts: adapters for the blob servers that are compared.
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { AwsClient } from "aws4fetch";
import { Pool } from "undici";
import { ACCESS, startVersitygw, versitygwLack } from "../helpers/versitygw.js";
import { startPlainFiles } from "./plain-files.js";
import { SITE_URL, startServe, writeSite } from "./served-site.js";

/** The most concurrent requests. */
export const MOST_AT_ONCE = 16;

/** `get` is a signed request of the owner, `shared` an unsigned request for the shared URL. */
export type Step = "put" | "get" | "shared" | "delete";

/** A body with its SHA-256, so that the measurement does not include hashing by the client. */
export interface Body {
  bytes: Uint8Array;
  sha256: Buffer;
}

/** A request that is ready to be sent. */
export interface ReadyRequest {
  method: "PUT" | "GET" | "DELETE";
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array;
}

export interface BlobServer {
  name: string;
  /** `null` if its memory is not measured. */
  pid: number | null;
  pool: Pool;
  /** Signs a request, which is valid for some minutes; `null` if this server does not support the step. */
  ready(step: Step, key: string, body: Body): Promise<ReadyRequest | null>;
  end(): Promise<void>;
}

const METHODS = { put: "PUT", get: "GET", shared: "GET", delete: "DELETE" } as const;

export async function plainServer(folder: string, stop: AbortSignal): Promise<BlobServer> {
  const { port, pid, end } = await startPlainFiles(folder, stop);
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: MOST_AT_ONCE });
  return {
    name: "plain",
    pid,
    pool,
    ready: async (step, key, { bytes }) => ({
      method: METHODS[step],
      path: `/${key}`,
      headers: {},
      ...(step === "put" && { body: bytes }),
    }),
    async end() {
      await pool.destroy();
      end();
    },
  };
}

type Signatures = typeof import("../../plugin/http/sign-request.js");
type Keys = typeof import("../../plugin/keys/key.js");

/** The owner of the blobs. */
export interface Owner {
  publicKey: string;
  privateKey: KeyObject;
  sign(bytes: Uint8Array): Uint8Array;
}

export async function newOwner(entry: string): Promise<Owner> {
  const { formatKey }: Keys = await import(new URL("keys/key.js", entry).href);
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  return {
    publicKey: formatKey(Buffer.from(x, "base64url")),
    privateKey,
    sign: (bytes) => sign(null, bytes, privateKey),
  };
}

/** `eleventy-twtxt serve`, with its store in a folder. */
export async function serveServer(
  entry: string,
  { folder, owner, stop }: { folder: string; owner: Owner; stop: AbortSignal },
): Promise<BlobServer> {
  const { signRequest }: Signatures = await import(new URL("http/sign-request.js", entry).href);
  const blobs = { owners: [owner.publicKey], count: 10_000, bytes: 1e12, maxBytes: 1e9 };
  writeSite(folder, { inbox: null, blobs });
  const { url, pid, end } = await startServe(entry, folder, stop);
  const pool = new Pool(url, { connections: MOST_AT_ONCE });
  return {
    name: "serve",
    pid,
    pool,
    async ready(step, key, { bytes, sha256 }) {
      const method = METHODS[step];
      if (step === "shared") return { method, path: `/shared/${owner.publicKey}/${key}`, headers: {} };
      const path = `/api/v1/blob/${key}`;
      const unsigned = { method, url: SITE_URL + path };
      if (step !== "put") return { method, path, headers: signRequest(unsigned, owner, Date.now()) };
      const put = { ...unsigned, headers: { "blob-public": "?1" }, bodyHash: sha256 };
      return { method, path, headers: signRequest(put, owner, Date.now()), body: bytes };
    },
    async end() {
      await pool.destroy();
      end();
    },
  };
}

/** @returns `null` if versitygw cannot run here */
export async function s3Server(): Promise<BlobServer | null> {
  if ((await versitygwLack()) !== null) return null;
  const { socketPath, end } = await startVersitygw();
  const origin = "http://localhost";
  const pool = new Pool(origin, { connections: MOST_AT_ONCE, socketPath });
  const client = new AwsClient({ ...ACCESS, service: "s3" });
  const signed = async (method: ReadyRequest["method"], path: string, body?: Body): Promise<ReadyRequest> => {
    const sha256 = body?.sha256 ?? createHash("sha256").digest();
    const unsigned = { method, headers: { "x-amz-content-sha256": sha256.toString("hex") } };
    const { headers } = await client.sign(origin + path, unsigned);
    return { method, path, headers: Object.fromEntries(headers), ...(body && { body: body.bytes }) };
  };
  const made = await pool.request(await signed("PUT", "/blobs"));
  await made.body.dump();
  if (made.statusCode !== 200) throw new Error(`versitygw did not create a bucket: ${made.statusCode}.`);
  return {
    name: "versitygw",
    pid: null,
    pool,
    async ready(step, key, body) {
      if (step === "shared") return null;
      return signed(METHODS[step], `/blobs/${key}`, step === "put" ? body : undefined);
    },
    async end() {
      await pool.destroy();
      await end();
    },
  };
}

/** Starts the servers that can run here, works with them and ends them. */
export async function withServers<T>(
  starts: (() => Promise<BlobServer | null>)[],
  work: (servers: BlobServer[]) => Promise<T>,
): Promise<T> {
  const servers: BlobServer[] = [];
  try {
    for (const start of starts) {
      const server = await start();
      if (server) servers.push(server);
    }
    return await work(servers);
  } finally {
    for (const server of servers) await server.end();
  }
}
