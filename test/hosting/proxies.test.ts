// test/hosting/proxies.test.ts: `serve` behind nginx and Caddy, with the configurations of docs/hosting/.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { dataEnvironment } from "../cli/helpers.js";
import { serve, site } from "../cli/server.js";
import { afterEach } from "../helpers/hooks.js";
import { COMMAND, REPO } from "../helpers/paths.js";
import { freePort } from "../helpers/ports.js";
import { FEED, settingsOf } from "../helpers/receiver.js";
import { ALICE, ARMORED } from "../messages/inbox/alices-inbox.js";
import { describeWithProxies, programLack, type WebServer } from "./proxies.js";

const MIB = 2 ** 20;
const INBOX = { users: ["alice"], messages: 100, megabytes: 4, retentionDays: 0, subscribe: null, guests: null };
const holders: ChildProcess[] = [];

afterEach(async () => {
  for (const holder of holders.splice(0)) {
    holder.kill("SIGTERM");
    await once(holder, "exit");
  }
});

function alicesSite() {
  const blobs = { owners: [ALICE.publicKey], count: 10, bytes: 64 * MIB, maxBytes: 4 * MIB };
  return site({ ...settingsOf({ key: ALICE.publicKey }), inbox: INBOX, blobs });
}

/** `serve` behind a proxy. @returns the URL of the proxy */
async function proxied(proxy: WebServer, args: string[] = []): Promise<string> {
  const server = await serve(alicesSite(), ["--trust-proxy", "1", ...args]);
  return startProxy(proxy, new URL(server.url).host);
}

function startProxy(proxy: WebServer, host: string): Promise<string> {
  return proxy.start(proxy.name === "nginx" ? "nginx.conf" : "Caddyfile", [["127.0.0.1:8080", host]]);
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

/** Sends a request that Alice has signed. */
function ask(url: string, path: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<Response> {
  const signed = { method, url: `https://alice.example${path}`, headers, ...(body && { body }) };
  return fetch(url + path, { method, headers: signRequest(signed, ALICE, Date.now()), ...(body && { body }) });
}

/** A mention that is refused without a request to another server. */
function mention(url: string, headers: Record<string, string> = {}): Promise<Response> {
  const body = new URLSearchParams({ source: "http://127.0.0.1:1/", target: FEED });
  return fetch(`${url}/webmention`, { method: "POST", headers, body });
}

/** `serve` on a socket that outlives it, as with systemd's socket units. */
async function restartableServer() {
  const port = await freePort();
  const alice = alicesSite();
  const words = [process.execPath, COMMAND, "serve", "--trust-proxy", "1", "--rate-limit", "0"];
  const env = { ...process.env, ...dataEnvironment(alice.folder) };
  const holder = spawn("python3", [join(REPO, "test/hosting/hold-socket.py"), String(port), ...words], {
    cwd: alice.folder,
    env,
  });
  holders.push(holder);
  let output = "";
  for (const stream of [holder.stdout, holder.stderr]) stream.on("data", (data) => (output += data));
  const starts = () => output.match(/Data is stored/g)?.length ?? 0;
  await expect.poll(starts, { message: "serve starts" }).toBe(1);
  return {
    host: `127.0.0.1:${port}`,
    async restart() {
      const before = starts();
      holder.kill("SIGHUP");
      await expect.poll(starts).toBe(before + 1);
    },
  };
}

/** Sends requests in parallel until the load ends. `end` returns the wrong answers. */
function load(url: string) {
  const wrong: string[] = [];
  let count = 0;
  let isOver = false;
  const note = async (expected: number, answering: Promise<Response>) => {
    const answer = await answering.then(
      async (response) => `${response.status} ${response.status === expected ? "" : await response.text()}`,
      (error: Error) => String(error.cause),
    );
    count += 1;
    if (!answer.startsWith(String(expected))) wrong.push(answer);
  };
  const visitor = async () => {
    while (!isOver) {
      await note(200, fetch(`${url}/twtxt.txt`));
      await note(400, mention(url));
    }
  };
  const visitors = Array.from({ length: 6 }, visitor);
  return {
    /** Waits for this many further answers. */
    async pass(answers: number): Promise<void> {
      const goal = count + answers;
      await expect.poll(() => count).toBeGreaterThan(goal);
    },
    async end(): Promise<string[]> {
      isOver = true;
      await Promise.all(visitors);
      return wrong;
    },
  };
}

describeWithProxies("serve behind a proxy", (proxy) => {
  it("serves the site, with the conditions and headers of the feed", async () => {
    const url = await proxied(proxy);
    expect(await (await fetch(`${url}/`)).text()).toBe("home");
    const feed = await fetch(`${url}/twtxt.txt`);
    expect(feed.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(feed.headers.get("access-control-allow-origin")).toBe("*");
    const etag = feed.headers.get("etag") ?? "";
    const again = await fetch(`${url}/twtxt.txt`, { headers: { "if-none-match": etag } });
    expect([again.status, again.headers.get("last-modified")]).toEqual([304, feed.headers.get("last-modified")]);
  });

  it("stores a blob of 4 MiB, and verifies signatures", async () => {
    const url = await proxied(proxy);
    const body = Buffer.alloc(4 * MIB, "quince");
    expect((await ask(url, "/api/v1/blob/quinces", { method: "PUT", body })).status).toBe(201);
    const read = await ask(url, "/api/v1/blob/quinces");
    expect(Buffer.from(await read.arrayBuffer()).equals(body)).toBe(true);
  });

  it("429: a forged X-Forwarded-For does not evade the rate limit", async () => {
    const url = await proxied(proxy, ["--rate-limit", "2"]);
    const statuses = [];
    for (const n of [1, 2, 3]) statuses.push((await mention(url, { "x-forwarded-for": `192.0.2.${n}` })).status);
    expect(statuses).toEqual([400, 400, 429]);
  });

  it("passes each event of an inbox on at once", async () => {
    const url = await proxied(proxy);
    const stream = await ask(url, "/inbox/alice", { headers: { accept: "text/event-stream" } });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain("retry:");
    await fetch(`${url}/inbox/alice`, { method: "POST", body: Buffer.from(ARMORED) });
    let read = "";
    while (!read.includes("data:")) read += (await reader?.read())?.value ?? "";
    await reader?.cancel();
  });

  it.skipIf(programLack("python3") !== null)("fails no request while serve restarts twice under load", async () => {
    const server = await restartableServer();
    const url = await startProxy(proxy, server.host);
    const visits = load(url);
    for (let n = 0; n < 2; n += 1) {
      await visits.pass(100);
      await server.restart();
    }
    await visits.pass(100);
    expect(await visits.end()).toEqual([]);
  });
});
