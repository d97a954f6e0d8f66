import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseFeed } from "../../plugin/feed/feed.js";
import { freePort } from "../helpers/ports.js";
import { deploySucceeded, devSite, netlifyDev, type RunningNetlify, type Site } from "./local-netlify.js";

const TOKEN = "a-token-of-enough-letters-and-digits";
const WRITTEN = "2026-01-02T03:04:05Z";

/** Bob: a feed on loopback that mentions Alice, and an endpoint. */
interface Bob {
  server: Server;
  host: string;
  feed: string;
  /** The bodies of the requests to his endpoint. */
  received: string[];
}

let bob: Bob;
let alice: Site;
let running: RunningNetlify;
let feedUrl: string;

beforeAll(async () => {
  const port = await freePort();
  feedUrl = `http://localhost:${port}/twtxt.txt`;
  bob = await startBob(`@<alice ${feedUrl}> Good morning!`);
  const post = `---\ndate: ${minutesAgo(20)}\n---\nHello @<bob ${bob.feed}>!\n`;
  alice = await devSite({ url: `http://localhost:${port}`, nick: "alice" }, post);
  running = await netlifyDev(alice, port, {
    TWTXT_MENTIONS_TOKEN: TOKEN,
    TWTXT_ALLOW_PRIVATE_HOSTS: `localhost:${port}, ${bob.host}`,
  });
});
afterAll(async () => {
  await running?.stop();
  alice?.remove();
  bob?.server.close();
});

describe("a blog under netlify dev", () => {
  it("responds to unsupported requests with its own handlers", async () => {
    const put = await fetch(`${running.url}/webmention`, { method: "PUT", body: "x" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, expect.stringContaining("POST")]);
    const post = await fetch(`${running.url}/webmention`, { method: "POST", body: "{}" });
    expect([post.status, post.headers.get("content-type")]).toEqual([415, "application/problem+json"]);
    expect((await fetch(`${running.url}/api/v1/mentions/0123456789abcdef0123456789abcdef`)).status).toBe(401);
    expect((await fetch(`${running.url}/mentions.txt`)).status).toBe(401);
  });

  it("400 address-refused: the source is on a private host that is not allowed", async () => {
    const answer = await mention(`http://127.0.0.1:1/twtxt.txt#:~:text=${WRITTEN}`, feedUrl);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "address-refused" });
    expect(await listed()).toEqual([]);
  });

  it("stores a verified mention, lists it, and adds it to the private feed", async () => {
    const answer = await mention(`${bob.feed}#:~:text=${WRITTEN}`, feedUrl);
    expect(answer.status).toBe(200);
    expect(await listed()).toMatchObject([
      { target: feedUrl, type: "mention", text: expect.stringContaining("morning") },
    ]);

    const authorization = `Basic ${Buffer.from(`alice:${TOKEN}`).toString("base64")}`;
    const notices = await fetch(`${running.url}/mentions.txt`, { headers: { authorization } });
    expect(parseFeed(await notices.text()).twts.map(({ text }) => text)).toEqual([
      expect.stringContaining("mentioned you"),
    ]);
  });

  it("sends each mention of its posts once, in a scheduled run or after a deploy", async () => {
    await fetch(`${running.url}/.netlify/functions/twtxt-scheduled`, { method: "POST" });
    expect(bob.received).toEqual([expect.stringContaining(encodeURIComponent(bob.feed))]);
    await deployed();
    expect(bob.received).toHaveLength(1);

    alice.write({ "posts/again.md": `---\ndate: ${minutesAgo(10)}\n---\nOnce more, @<bob ${bob.feed}>.\n` });
    await running.reloaded("/posts/again/");
    await deployed();
    expect(bob.received).toHaveLength(2);
  });
});

function mention(source: string, target: string): Promise<Response> {
  return fetch(`${running.url}/webmention`, { method: "POST", body: new URLSearchParams({ source, target }) });
}

async function listed(): Promise<unknown> {
  return ((await (await fetch(`${running.url}/mentions.json`)).json()) as { mentions: unknown }).mentions;
}

async function deployed(): Promise<void> {
  expect((await deploySucceeded(running.url)).status).toBe(200);
}

function minutesAgo(minutes: number): string {
  return new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, "");
}

async function startBob(text: string): Promise<Bob> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      let body = "";
      request.on("data", (data) => (body += data));
      request.on("end", () => {
        received.push(body);
        response.writeHead(202).end();
      });
      return;
    }
    response.setHeader("content-type", "text/plain; charset=utf-8");
    response.end(`# nick = bob\n# url = ${here()}/twtxt.txt\n# webmention = ${here()}/hook\n\n${WRITTEN}\t${text}\n`);
  });
  const here = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, host: new URL(here()).host, feed: `${here()}/twtxt.txt`, received };
}
