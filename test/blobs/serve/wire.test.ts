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

/** Alice's blobs on a real server, with all its responses, even those that no client has read. */
async function served(alice: AlicesBlobs) {
  const responses: Promise<Response>[] = [];
  const server = await nodeServer({
    port: 0,
    host: "127.0.0.1",
    origin: "https://alice.example",
    findEndpoint: () =>
      endpoint((request, address) => {
        const response = alice.respond(request, address);
        responses.push(response);
        return response;
      }),
    serveFile: (_, response) => void response.writeHead(404).end(),
    rateLimit: () => null,
    trustedProxies: 0,
    log: () => {},
  });
  running.push(server);
  return { port: server.port, responses };
}

/** The head of a signed HTTP/1.1 request. */
function head(request: UnsignedRequest, more: Record<string, string> = {}): string {
  const { pathname, search } = new URL(request.url);
  const headers = { host: "alice.example", ...signRequest(request, ALICE, Date.parse(NOW)), ...more };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${request.method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

const NOW = "2026-11-20T09:00:00Z";

/** Sends a request. @returns everything the server sends until it closes the connection */
async function responseText(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk)).write(text);
  await once(socket, "close");
  return Buffer.concat(chunks).toString("latin1");
}

async function withBlob() {
  const alice = alicesBlobs();
  await alice.put("a", "before", { "content-type": "text/plain", "blob-public": "?1" });
  return { alice, before: await dump(alice.store), ...(await served(alice)) };
}

const CLOSE = { connection: "close" };

describe("on a real server", () => {
  it("HEAD gets the response of GET without the body, also for an error", async () => {
    const { port } = await withBlob();
    const shared = `/shared/${ALICE.publicKey}/a`;
    const texts = [
      await responseText(port, head({ method: "HEAD", url: `${API}/a` }, CLOSE)),
      await responseText(port, `HEAD ${shared} HTTP/1.1\r\nhost: alice.example\r\nconnection: close\r\n\r\n`),
      await responseText(port, head({ method: "HEAD", url: `${API}/b` }, CLOSE)),
      await responseText(port, head({ method: "HEAD", url: API }, CLOSE)),
    ];
    expect(texts.map((text) => text.split("\r\n")[0])).toEqual([
      "HTTP/1.1 200 OK",
      "HTTP/1.1 200 OK",
      "HTTP/1.1 404 Not Found",
      "HTTP/1.1 200 OK",
    ]);
    for (const text of texts) expect(text.split("\r\n\r\n").slice(1)).toEqual([""]);
    for (const text of texts.slice(0, 2)) expect(text.toLowerCase()).toContain("content-length: 6\r\n");
  });

  it("PUT and GET transfer every byte", async () => {
    const { alice, port, responses } = await withBlob();
    const body = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7919) >> 5));
    const put = { method: "PUT", url: `${API}/b`, body };
    const text = head(put, { "content-length": String(body.length), ...CLOSE }) + body.toString("latin1");
    const socket = connect(port, "127.0.0.1");
    // Not ended: Node closes a connection whose client has ended it before the answer.
    socket.resume().write(Buffer.from(text, "latin1"));
    await once(socket, "close");
    expect((await responses[0])?.status).toBe(201);
    expect((await alice.head("b")).status).toBe(200);
    const response = await responseText(port, head({ method: "GET", url: `${API}/b` }, CLOSE));
    const [, contents = ""] = response.split(/\r\n\r\n(.*)/s);
    expect(sha256(Buffer.from(contents, "latin1"))).toBe(sha256(body));
  });

  it.each([
    ["with its length", { "content-length": "6" }, "aft"],
    ["without its length", { "transfer-encoding": "chunked" }, "3\r\naft\r\n"],
  ])("a truncated body, %s, changes neither contents nor metadata", async (_, headers, part) => {
    const { alice, before, port, responses } = await withBlob();
    const socket = connect(port, "127.0.0.1");
    const put = { method: "PUT", url: `${API}/a`, body: Buffer.from("after!"), headers: { "content-type": "a/b" } };
    socket.write(head(put, headers) + part);
    while (responses.length === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    expect((await responses[0])?.status).toBe(400);
    expect(await dump(alice.store)).toEqual(before);
    expect(alice.log).toEqual([]);
  });
});
