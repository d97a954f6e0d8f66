// test/helpers/s3-service.ts: a bucket of versitygw behind a proxy that can fail.
//
// If a connection ends early, versitygw 1.8.0 stores the bytes that arrived and responds with 200, while S3 requires as many
// bytes as Content-Length says. So the proxy forwards only complete requests.
import { randomBytes } from "node:crypto";
import { type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { buffer } from "node:stream/consumers";
import { AwsClient } from "aws4fetch";
import { S3Store, type S3StoreOptions } from "../../plugin/store/s3.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { loopbackServer } from "./loopback.js";
import { ACCESS, type Versitygw } from "./versitygw.js";

/** A failure of a request: a broken connection, or a response of the proxy. */
export type Fault =
  | "cut before"
  | "cut in the middle of the request"
  | "cut after"
  | "stored, then 503"
  | "cut in the middle of the answer"
  | "silence"
  | "silence in the middle of the answer"
  | "no etag"
  | "no range"
  | { status: number; body?: string; headers?: Record<string, string> };

export interface S3Service {
  url: string;
  bucket: string;
  /** The requests, in order: `PUT a/b`, `GET ?prefix=`. */
  requests: string[];
  /** Returns the failure of a request; `null`, the default, for none. */
  faultOf(request: string): Fault | null;
  /** Ends before a request is passed on; default: at once. */
  beforePass(request: string): Promise<unknown>;
  /** A store in the bucket. */
  store(options?: Partial<S3StoreOptions>): StreamingStore;
  /** The same store, without the proxy. */
  behind(options?: Partial<S3StoreOptions>): StreamingStore;
  /** Sends a request of another client of the bucket. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** An error response in the format of S3. */
export function refusal(status: number, code: string, message = "Trouble."): Fault {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, body, headers: { "content-type": "application/xml" } };
}

/** Creates a bucket. */
export async function s3Service({ socketPath }: Versitygw): Promise<S3Service> {
  const bucket = `test-${randomBytes(8).toString("hex")}`;
  const front = await loopbackServer((request, response) => {
    const line = `${request.method} ${request.url?.slice(bucket.length + 1).replace(/^\//, "")}`;
    service.requests.push(line);
    const fault = service.faultOf(line);
    void service.beforePass(line).then(() => pass(socketPath, fault, request, response));
  });
  const back = await loopbackServer((request, response) => pass(socketPath, null, request, response));
  const client = new AwsClient({ ...ACCESS, service: "s3" });

  const service: S3Service = {
    url: front.url,
    bucket,
    requests: [],
    faultOf: () => null,
    beforePass: async () => {},
    store: (options) => new S3Store({ ...ACCESS, endpoint: front.url, bucket, ...options }),
    behind: (options) => new S3Store({ ...ACCESS, endpoint: back.url, bucket, ...options }),
    fetch: (path, init) => client.fetch(`${back.url}/${bucket}${path}`, init),
  };
  const made = await service.fetch("", { method: "PUT" });
  if (!made.ok) throw new Error(`The bucket was not created: ${made.status} ${await made.text()}`);
  return service;
}

async function pass(
  socketPath: string,
  fault: Fault | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (fault === "silence") return;
  const cut = () => request.socket.destroy();
  if (fault === "cut before") return void cut();
  if (fault === "cut in the middle of the request") return void request.once("data", cut);
  const body = await buffer(request).catch(() => null);
  if (body === null) return;
  if (fault !== null && typeof fault === "object") {
    return void response.writeHead(fault.status, fault.headers).end(fault.body);
  }
  const { method, url, headers } = request;
  const passed = send({ socketPath, method, path: url, headers, agent: false }, (answer) => {
    if (fault === "cut after") cut();
    else if (fault === "stored, then 503") answer.resume().on("end", () => response.writeHead(503).end());
    else passBack(answer, fault, response);
  });
  passed.on("error", cut);
  if (fault === "no range") passed.removeHeader("range");
  passed.end(body);
}

function passBack(answer: IncomingMessage, fault: Fault | null, response: ServerResponse): void {
  const headers = { ...answer.headers };
  if (fault === "no etag") delete headers.etag;
  response.writeHead(answer.statusCode ?? 500, headers);
  response.on("close", () => answer.destroy());
  answer.on("error", () => response.destroy());
  if (fault !== "cut in the middle of the answer" && fault !== "silence in the middle of the answer") {
    return void answer.pipe(response);
  }
  answer.once("data", (chunk: Buffer) => {
    answer.destroy();
    response.write(chunk.subarray(0, chunk.length / 2), () => {
      if (fault === "cut in the middle of the answer") response.destroy();
    });
  });
}
