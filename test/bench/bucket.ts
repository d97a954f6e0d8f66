// test/bench/bucket.ts: the requests of `eleventy-twtxt serve` to a bucket, which its owner pays for.
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import { ACCESS, startVersitygw, versitygwLack } from "../helpers/versitygw.js";
import { deliver, INBOX, sealedMessages } from "./deliveries.js";
import { startSources, timestampOf } from "./hostile-sources.js";
import { startServe, writeSite } from "./served-site.js";
import { median, type Part } from "./table.js";
import { FEED, watchServe } from "./watched-serve.js";

const BUCKET = "bench";
const TIMES = 3;
/** How long no request comes in before work counts as done. */
const QUIET_MS = 1500;
const MINUTE_MS = 60_000;

/** A bucket of versitygw behind a proxy that counts requests. */
interface CountedBucket {
  endpoint: string;
  /** The number of requests since the last call, by method, after they have stopped. */
  take(): Promise<Record<string, number>>;
  end(): Promise<void>;
}

/** @returns `null` if versitygw cannot run here */
export async function measureBucket(
  entry: string,
  { folder, stop }: { folder: string; stop: AbortSignal },
): Promise<Part | null> {
  if ((await versitygwLack()) !== null) return null;
  const bucket = await startBucket();
  const sources = await startSources({ hosts: 0, twts: TIMES + 1, target: FEED }, stop);
  const source = (twt: number) => `http://127.0.0.1:${sources.port}/feed.txt#:~:text=${timestampOf(twt)}`;
  writeSite(folder, { inbox: INBOX, blobs: null, isReceiver: true });
  const settings = ["--allow-private-host", `127.0.0.1:${sources.port}`];
  const served = await startServe(entry, folder, stop, settings, environmentFor(bucket.endpoint));
  const { mention, get } = watchServe(served);
  const messages = await sealedMessages(entry, TIMES + 1);
  const rows: { name: string; requests: Record<string, number>[] }[] = [];
  const measure = async (name: string, work: (time: number) => Promise<unknown>) => {
    await work(0);
    await bucket.take();
    const requests: Record<string, number>[] = [];
    for (let time = 1; time <= TIMES; time += 1) {
      await work(time);
      requests.push(await bucket.take());
    }
    rows.push({ name, requests });
  };
  try {
    rows.push({ name: "the start, with a run of the jobs", requests: [await bucket.take()] });
    await measure("a mention", async (time) => {
      const { status } = await mention(source(time), "192.0.2.7");
      if (status >= 300) throw new Error(`The response to a mention was ${status}.`);
    });
    await measure("a message", (time) => deliver(served.url, [messages[time] ?? ""], 1));
    await measure("mentions.json", () => get("/mentions.json"));
    await sleep(MINUTE_MS, null, { signal: stop });
    rows.push({ name: "a minute without visitors", requests: [await bucket.take()] });
  } finally {
    served.end();
    sources.end();
    await bucket.end();
  }
  return toPart(rows);
}

function toPart(rows: { name: string; requests: Record<string, number>[] }[]): Part {
  const methods = ["GET", "HEAD", "PUT", "DELETE"];
  const count = (requests: Record<string, number>[], method: string) =>
    median(requests.map((each) => each[method] ?? 0));
  return {
    title: `Requests of eleventy-twtxt serve to a bucket, median of ${TIMES}`,
    rows: [
      ["", ...methods],
      ...rows.map(({ name, requests }) => [name, ...methods.map((method) => String(count(requests, method)))]),
    ],
    aims: [],
    note: "An idle hour has 60 such minutes and a run of the jobs. Services charge most for PUT and for listing, a GET.",
    figures: rows,
  };
}

async function startBucket(): Promise<CountedBucket> {
  const { socketPath, end } = await startVersitygw();
  let counts: Record<string, number> = {};
  let last = Date.now();
  const proxy = createServer((request, response) => {
    const { method = "", url, headers } = request;
    counts[method] = (counts[method] ?? 0) + 1;
    last = Date.now();
    const passed = send({ socketPath, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const made = await new AwsClient({ ...ACCESS, service: "s3" }).fetch(`${endpoint}/${BUCKET}`, { method: "PUT" });
  if (!made.ok) throw new Error(`The bucket was not created: ${made.status}.`);
  counts = {};
  return {
    endpoint,
    async take() {
      last = Date.now();
      while (Date.now() - last < QUIET_MS) await sleep(QUIET_MS / 10);
      const taken = counts;
      counts = {};
      return taken;
    },
    async end() {
      proxy.close().closeAllConnections();
      await end();
    },
  };
}

function environmentFor(endpoint: string): Record<string, string> {
  return {
    TWTXT_S3_ENDPOINT: endpoint,
    TWTXT_S3_BUCKET: BUCKET,
    TWTXT_S3_REGION: ACCESS.region,
    TWTXT_S3_ACCESS_KEY_ID: ACCESS.accessKeyId,
    TWTXT_S3_SECRET_ACCESS_KEY: ACCESS.secretAccessKey,
  };
}
