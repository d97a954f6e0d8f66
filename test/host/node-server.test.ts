import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type Server } from "node:http";
import { connect, Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn, setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Endpoint } from "../../plugin/host/endpoints.js";
import { findAddress } from "../../plugin/host/node-request.js";
import { type NodeServer, type NodeServerOptions, nodeServer } from "../../plugin/host/node-server.js";
import { rateLimit } from "../../plugin/host/rate-limit.js";
import { type SiteFilesOptions, siteFiles } from "../../plugin/host/site-files.js";
import {
  type Handler,
  type HttpRequest,
  type HttpResponse,
  line,
  methodNotAllowed,
  readBody,
  withProblemResponses,
} from "../../plugin/http/respond.js";
import { endpoint } from "../helpers/endpoints.js";
import { freePort } from "../helpers/ports.js";

const ORIGIN = "https://alice.example";
const running: NodeServer[] = [];
const folders: string[] = [];
const MAX_BYTES = 2 ** 20;
/** The longest delay of a timer. */
const NEVER_MS = 2 ** 31 - 1;

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

interface Started extends Partial<NodeServerOptions> {
  /** The handler of a path if `endpointAt` is not given; `null` for the site's files. */
  route?: (path: string) => ((...asked: Parameters<Handler>) => Promise<Response | HttpResponse>) | null;
  /** The rate limit of a path; default: that of mentions. */
  limitOf?: (path: string) => Endpoint["rateLimit"];
}

async function started({ route, limitOf = () => "mention", ...options }: Started): Promise<NodeServer> {
  const server = await nodeServer({
    port: 0,
    host: "127.0.0.1",
    origin: ORIGIN,
    findEndpoint(path) {
      const handler = route?.(path);
      return handler ? endpoint((request, address) => handler(request, { address, params: {} }), limitOf(path)) : null;
    },
    serveFile: (_, response) => void response.writeHead(404).end(),
    rateLimit: () => null,
    trustedProxies: 0,
    log: () => {},
    ...options,
  });
  running.push(server);
  return server;
}

async function textOf(request: HttpRequest): Promise<string> {
  return Buffer.from(await readBody(request, MAX_BYTES)).toString();
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends the path unchanged: `fetch` would normalize it. */
function ask(
  { port }: NodeServer,
  path: string,
  {
    method = "GET",
    headers = {},
    body = "",
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/**
 * Sends text on a connection of its own.
 *
 * @param onData - gets all that has been received
 * @returns it when the connection is closed
 */
function sendRaw(
  { port }: NodeServer,
  text: string,
  onData: (received: string, socket: Socket) => unknown = () => {},
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let received = "";
    socket.on("data", (data) => {
      received += data;
      onData(received, socket);
    });
    socket.on("error", () => {}).on("close", () => resolve(received));
  });
}

/** A new folder with these files. */
function newFolder(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-serve-"));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

describe("a handler on a Node.js server", () => {
  it("gets a URL with the site's origin, regardless of Host and request target", async () => {
    const server = await started({ route: () => async (request) => line(request.url) });
    for (const path of ["/a?b=c", "https://evil.example/a?b=c"]) {
      const { body } = await ask(server, path, { headers: { host: "evil.example" } });
      expect(body).toBe(`${ORIGIN}/a?b=c\n`);
    }
    expect((await ask(server, "https://evil.example?b=c/d")).body).toBe(`${ORIGIN}/?b=c/d\n`);
    expect((await ask(server, "//evil.example/a")).body).toBe(`${ORIGIN}//evil.example/a\n`);
  });

  it("receives method, headers and body, and its status, headers and body are sent", async () => {
    const server = await started({
      route: () => async (request) =>
        new Response(`${request.method} ${request.headers.get("x-one")} ${await textOf(request)}`, {
          status: 201,
          headers: { "x-two": "2" },
        }),
    });
    const answer = await ask(server, "/", { method: "PUT", headers: { "x-one": "1" }, body: "hello" });
    expect(answer).toMatchObject({ status: 201, body: "PUT 1 hello", headers: { "x-two": "2" } });
  });

  it("413 body-too-large: the handler stops reading the body, and the client gets the response", async () => {
    const server = await started({
      route: () =>
        withProblemResponses(
          async (request) => line(String((await readBody(request, 100)).length)),
          () => {},
        ),
    });
    const answer = await ask(server, "/", {
      method: "POST",
      headers: { "content-length": "101" },
      body: "x".repeat(101),
    });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "body-too-large" });
    expect((await ask(server, "/", { method: "POST", body: "x".repeat(100) })).body).toBe("100\n");
  });

  it("sends a short response of unknown length in one write", async () => {
    const server = await started({ route: () => async () => line("done") });
    const spies = [vi.spyOn(Socket.prototype, "_write"), vi.spyOn(Socket.prototype, "_writev")];
    onTestFinished(() => void vi.restoreAllMocks());
    expect((await ask(server, "/")).body).toBe("done\n");
    const sockets = spies.flatMap(({ mock }) => mock.contexts as Socket[]);
    expect(sockets.filter(({ localPort }) => localPort === server.port)).toHaveLength(1);
  });

  it("500 internal: only the log has the error", async () => {
    const logged: string[] = [];
    const server = await started({
      route: () =>
        withProblemResponses(
          async () => {
            throw new Error("the secret path /home/alice");
          },
          (text) => void logged.push(text),
        ),
    });
    const answer = await ask(server, "/");
    expect(answer).toMatchObject({ status: 500, headers: { "content-type": "application/problem+json" } });
    expect(answer.body).not.toContain("secret");
    expect(logged.join()).toContain("the secret path");
  });

  it("is rate-limited only on paths with a rate limit", async () => {
    const server = await started({
      route: () => async () => line("done"),
      limitOf: (path) => (path === "/limited" ? "mention" : null),
      rateLimit: () => ({ status: 429, headers: {}, body: "enough" }),
    });
    const statuses = [];
    for (const path of ["/limited", "/limited?x", "http://alice.example/limited", "/limited/not", "/"]) {
      statuses.push((await ask(server, path, { method: "POST" })).status);
    }
    expect(statuses).toEqual([429, 429, 429, 200, 200]);
  });

  it("gets TRACE requests, which Fetch's Request does not support", async () => {
    const logged: string[] = [];
    const route =
      () =>
      async ({ method }: HttpRequest) =>
        method === "GET" ? line("done") : methodNotAllowed(["GET"]);
    const server = await started({ route, log: (text) => void logged.push(text) });
    const { status, headers } = await ask(server, "/", { method: "TRACE" });
    expect([status, headers.allow, logged]).toEqual([405, "GET", []]);
  });

  it.each(["destroy", "resetAndDestroy"] as const)(
    "logs nothing about an aborted request, and answers the next one: %s",
    async (hangUp) => {
      const failed: string[] = [];
      const read: string[] = [];
      const log = (text: string) => void failed.push(text);
      const server = await started({
        route: () =>
          withProblemResponses(async (request) => {
            const text = textOf(request).finally(() => read.push(request.method));
            socket[hangUp]();
            return line(await text);
          }, log),
        log,
      });
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
      });
      await expect.poll(() => read).toEqual(["POST"]);
      expect((await ask(server, "/", { method: "POST", body: "whole" })).body).toBe("whole\n");
      expect(failed).toEqual([]);
    },
  );

  it("logs once that requests come through a proxy that is not configured", async () => {
    const logged: string[] = [];
    const options = { route: () => async () => line("done"), log: (text: string) => void logged.push(text) };
    const configured = await started({ ...options, trustedProxies: 1 });
    const unconfigured = await started(options);
    await ask(unconfigured, "/");
    for (const server of [configured, unconfigured, unconfigured])
      await ask(server, "/", { headers: { "x-forwarded-for": "192.0.2.1" } });
    expect(logged).toEqual([expect.stringContaining("--trust-proxy 1")]);
  });

  it("closes the connection if a body comes in single bytes, and reads a short body or larger chunks", async () => {
    const failed: string[] = [];
    const taken: string[] = [];
    const log = (text: string) => void failed.push(text);
    const server = await started({
      route: () =>
        withProblemResponses(async (request) => {
          const text = await textOf(request).finally(() => taken.push(request.method));
          return line(String(text.length));
        }, log),
      log,
    });
    const head = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    const send = (chunk: string, count: number, end = "0\r\n\r\n") =>
      sendRaw(server, head + `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(count) + end);
    expect(await send("x", 900)).toContain("\r\n900\n");
    expect(await send("x".repeat(64), 3000)).toContain("192000\n");
    expect(await send("x", 5000, "")).toBe("");
    expect([taken, failed]).toEqual([["POST", "POST", "POST"], []]);
  });

  it.each([
    ["431 headers-too-large", `GET / HTTP/1.1\r\nHost: x\r\nBlob-Properties: ${"x".repeat(25_000)}\r\n\r\n`],
    ["400 bad-request", "GET / HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n"],
    ["400 bad-request", "no request\r\n\r\n"],
    ["400 bad-request", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"],
  ])("%s: an invalid request gets a problem document, also after other requests: %.30j", async (answer, text) => {
    const server = await started({ route: () => async () => line("done") });
    const received = await sendRaw(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", (answers, socket) => {
      if (answers.endsWith("done\n")) socket.write(text);
    });
    const [status, code] = answer.split(" ");
    const [head = "", body = ""] = received.slice(received.lastIndexOf("HTTP/1.1")).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*application/problem\\+json.*connection: close`, "s"));
    expect(JSON.parse(body)).toMatchObject({ status: Number(status), code });
  });

  it.each([
    ["without Host", []],
    ["with two Hosts", ["Host", "a.example", "Host", "b.example"]],
  ])("400 bad-request: a request %s", async (_what, headers) => {
    const { port } = await started({ route: () => async () => line("done") });
    const request = httpRequest({ port, host: "127.0.0.1", setHost: false, headers });
    const [response] = (await once(request.end(), "response")) as [IncomingMessage];
    const [body] = await response.toArray();
    expect(JSON.parse(String(body))).toMatchObject({ status: 400, code: "bad-request" });
    expect(response).toMatchObject({ statusCode: 400, headers: { "content-type": "application/problem+json" } });
  });

  it("is answered although it expects more than a server knows", async () => {
    const server = await started({ route: () => async (request) => line(await textOf(request)) });
    const request = "POST / HTTP/1.1\r\nHost: x\r\nExpect: much\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
    expect(await sendRaw(server, request)).toMatch(/^HTTP\/1\.1 200 .*\bhi\n/s);
  });

  it("cuts off a started response if the rest of the request is invalid", async () => {
    const server = await started({
      route: () => async () =>
        new Response(new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("begun")) })),
    });
    const head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    const received = await sendRaw(server, head, (answer, socket) => {
      if (answer.includes("begun")) socket.write("no chunk\r\n");
    });
    expect(received).toMatch(/begun\r\n$/);
  });

  it("logs nothing and cancels the body if the client disconnects during a response with Content-Length", async () => {
    const failed: string[] = [];
    let parts = 0;
    let isLetGo = false;
    const slow = () =>
      new ReadableStream({
        type: "bytes",
        pull(controller) {
          parts += 1;
          if (parts > 1) return new Promise(() => {});
          controller.enqueue(new Uint8Array(1000));
        },
        cancel: () => {
          isLetGo = true;
        },
      });
    const server = await started({
      route: () => async () => new Response(slow(), { headers: { "content-length": "5000" } }),
      log: (text) => void failed.push(text),
    });
    await sendRaw(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", (_, socket) => socket.destroy());
    await expect.poll(() => isLetGo).toBe(true);
    await setTimeout(10);
    expect(failed).toEqual([]);
  });

  it("logs nothing and cancels the body if the client disconnects in the middle of a response", async () => {
    const failed: string[] = [];
    let isLetGo = false;
    const endless = () =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(Buffer.alloc(65_536)),
        cancel: () => {
          isLetGo = true;
        },
      });
    const server = await started({
      route: (path) => async () => (path === "/endless" ? new Response(endless()) : line("done")),
      log: (text) => void failed.push(text),
    });
    await sendRaw(server, "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n", (_, socket) => socket.resetAndDestroy());
    await expect.poll(() => isLetGo).toBe(true);
    expect((await ask(server, "/")).body).toBe("done\n");
    expect(failed).toEqual([]);
  });

  it("logs a response whose body fails", async () => {
    const failed: unknown[] = [];
    const broken = () => new ReadableStream({ pull: (controller) => controller.error(new Error("The disk is gone.")) });
    const server = await started({
      route: () => async () => new Response(broken()),
      log: (...line) => void failed.push(line),
    });
    await expect(ask(server, "/a?b")).rejects.toThrow();
    expect(failed).toEqual([
      ["The response failed: The disk is gone.", { level: "error", request: { method: "GET", path: "/a" } }],
    ]);
  });

  it("answers open requests before it closes, and accepts no new connections", async () => {
    let finish = () => {};
    const port = await freePort();
    const begun = new Promise<void>((begin) => {
      void started({
        port,
        route: () => () => {
          begin();
          return new Promise((resolve) => {
            finish = () => resolve(line("finished"));
          });
        },
      });
    });
    await expect.poll(() => running.length).toBe(1);
    const [server] = running.splice(0);
    if (!server) throw new Error("no server");
    const answer = ask(server, "/");
    await begun;
    const closed = server.close();
    await expect(ask(server, "/")).rejects.toThrow();
    finish();
    expect((await answer).body).toBe("finished\n");
    await closed;
  });

  it("keeps an idle connection longer than Caddy and nginx keep theirs, so that no POST meets its end", async () => {
    const { port } = await started({ route: () => async () => line("here") });
    const { headers } = await fetch(`http://127.0.0.1:${port}/`, { method: "POST" });
    expect(Number(/^timeout=(\d+)$/.exec(headers.get("keep-alive") ?? "")?.[1])).toBeGreaterThan(120);
  });

  it("closes the connection that was idle longest when too many are idle", async () => {
    const { port } = await started({ maxIdleConnections: 2, route: () => async () => line("here") });
    const closed: number[] = [];
    const ask = (name: number) =>
      new Promise<Socket>((resolve, reject) => {
        const request = httpRequest({ port, host: "127.0.0.1", agent: new Agent({ keepAlive: true }) });
        request.on("error", reject).on("response", (response) => {
          const { socket } = response;
          response.resume().on("end", () => resolve(socket.once("close", () => closed.push(name))));
        });
        request.end();
      });
    const sockets = [];
    for (const name of [0, 1, 2, 3]) sockets.push(await ask(name));
    await expect.poll(() => closed).toEqual([0, 1]);
    for (const socket of sockets) socket.destroy();
  });

  it("closes a connection that has sent nothing at once, while it answers an open request", async () => {
    let finish = () => {};
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const server = await started({
      route: () => () => {
        begin();
        return new Promise((resolve) => {
          finish = () => resolve(line("finished"));
        });
      },
    });
    const unused = connect(server.port, "127.0.0.1");
    await once(unused, "connect");
    const answer = ask(server, "/");
    await begun;
    const closed = server.close();
    await once(unused.resume(), "close");
    finish();
    expect((await answer).body).toBe("finished\n");
    await closed;
  });
});

describe("pipelined requests", () => {
  const get = "GET / HTTP/1.1\r\nhost: alice.example\r\n\r\n";

  it("are handled in order, each after the response to the previous one", async () => {
    let atWork = 0;
    let most = 0;
    const server = await started({
      route: () => async () => {
        atWork += 1;
        most = Math.max(most, atWork);
        await new Promise((resolve) => setImmediate(resolve));
        atWork -= 1;
        return line("here");
      },
    });
    const answers = await sendRaw(server, get.repeat(50), (received, socket) => {
      if (received.split("HTTP/1.1 200").length === 51) socket.end();
    });
    expect([answers.split("here\n").length - 1, most]).toEqual([50, 1]);
  });

  it("close the connection if there are too many of them", async () => {
    let begun = 0;
    const server = await started({
      idleMs: NEVER_MS,
      route: () => () => {
        begun += 1;
        return new Promise(() => {});
      },
    });
    await sendRaw(server, get.repeat(1000));
    expect(begun).toBeLessThanOrEqual(1);
  });

  it("do not keep an idle connection open", async () => {
    const server = await started({ idleMs: 50, route: () => () => new Promise(() => {}) });
    expect(await sendRaw(server, get)).toBe("");
  });

  it("never get part of another response if one is shorter than its Content-Length", async () => {
    const failed: string[] = [];
    const server = await started({
      log: (text) => void failed.push(text),
      route: () => async () => new Response("short", { headers: { "content-length": "10" } }),
    });
    const read = async () => (await fetch(`http://127.0.0.1:${server.port}/`)).text();
    await expect(read()).rejects.toThrow();
    expect(failed).toEqual([expect.stringContaining("content-length")]);
  });
});

describe("a request body on a Node.js server", () => {
  const PATIENCE_MS = 100;
  const measured = (wait: () => Promise<unknown> = async () => {}) =>
    withProblemResponses(
      async (request) => {
        await wait();
        return line(String((await textOf(request)).length));
      },
      () => {},
    );

  /** Sends the head of a request and leaves the body to the test. `answer` is everything received until the connection closes. */
  function opened({ port }: NodeServer, size: number, connection = "keep-alive") {
    const socket = connect(port, "127.0.0.1");
    socket.write(`PUT / HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\nContent-Length: ${size}\r\n\r\n`);
    let come = "";
    socket.on("data", (data) => {
      come += data;
    });
    socket.on("error", () => {});
    return { socket, answer: new Promise<string>((resolve) => socket.on("close", () => resolve(come))) };
  }

  /** The requests that the server has started to read. */
  function watchRequests(): { request: IncomingMessage; server: Server }[] {
    const seen: { request: IncomingMessage; server: Server }[] = [];
    const watch = (message: unknown) => void seen.push(Object(message));
    subscribe("http.server.request.start", watch);
    onTestFinished(() => void unsubscribe("http.server.request.start", watch));
    return seen;
  }

  /** Advances the timer of slow bodies, in multiples of `PATIENCE_MS`. */
  function patienceClock(): (times: number) => Promise<void> {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    return async (times) => {
      vi.advanceTimersByTime(times * PATIENCE_MS);
      // The server checks in a later turn of the event loop.
      await nextTurn();
      await nextTurn();
    };
  }

  it.each(["stops", "drips"])("408 too-slow: it %s; the connection is closed after the response", async (name) => {
    const pass = patienceClock();
    const server = await started({ route: () => measured(), patienceMs: PATIENCE_MS });
    const { socket, answer } = opened(server, 100_000);
    socket.write(Buffer.alloc(50_000));
    while (socket.writable) {
      if (name === "drips") socket.write("x");
      await pass(0.1);
    }
    expect(await answer).toMatch(/^HTTP\/1\.1 408 .*"code":"too-slow"/s);
  });

  it.each<[string, number[]]>([
    ["before its first chunk", [5]],
    ["after each of its first chunks", [0, 1.5, 1.5, 1.5, 1.5]],
  ])("does not time out while the server does not read it: %s", async (_name, pauses) => {
    const pass = patienceClock();
    const seen = watchRequests();
    const pause = async () => {
      const times = pauses.shift() ?? 0;
      if (times === 0) return;
      await expect.poll(() => seen[0]?.request.readableFlowing).not.toBe(true);
      await pass(times);
    };
    const read = async (request: HttpRequest) => {
      let size = 0;
      await pause();
      for await (const chunk of request.body ?? []) {
        size += chunk.length;
        await pause();
      }
      return line(String(size));
    };
    const server = await started({ route: () => withProblemResponses(read, () => {}), patienceMs: PATIENCE_MS });
    const answer = await ask(server, "/", { method: "PUT", body: "x".repeat(1_000_000) });
    expect([answer.status, answer.body]).toEqual([200, "1000000\n"]);
    expect(pauses).toEqual([]);
  });

  it("does not time out if it has arrived completely and is read later", async () => {
    const pass = patienceClock();
    const seen = watchRequests();
    const wait = async () => {
      const request = seen.at(-1)?.request;
      await expect.poll(() => request?.complete || request?.isPaused()).toBe(true);
      await pass(3);
    };
    const server = await started({ route: () => measured(wait), patienceMs: PATIENCE_MS });
    for (const size of [0, 1, 40_000]) {
      const answer = await ask(server, "/", { method: "PUT", body: "x".repeat(size) });
      expect([answer.status, answer.body]).toEqual([200, `${size}\n`]);
    }
  });

  it("has no time limit while it arrives steadily; the head has one", async () => {
    const seen = watchRequests();
    const server = await started({ route: () => measured(), patienceMs: 10 * PATIENCE_MS });
    const [size, pieces] = [40_000, 12];
    const { socket, answer } = opened(server, size * pieces, "close");
    for (let piece = 0; piece < pieces; piece += 1) {
      socket.write(Buffer.alloc(size));
      await setTimeout(PATIENCE_MS);
    }
    expect(await answer).toMatch(/^HTTP\/1\.1 200 .*\b480000\n/s);
    expect(seen.map(({ server }) => server.requestTimeout)).toEqual([0]);
    for (const { server } of seen) expect(server.headersTimeout).toBeGreaterThan(0);
    for (const { server } of seen) expect(server.headersTimeout).toBeLessThanOrEqual(60_000);
  });

  it("does not keep the connection open when the requested file has been sent", async () => {
    const server = await started({ serveFile: (_, response) => void response.end("the file") });
    const { socket, answer } = opened(server, 100_000);
    socket.write(Buffer.alloc(50_000));
    expect(await answer).toMatch(/^HTTP\/1\.1 200 .*the file/s);
  });

  it("that no handler reads does not block the response, and leaves no timer behind", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const server = await started({
      route: (path) => async () => (path === "/later" ? setTimeout(10, line("no")) : line("no")),
    });
    const before = timers();
    // Reuses the previous connection if it is still open.
    for (const [path, size] of [
      ["/", 8_000_000],
      ...Array(10).fill(["/", 200_000]),
      ...Array(10).fill(["/later", 100_000]),
    ]) {
      expect((await ask(server, path, { method: "PUT", body: "x".repeat(size) })).body).toBe("no\n");
    }
    await expect.poll(timers).toBeLessThan(before + 5);
  });
});

describe("the rate limit by address", () => {
  /** A limit of one request a minute. */
  function limited(trustedProxies = 0) {
    const limit = rateLimit({ perMinute: 1, now: () => 0 });
    return (remoteAddress: string, forwarded?: string) => {
      const headersDistinct = forwarded === undefined ? {} : { "x-forwarded-for": [forwarded] };
      const address = findAddress({ socket: { remoteAddress }, headersDistinct } as never, trustedProxies);
      return limit("mention", "POST", address)?.status ?? 200;
    };
  }

  it("counts the addresses of an IPv6 /64 together, and a mapped IPv4 address as IPv4", () => {
    const ask = limited();
    expect([ask("2001:db8::1"), ask("2001:db8::ffff:1"), ask("2001:db8:0:1::1")]).toEqual([200, 429, 200]);
    expect([ask("192.0.2.1"), ask("::ffff:192.0.2.1")]).toEqual([200, 429]);
  });

  it("counts an IPv6 /48 as three clients; a client over its own limit uses nothing up of it", () => {
    const ask = limited();
    expect([1, 1, 1, 1, 2, 3, 4].map((n) => ask(`2001:db8:0:${n}::1`))).toEqual([200, 429, 429, 429, 200, 200, 429]);
    expect(ask("2001:db8:1:4::1")).toBe(200);
  });

  it("uses only the X-Forwarded-For entries that trusted proxies added", () => {
    expect([limited()("192.0.2.1", "198.51.100.1")]).toEqual([200]);
    const none = limited();
    expect([none("192.0.2.1", "198.51.100.1"), none("192.0.2.1", "198.51.100.2")]).toEqual([200, 429]);
    const one = limited(1);
    expect([one("192.0.2.1", "9.9.9.9, 198.51.100.1"), one("192.0.2.1", "8.8.8.8, 198.51.100.1")]).toEqual([200, 429]);
    expect(one("192.0.2.1", "8.8.8.8, 198.51.100.2")).toBe(200);
    const ports = limited(1);
    expect([ports("192.0.2.1", "198.51.100.1:1"), ports("192.0.2.1", "198.51.100.1:2")]).toEqual([200, 429]);
    expect([ports("192.0.2.1", "[2001:db8::1]:1"), ports("192.0.2.1", "[2001:db8::2]:2")]).toEqual([200, 429]);
  });
});

describe("the files of a site", () => {
  function site(files: Record<string, string>, options: Partial<SiteFilesOptions> = {}, others: Started = {}) {
    const folder = newFolder(files);
    const endpoint = `${ORIGIN}/webmention`;
    const place = { folder, published: folder, prefix: "", feedPath: "/twtxt.txt", endpoint, ...options };
    return started({ serveFile: siteFiles(place), ...others });
  }

  it("the feed and its archives have Content-Type, CORS header and endpoint", async () => {
    const server = await site({ "twtxt.txt": "# nick = ü\n", "twtxt-2024.txt": "x", "twtxt-old.txt": "x" });
    for (const path of ["/twtxt.txt", "/twtxt-2024.txt", "/twtxt.txt?x=1"]) {
      expect((await ask(server, path)).headers).toMatchObject({
        "content-type": "text/plain; charset=utf-8",
        "access-control-allow-origin": "*",
        link: `<${ORIGIN}/webmention>; rel="webmention"`,
      });
    }
    expect((await ask(server, "/twtxt-old.txt")).headers.link).toBeUndefined();
    const head = await ask(server, "/twtxt.txt", { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, body: "", headers: { "content-length": "12" } });
  });

  it("410 with its page: a deleted post, in every spelling of its URL", async () => {
    const files = { "posts/gone/index.html": "<h1>deleted</h1>", "gone.html": "deleted", "posts/kept/index.html": "x" };
    const deleted = new Set(["/posts/gone/", "/gone.html"]);
    const server = await site(files, { isDeleted: (path) => deleted.has(path) });
    for (const path of ["/posts/gone/", "/posts/gone/?x=1", "/posts/gone/index.html", "/posts/%67one/", "/gone.html"]) {
      expect(await ask(server, path)).toMatchObject({
        status: 410,
        body: expect.stringContaining("deleted"),
        headers: { "content-type": "text/html; charset=utf-8" },
      });
    }
    const conditions = { range: "bytes=0-1", "if-none-match": "*" };
    expect(await ask(server, "/posts/gone/", { headers: conditions })).toMatchObject({ status: 410 });
    expect(await ask(server, "/posts/gone/", { method: "HEAD" })).toMatchObject({ status: 410, body: "" });
    expect((await ask(server, "/posts/gone")).headers.location).toBe("./gone/");
    expect((await ask(server, "/posts/kept/")).status).toBe(200);
  });

  it("a feed without an extension is plain text", async () => {
    const server = await site({ "feeds/tw": "x", "feeds/tw-2024-03": "x" }, { feedPath: "/feeds/tw", endpoint: null });
    for (const path of ["/feeds/tw", "/feeds/tw-2024-03"]) {
      const { headers } = await ask(server, path);
      expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
      expect(headers.link).toBeUndefined();
    }
  });

  it("the feed and the discovery documents are those of the last production build, also with encoded paths", async () => {
    const published = newFolder({ "twtxt.txt": "published", ".well-known/msg/alice.json": "{}" });
    const draft = { "twtxt.txt": "draft", "twtxt-2019.txt": "draft", ".well-known/msg/alice.json": "draft" };
    const server = await site({ ...draft, ".well-known/msg/bob.json": "her own" }, { published });

    for (const path of ["/twtxt.txt", "/%74wtxt.txt", "//twtxt.txt", "/a/../twtxt.txt", "/./twtxt.txt"]) {
      expect((await ask(server, path)).body).not.toContain("draft");
    }
    expect((await ask(server, "/twtxt.txt")).body).toBe("published");
    expect((await ask(server, "/twtxt-2019.txt")).status).toBe(404);
    expect((await ask(server, "/.well-known/msg/alice.json")).body).toBe("{}");
    expect((await ask(server, "/.well-known/msg/bob.json")).body).toBe("her own");
  });

  it("a 304 has the Last-Modified and the ETag of the 200", async () => {
    const server = await site({ "twtxt.txt": "x" });
    const { headers } = await ask(server, "/twtxt.txt");
    const { etag = "", "last-modified": modified = "" } = headers;
    for (const condition of [{ "if-none-match": etag }, { "if-modified-since": modified }]) {
      expect(await ask(server, "/twtxt.txt", { headers: condition })).toMatchObject({
        status: 304,
        headers: { etag, "last-modified": modified, "access-control-allow-origin": "*" },
      });
    }
    expect(modified).not.toBe("");
  });

  it("416 and 412 have the reason in one line; 416 has the size", async () => {
    const server = await site({ "twtxt.txt": "0123456789" });
    const beyond = await ask(server, "/twtxt.txt", { headers: { range: "bytes=10-" } });
    expect(beyond).toMatchObject({
      status: 416,
      body: "The range is outside the file.\n",
      headers: { "content-range": "bytes */10", "content-type": "text/plain; charset=utf-8" },
    });
    const changed = await ask(server, "/twtxt.txt", { headers: { "if-match": '"x"' } });
    expect(changed).toMatchObject({ status: 412, body: "The file does not match the conditions of the request.\n" });
    const part = await ask(server, "/twtxt.txt", { headers: { range: "bytes=2-4" } });
    expect(part).toMatchObject({ status: 206, body: "234", headers: { "content-range": "bytes 2-4/10" } });
  });

  it("are also served for a request with an absolute URL, as clients send to a proxy", async () => {
    const server = await site({ "index.html": "home", "twtxt.txt": "x", "a/index.html": "a", ".env": "SECRET=1" });
    expect(await ask(server, "http://evil.example/twtxt.txt?x=1")).toMatchObject({
      status: 200,
      body: "x",
      headers: { link: `<${ORIGIN}/webmention>; rel="webmention"` },
    });
    expect((await ask(server, "HTTPS://evil.example")).body).toBe("home");
    expect(await ask(server, "http://evil.example/a")).toMatchObject({ status: 301, headers: { location: "./a/" } });
    for (const path of ["/.env", "/../package.json"]) {
      expect((await ask(server, `http://evil.example${path}`)).status).toBeGreaterThanOrEqual(400);
    }
  });

  it("discovery documents are served, other dotfiles are not", async () => {
    const server = await site({
      ".well-known/msg/alice.json": "{}",
      ".env": "SECRET=1",
      ".git/config": "x",
      "a/.hidden": "x",
    });
    expect(await ask(server, "/.well-known/msg/alice.json")).toMatchObject({
      status: 200,
      headers: { "access-control-allow-origin": "*", "content-type": expect.stringMatching(/^application\/json/) },
    });
    for (const path of ["/.env", "/.git/config", "/a/.hidden", "/%2eenv", "/.well-known/../.env", "/../package.json"]) {
      expect((await ask(server, path)).status).toBeGreaterThanOrEqual(400);
    }
  });

  it("a page is the index of its folder, and a missing page gets the site's 404 page", async () => {
    const server = await site({ "index.html": "home", "posts/a/index.html": "a", "404.html": "lost" });
    expect((await ask(server, "/")).body).toBe("home");
    expect((await ask(server, "/posts/a/")).body).toBe("a");
    expect(await ask(server, "/posts/a")).toMatchObject({ status: 301, headers: { location: "./a/" } });
    expect(await ask(server, "/posts/b/")).toMatchObject({
      status: 404,
      body: "lost",
      headers: { "content-type": "text/html; charset=utf-8" },
    });
    expect((await ask(server, "/", { method: "POST" })).status).toBe(405);
  });

  it("a symbolic link is followed inside the site, and gets 404 if it leads out of it", async () => {
    const secrets = newFolder({ "alice.key": "secret", "index.html": "secret" });
    const folder = newFolder({ "real/index.html": "home", "real/posts/other.html": "other" });
    const links = {
      site: "real",
      "real/copy.html": "index.html",
      "real/articles": "posts",
      "real/posts/index.html": "../copy.html",
      "real/alice.key": join(secrets, "alice.key"),
      "real/twice.key": "alice.key",
      "real/all": secrets,
      "real/up": "../..",
      "real/404.html": join(secrets, "index.html"),
      "real/nowhere": "nothing",
    };
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(folder, path));
    const server = await site({}, { folder: join(folder, "site"), published: folder });

    for (const path of ["/", "/copy.html", "/posts/", "/articles/"]) {
      expect([path, await ask(server, path)]).toMatchObject([path, { status: 200, body: "home" }]);
    }
    const refused = ["/alice.key", "/twice.key", "/all", "/all/", "/all/alice.key", "/up/", "/%61lice.key", "/nowhere"];
    for (const path of refused) {
      expect([path, await ask(server, path)]).toMatchObject([path, { status: 404, body: "Not found.\n" }]);
    }
  });

  it("take precedence over an endpoint with isStaticFirst", async () => {
    const own = { ...endpoint(async ({ method }) => new Response(`endpoint, ${method}`)), isStaticFirst: true };
    const server = await site({ ".well-known/msg/alice.json": "{}" }, {}, { findEndpoint: () => own });
    expect((await ask(server, "/.well-known/msg/alice.json")).body).toBe("{}");
    expect((await ask(server, "/.well-known/msg/bob.json")).body).toBe("endpoint, GET");
    expect((await ask(server, "/.well-known/msg/bob.json", { method: "OPTIONS" })).body).toBe("endpoint, OPTIONS");
    expect((await ask(server, "/.well-known/msg/../../../bob.json")).body).toBe("endpoint, GET");
  });

  it("are below the path prefix", async () => {
    const server = await site(
      { "twtxt.txt": "x", "a/index.html": "a" },
      { prefix: "/blog", feedPath: "/blog/twtxt.txt" },
    );
    expect((await ask(server, "/blog/twtxt.txt")).headers.link).toBeDefined();
    expect((await ask(server, "/blog/a/")).body).toBe("a");
    expect(await ask(server, "/blog")).toMatchObject({ status: 301, headers: { location: "./blog/" } });
    expect((await ask(server, "/twtxt.txt")).status).toBe(404);
    expect((await ask(server, "/blogger/twtxt.txt")).status).toBe(404);
  });
});
