import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { fetchSafely } from "../../plugin/transport/fetch.js";
import { afterEach } from "../helpers/hooks.js";
import { loopbackServer } from "../helpers/loopback.js";

const open: { end(): void }[] = [];

afterEach(() => {
  for (const { end } of open.splice(0)) end();
});

/** A server that answers each connection with these bytes, and counts connections. */
async function rawServer(answer: (socket: Socket, count: number) => void) {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("data", () => answer(socket, count));
    count += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({
    end() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections: () => count };
}

describe("fetchSafely", () => {
  it("sends method, headers and body as fetch does, and returns status, headers and body", async () => {
    const received: unknown[] = [];
    const { url } = await loopbackServer((request, response) => {
      let body = "";
      request.on("data", (data) => (body += data));
      request.on("end", () => {
        const { "content-type": type, "content-length": length, "x-a": a } = request.headers;
        received.push([request.method, request.url, type, length, a, body]);
        response.writeHead(201, "Made", { "set-cookie": ["a=1", "b=2"], "x-b": "c" }).end("é");
      });
    });
    const answer = await fetchSafely(`${url}/p?q=1`, { method: "POST", headers: { "X-A": "1" }, body: "über" });
    expect([answer.status, answer.statusText, answer.headers.getSetCookie(), answer.headers.get("x-b")]).toEqual([
      201,
      "Made",
      ["a=1", "b=2"],
      "c",
    ]);
    expect(await answer.text()).toBe("é");
    const streamed = ReadableStream.from([Buffer.from("ab"), Buffer.from("c")]);
    const put = { method: "PUT", body: streamed, duplex: "half", headers: { "content-length": "3" } } as const;
    await (await fetchSafely(url, put)).text();
    expect(received).toEqual([
      ["POST", "/p?q=1", "text/plain;charset=UTF-8", "5", "1", "über"],
      ["PUT", "/", undefined, "3", undefined, "abc"],
    ]);
  });

  it("returns responses without a body, and redirects unless they are refused", async () => {
    const { url } = await loopbackServer((request, response) => {
      if (request.url === "/old") return response.writeHead(302, { location: "/new" }).end();
      return response.writeHead(request.method === "HEAD" ? 200 : 204, { "content-length": "0" }).end();
    });
    expect((await fetchSafely(url, { method: "HEAD" })).body).toBeNull();
    expect(await fetchSafely(url, { method: "DELETE" })).toMatchObject({ status: 204, body: null });
    const redirected = await fetchSafely(`${url}/old`, { redirect: "manual" });
    expect([redirected.status, redirected.headers.get("location")]).toEqual([302, "/new"]);
    await redirected.body?.cancel();
    await expect(fetchSafely(`${url}/old`, { redirect: "error" })).rejects.toMatchObject({
      message: "fetch failed",
      cause: { message: "unexpected redirect" },
    });
  });

  it("rejects with the signal's reason before, during and after the response's head", async () => {
    const reason = new Error("enough");
    await expect(fetchSafely("http://127.0.0.1:9/", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    for (const head of ["", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab"]) {
      const limit = new AbortController();
      const { url } = await rawServer((socket) => {
        socket.write(head);
        setTimeout(() => limit.abort(reason), 20);
      });
      const text = fetchSafely(url, { signal: limit.signal }).then((answer) => answer.text());
      await expect(text).rejects.toBe(reason);
    }
  });

  it.each([
    ["no answer", ""],
    ["a switch to another protocol", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
    ["half a head", "HTTP/1.1 200 OK\r\ncontent-le"],
    ["no HTTP", "SSH-2.0-x\r\n"],
  ])("rejects %s before the server closes the connection", async (_what, bytes) => {
    const { url } = await rawServer((socket) => socket.end(bytes));
    await expect(fetchSafely(url)).rejects.toMatchObject({ message: "fetch failed" });
  });

  it.each(["000", "999"])("closes the connection of a response with status %s", async (status) => {
    let closed = () => {};
    const end = new Promise<void>((resolve) => (closed = resolve));
    const { url } = await rawServer((socket) => {
      socket.on("close", closed).write(`HTTP/1.1 ${status} Odd\r\ncontent-length: 9\r\n\r\n`);
    });
    await expect(fetchSafely(url)).rejects.toMatchObject({ message: "fetch failed", cause: { name: "RangeError" } });
    await end;
  });

  it.each([
    ["shorter than its length", "content-length: 9"],
    ["in chunks without the last one", "transfer-encoding: chunked"],
  ])("throws for a body that is %s", async (_what, header) => {
    const { url } = await rawServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n1\r\na\r\n`));
    const answer = await fetchSafely(url);
    await expect(answer.text()).rejects.toMatchObject({ message: "terminated", cause: { code: "ECONNRESET" } });
  });

  it("sends a GET again if the server closed the idle connection that it was sent on", async () => {
    const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let answers = 0;
    const { url, connections } = await rawServer((socket) => {
      answers += 1;
      // The second request arrives on a connection that the server has just given up.
      if (answers === 2) socket.destroy();
      else socket.write(ok);
    });
    expect(await (await fetchSafely(url)).text()).toBe("ok");
    await new Promise(setImmediate);
    expect(await (await fetchSafely(url)).text()).toBe("ok");
    expect([answers, connections()]).toEqual([3, 2]);
  });
});
