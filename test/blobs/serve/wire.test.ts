import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type NodeServer, nodeServer } from "../../../plugin/host/node-server.js";
import { signRequest, type UnsignedRequest } from "../../../plugin/http/sign-request.js";
import { endpoint } from "../../helpers/endpoints.js";
import { ALICE, type AlicesBlobs, API, alicesBlobs, dump, sha256 } from "../alices-blobs.js";

const running: NodeServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

/** Alice's blobs on a real server, and each answer that it has made, whether or not somebody was there to read it. */
async function served(alice: AlicesBlobs) {
  const made: Promise<Response>[] = [];
  const server = await nodeServer({
    port: 0,
    host: "127.0.0.1",
    origin: "https://alice.example",
    endpointAt: () =>
      endpoint((request, address) => {
        const answer = alice.answer(request, address);
        made.push(answer);
        return answer;
      }),
    serveFile: (_, response) => void response.writeHead(404).end(),
    rateLimit: () => null,
    trustedProxies: 0,
    log: () => {},
  });
  running.push(server);
  return { port: server.port, made };
}

/** A signed request as it is written on the wire. */
function head(request: UnsignedRequest, more: Record<string, string> = {}): string {
  const { pathname, search } = new URL(request.url);
  const headers = { host: "alice.example", ...signRequest(request, ALICE, Date.parse(NOW)), ...more };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${request.method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

const NOW = "2026-11-20T09:00:00Z";

/** All that a server says until it closes. */
async function said(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk)).write(text);
  await once(socket, "close");
  return Buffer.concat(chunks).toString("latin1");
}

async function withOne() {
  const alice = alicesBlobs();
  await alice.put("a", "before", { "content-type": "text/plain", "blob-public": "?1" });
  return { alice, before: await dump(alice.store), ...(await served(alice)) };
}

const CLOSE = { connection: "close" };

describe("on a real server", () => {
  it("HEAD is answered like GET, without the contents, and a mistake without its reason", async () => {
    const { port } = await withOne();
    const shared = `/shared/${ALICE.publicKey}/a`;
    const answers = [
      await said(port, head({ method: "HEAD", url: `${API}/a` }, CLOSE)),
      await said(port, `HEAD ${shared} HTTP/1.1\r\nhost: alice.example\r\nconnection: close\r\n\r\n`),
      await said(port, head({ method: "HEAD", url: `${API}/b` }, CLOSE)),
      await said(port, head({ method: "HEAD", url: API }, CLOSE)),
    ];
    expect(answers.map((answer) => answer.split("\r\n")[0])).toEqual([
      "HTTP/1.1 200 OK",
      "HTTP/1.1 200 OK",
      "HTTP/1.1 404 Not Found",
      "HTTP/1.1 200 OK",
    ]);
    for (const answer of answers) expect(answer.split("\r\n\r\n").slice(1)).toEqual([""]);
    for (const answer of answers.slice(0, 2)) expect(answer.toLowerCase()).toContain("content-length: 6\r\n");
  });

  it("PUT and GET pass on every byte", async () => {
    const { alice, port } = await withOne();
    const body = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7919) >> 5));
    const put = { method: "PUT", url: `${API}/b`, body };
    const text = head(put, { "content-length": String(body.length), ...CLOSE }) + body.toString("latin1");
    const socket = connect(port, "127.0.0.1");
    socket.resume().end(Buffer.from(text, "latin1"));
    await once(socket, "close");
    expect((await alice.head("b")).status).toBe(200);
    const answer = await said(port, head({ method: "GET", url: `${API}/b` }, CLOSE));
    const [, contents = ""] = answer.split(/\r\n\r\n(.*)/s);
    expect(sha256(Buffer.from(contents, "latin1"))).toBe(sha256(body));
  });

  it.each([
    ["with its length", { "content-length": "6" }, "aft"],
    ["without it", { "transfer-encoding": "chunked" }, "3\r\naft\r\n"],
  ])("a body that breaks off, %s, leaves contents and metadata", async (_, headers, part) => {
    const { alice, before, port, made } = await withOne();
    const socket = connect(port, "127.0.0.1");
    const put = { method: "PUT", url: `${API}/a`, body: Buffer.from("after!"), headers: { "content-type": "a/b" } };
    socket.write(head(put, headers) + part);
    while (made.length === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    expect((await made[0])?.status).toBe(400);
    expect(await dump(alice.store)).toEqual(before);
    expect(alice.log).toEqual([]);
  });
});
