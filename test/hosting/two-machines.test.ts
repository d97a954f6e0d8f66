// test/hosting/two-machines.test.ts: two servers with one bucket behind nginx and Caddy.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { type Server, serve, site } from "../cli/server.js";
import { loopbackServer } from "../helpers/loopback.js";
import { REPO } from "../helpers/paths.js";
import { freePort } from "../helpers/ports.js";
import { settingsOf } from "../helpers/receiver.js";
import { s3Service } from "../helpers/s3-service.js";
import { ACCESS, BUILD_MS, startVersitygw, type Versitygw, versitygwLack } from "../helpers/versitygw.js";
import { ALICE, idOf, sealed } from "../messages/inbox/alices-inbox.js";
import { describeWithProxies, type WebServer } from "./proxies.js";

const MESSAGES = 12;
const lack = await versitygwLack();
if (lack !== null) console.error(`SKIPPED: two machines with one bucket are not tested, since ${lack}.`);

const INBOX = { users: ["alice"], messages: 1000, megabytes: 4, retentionDays: 0, subscribe: null, guests: null };

/** @param hosts - of the two servers */
function startProxy(proxy: WebServer, [first = "", second = ""]: readonly string[]): Promise<string> {
  if (proxy.name !== "nginx") {
    const line = "lb_try_duration 30s\n";
    return proxy.start("Caddyfile", [
      ["127.0.0.1:8080", `${first} ${second}`],
      [line, `${line}\t\thealth_uri /twtxt.txt\n\t\thealth_interval 1s\n`],
    ]);
  }
  const upstream = readFileSync(join(REPO, "docs/hosting/nginx-upstream.conf"), "utf8");
  const both = upstream.replace("10.0.0.1:8080", first).replace("10.0.0.2:8080", second);
  return proxy.start("nginx.conf", [["http://127.0.0.1:8080;", "http://alice;"]], both);
}

/** Sends a message, again for a few seconds if Caddy 2.6 answers 502: it cannot send a body to the other machine. */
async function post(proxy: WebServer, url: string, body: Uint8Array<ArrayBuffer>): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    const { status } = await fetch(`${url}/inbox/alice`, { method: "POST", body });
    if (status < 500 || proxy.name === "nginx" || tries === 20) return status;
    await sleep(500);
  }
}

/** The IDs of the messages in Alice's inbox. */
async function readInbox(url: string): Promise<string[]> {
  const headers = signRequest(
    { method: "GET", url: "https://alice.example/inbox/alice", headers: {} },
    ALICE,
    Date.now(),
  );
  const listed = await (await fetch(`${url}/inbox/alice`, { headers })).json();
  return Object(listed).map(({ id }: { id: string }) => id);
}

describeWithProxies("two machines, one of them down, behind a proxy", (proxy) => {
  it("no request arrives with the body of another one", async () => {
    const wrong: string[] = [];
    const machine = await loopbackServer(async (request, response) => {
      const body = await text(request).catch(() => null);
      if (request.method === "POST" && body !== null && body !== `number=${request.headers["x-number"]}`)
        wrong.push(body);
      response.end();
    });
    const url = await startProxy(proxy, [`127.0.0.1:${await freePort()}`, new URL(machine.url).host]);
    const visitor = async (first: number) => {
      for (let n = first; n < first + 50; n += 1)
        await fetch(url, { method: "POST", headers: { "x-number": `${n}` }, body: `number=${n}` });
    };
    await Promise.all(Array.from({ length: 10 }, (_, n) => visitor(1000 + 100 * n)));
    expect(wrong).toEqual([]);
  });
});

describe.skipIf(lack !== null)("two machines with one bucket", () => {
  let versitygw: Versitygw;
  beforeAll(async () => {
    versitygw = await startVersitygw();
  }, BUILD_MS);
  afterAll(() => versitygw?.end());

  async function startMachine(bucket: { url: string; bucket: string }, args: string[] = []): Promise<Server> {
    const alice = site({ ...settingsOf({ key: ALICE.publicKey }), inbox: INBOX });
    return serve(alice, ["--trust-proxy", "1", ...args], {
      TWTXT_S3_ENDPOINT: bucket.url,
      TWTXT_S3_BUCKET: bucket.bucket,
      TWTXT_S3_REGION: ACCESS.region,
      TWTXT_S3_ACCESS_KEY_ID: ACCESS.accessKeyId,
      TWTXT_S3_SECRET_ACCESS_KEY: ACCESS.secretAccessKey,
    });
  }

  describeWithProxies("behind a proxy", (proxy) => {
    it("both have each accepted message, and no message is lost when one machine ends", async () => {
      const bucket = await s3Service(versitygw);
      const machines = [await startMachine(bucket), await startMachine(bucket)];
      const url = await startProxy(
        proxy,
        machines.map((machine) => new URL(machine.url).host),
      );
      const statuses = new Set<number>();
      const sent: string[] = [];
      for (let n = 0; n < MESSAGES; n += 1) {
        const body = Buffer.from(sealed(n));
        statuses.add(await post(proxy, url, body));
        sent.push(idOf(body));
        if (n === MESSAGES / 3)
          for (const machine of machines) expect((await readInbox(machine.url)).sort()).toEqual([...sent].sort());
        if (n === MESSAGES / 2) void machines[0]?.end();
      }
      expect([...statuses]).toEqual([202]);
      expect((await readInbox(url)).sort()).toEqual(sent.sort());
      expect(await machines[0]?.end()).toBe(0);
    });

    it("pages and the feed are served while the bucket is gone", async () => {
      const bucket = await s3Service(versitygw);
      const machines = [await startMachine(bucket), await startMachine(bucket)];
      const hosts = machines.map((machine) => new URL(machine.url).host);
      const url = await startProxy(proxy, hosts);
      bucket.faultOf = () => "cut before";
      for (const machine of machines)
        await expect.poll(async () => (await fetch(`${machine.url}/health`)).status).toBe(503);
      // Longer than the interval of Caddy's checks.
      await sleep(1500);
      const statuses = ["/", "/twtxt.txt"].map(async (path) => (await fetch(url + path)).status);
      expect(await Promise.all(statuses)).toEqual([200, 200]);
    });

    it("no message is lost when one machine restarts, and right after it the other one", async () => {
      const bucket = await s3Service(versitygw);
      const [first, second] = [await startMachine(bucket), await startMachine(bucket)];
      const url = await startProxy(proxy, [new URL(first.url).host, new URL(second.url).host]);
      const statuses: number[] = [];
      const send = async () => {
        const body = Buffer.from(sealed(statuses.length));
        statuses.push(await post(proxy, url, body));
      };
      await first.end();
      for (let n = 0; n < 4; n += 1) await send();
      await startMachine(bucket, ["--port", new URL(first.url).port]);
      await second.end();
      for (let n = 0; n < 4; n += 1) await send();
      expect(statuses).toEqual(Array.from({ length: 8 }, () => 202));
    });
  });
});
