import type { LookupAddress } from "node:dns";
import { type AddressInfo, createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { brotliCompressSync, createGzip, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { TwtxtError } from "../../plugin/errors.js";
import { createGuard, type GuardedRequest, type GuardOptions, isTimeout } from "../../plugin/http/guard.js";
import { PATIENT_MS } from "../helpers/longest.js";
import { loopbackRoute, loopbackServer, strayed } from "../helpers/loopback.js";
import { names } from "../helpers/names.js";
import { freePort } from "../helpers/ports.js";

async function ask(url: string, options: Partial<GuardOptions> = {}, request: Partial<GuardedRequest> = {}) {
  const fetch = createGuard({
    userAgent: "test/1 (+https://alice.example/twtxt.txt; @alice)",
    route: loopbackRoute,
    totalMs: PATIENT_MS,
    firstByteMs: PATIENT_MS,
    ...options,
  });
  const response = await fetch(url, { maxBytes: 1000, ...request });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { ...response, text: Buffer.concat(chunks).toString(), pieces: chunks.length };
}

/** A server that ends each connection after this response, a reset being after the client has read it. */
async function rawServer(text: string, end: string) {
  const server = createServer((socket) => {
    const reset = () => setTimeout(() => socket.resetAndDestroy(), 20);
    socket.on("error", () => {}).once("data", () => (end === "FIN" ? socket.end(text) : socket.write(text, reset)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, url: `http://${host}/` };
}

const failsWith = (code: string) => expect.objectContaining({ code });

afterEach(() => expect(strayed).toEqual([]));

describe("a refused URL", () => {
  it.each([
    ["loopback", "http://127.0.0.1/"],
    ["loopback as a decimal number", "http://2130706433/"],
    ["loopback in hex", "http://0x7f.1/"],
    ["loopback in IPv6", "http://[::1]/"],
    ["IPv4-mapped IPv6", "http://[::ffff:127.0.0.1]/"],
    ["a cloud metadata service", "http://169.254.169.254/latest/meta-data/"],
    ["another protocol", "ftp://bob.example/twtxt.txt"],
    ["a file", "file:///etc/passwd"],
    ["credentials", "https://user:password@bob.example/"],
    ["a password without a user", "https://:password@bob.example/"],
    ["the port of another service", "http://bob.example:25/"],
    ["not a URL", "bob.example/twtxt.txt"],
  ])("address-refused: %s", async (_name, url) => {
    await expect(ask(url)).rejects.toThrow(failsWith("address-refused"));
  });

  it.each([
    ["private", ["10.0.0.1"]],
    ["private, next to a public one", ["93.184.215.14", "127.0.0.1"]],
    ["IPv4-mapped IPv6", ["::ffff:127.0.0.1"]],
    ["IPv6 unique local", ["fd00::1"]],
  ])("address-refused: a name whose address is %s", async (_name, addresses) => {
    await expect(ask("http://bob.example:8080/", { lookup: names({ "bob.example": addresses }) })).rejects.toThrow(
      failsWith("address-refused"),
    );
  });

  it("address-refused: http where https is required", async () => {
    await expect(ask("http://bob.example/", {}, { isHttpsNeeded: true })).rejects.toThrow(failsWith("address-refused"));
  });

  it("address-refused: a redirect to this machine, which receives no request", async () => {
    const secret = await loopbackServer((_request, response) => response.end("secret"));
    const bob = await loopbackServer((_request, response) => response.writeHead(302, { location: secret.url }).end());
    await expect(ask(bob.url, { allowPrivateHosts: [bob.host] })).rejects.toThrow(failsWith("address-refused"));
    expect(bob.requests).toEqual(["/"]);
    expect(secret.requests).toEqual([]);
  });

  it("address-refused: a name whose second lookup is private, since each connection checks the address that it uses", async () => {
    let answers = 0;
    const lookup = ((_name: string, _options: unknown, callback: (error: null, found: LookupAddress[]) => void) => {
      answers += 1;
      callback(null, [{ address: answers === 1 ? "127.0.0.2" : "127.0.0.1", family: 4 }]);
    }) as never;
    await expect(ask("http://bob.example:8080/", { lookup })).rejects.toThrow(failsWith("address-refused"));
    expect(answers).toBe(1);
  });

  it("is refused by the caller's checkUrl, directly or after a redirect, with the caller's error", async () => {
    const bob = await loopbackServer((_request, response) => response.writeHead(302, { location: "/secret#x" }).end());
    const checked: string[] = [];
    const checkUrl = (url: string) => {
      checked.push(url);
      if (url.endsWith("/secret")) throw new TwtxtError("blocked", "Not this one.");
    };
    await expect(ask(`${bob.url}/#a`, { allowPrivateHosts: [bob.host] }, { checkUrl })).rejects.toThrow(
      failsWith("blocked"),
    );
    expect(checked).toEqual([`${bob.url}/`, `${bob.url}/secret`]);
    expect(bob.requests).toEqual(["/"]);
  });

  it("is refused by the caller's checkUrl with any number of trailing dots in its host", async () => {
    const checkUrl = (url: string) => {
      if (new URL(url).host === "bob.example") throw new TwtxtError("blocked", "Not this one.");
    };
    for (const url of ["https://bob.example./", "https://bob.example../"]) {
      await expect(ask(url, { lookup: names({}) }, { checkUrl })).rejects.toThrow(failsWith("blocked"));
    }
  });

  it("is requested if its exact host and port are allowed", async () => {
    const bob = await loopbackServer((_request, response) => response.end("hello"));
    expect((await ask(bob.url, { allowPrivateHosts: [bob.host] }, { isHttpsNeeded: true })).text).toBe("hello");
    await expect(ask(bob.url, { allowPrivateHosts: [`127.0.0.1:${bob.port + 1}`] })).rejects.toThrow(
      failsWith("address-refused"),
    );
    await expect(ask(`http://localhost:${bob.port}/`, { allowPrivateHosts: [bob.host] })).rejects.toThrow(
      failsWith("address-refused"),
    );
  });
});

describe("the author's own host with a private address", () => {
  /** A site whose name has a loopback address, as in /etc/hosts of its server. */
  async function ownSite() {
    const home = await loopbackServer((_request, response) => response.end("hello"));
    const ownUrl = `http://alice.example:${home.port}/twtxt.txt`;
    return { home, ownUrl, options: { ownUrl, lookup: names({ "alice.example": ["127.0.0.1"] }) } };
  }

  it("is read, while its other ports are not", async () => {
    const { ownUrl, options } = await ownSite();
    expect((await ask(ownUrl, options)).text).toBe("hello");
    expect((await ask(ownUrl.replace("/twtxt.txt", "/a/page/"), options)).text).toBe("hello");
    await expect(ask("http://alice.example:8081/", options)).rejects.toThrow(failsWith("address-refused"));
  });

  it("address-refused: a redirect of another server to it, and a POST, as to an endpoint that a stranger names", async () => {
    const { home, ownUrl, options } = await ownSite();
    const bob = await loopbackServer((_request, response) => response.writeHead(302, { location: ownUrl }).end());
    const withBob = { ...options, allowPrivateHosts: [bob.host] };
    await expect(ask(bob.url, withBob)).rejects.toThrow(failsWith("address-refused"));
    await expect(ask(ownUrl, withBob, { method: "POST", body: "a=b" })).rejects.toThrow(failsWith("address-refused"));
    expect(bob.requests).toEqual(["/"]);
    expect(home.requests).toEqual([]);
  });
});

describe("a response", () => {
  it("has status, headers and final URL; the request has the user agent", async () => {
    const bob = await loopbackServer((request, response) => {
      if (request.url === "/old") return response.writeHead(301, { location: "/new#part" }).end();
      return response
        .writeHead(404, { "X-Agent": request.headers["user-agent"], link: ["<a>; rel=a", "<b>; rel=b"] })
        .end("gone");
    });
    const answer = await ask(`${bob.url}/old#:~:text=x`, { allowPrivateHosts: [bob.host] });
    expect(answer).toMatchObject({
      status: 404,
      text: "gone",
      url: `${bob.url}/new`,
      asked: [`${bob.url}/old`, `${bob.url}/new`],
    });
    expect(answer.headers).toMatchObject({
      link: "<a>; rel=a, <b>; rel=b",
      "x-agent": "test/1 (+https://alice.example/twtxt.txt; @alice)",
    });
  });

  it.each(["PUT", "DELETE"] as const)("has the body of a %s, which is bytes", async (method) => {
    const bob = await loopbackServer(async (request, response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      response.end(`${request.method} ${Buffer.concat(chunks).toString("hex")}`);
    });
    const request = { method, body: Uint8Array.of(0, 255) };
    expect((await ask(bob.url, { allowPrivateHosts: [bob.host] }, request)).text).toBe(`${method} 00ff`);
  });

  it("address-refused: a redirect of a request with credentials to another origin, which receives none", async () => {
    const carol = await loopbackServer((_request, response) => response.end("hello"));
    const bob = await loopbackServer((request, response) => {
      if (request.url === "/here") return response.end(request.headers.authorization);
      return response.writeHead(307, { location: request.url === "/" ? "/here" : carol.url }).end();
    });
    const options = { allowPrivateHosts: [bob.host, carol.host] };
    const request = { headers: { authorization: "Bearer secret" } };
    expect((await ask(bob.url, options, request)).text).toBe("Bearer secret");
    await expect(ask(`${bob.url}/away`, options, request)).rejects.toThrow(failsWith("address-refused"));
    expect(carol.requests).toEqual([]);
  });

  it.each([
    [307, "POST source=a", true],
    [308, "POST source=a", true],
    [302, "", false],
  ])("a POST redirected with %i arrives as %j", async (code, seen, isFollowed) => {
    const bob = await loopbackServer((request, response) => {
      if (request.url === "/old") return response.writeHead(code, { location: "/new" }).end();
      let body = "";
      request.on("data", (data) => (body += data)).on("end", () => response.end(`${request.method} ${body}`));
      return undefined;
    });
    const answer = await ask(`${bob.url}/old`, { allowPrivateHosts: [bob.host] }, { method: "POST", body: "source=a" });
    expect(answer.text).toBe(seen);
    expect(answer.status).toBe(isFollowed ? 200 : code);
  });

  it("is that of the fifth redirect", async () => {
    let count = 0;
    const bob = await loopbackServer((_request, response) => {
      count += 1;
      if (count > 5) response.end("here");
      else response.writeHead(302, { location: `/${count}` }).end();
    });
    expect((await ask(bob.url, { allowPrivateHosts: [bob.host] })).text).toBe("here");
  });

  it.each([80, 443, 1024])("address-refused, but not for its port: port %i is requested", async (port) => {
    const asking = ask(`http://127.0.0.1:${port}/`);
    await expect(asking).rejects.toThrow("its address is not public");
    await expect(ask(`http://127.0.0.1:${port - 1}/`)).rejects.toThrow(`port ${port - 1} is not for web servers`);
  });

  it.each([
    ["a loop", () => "/a"],
    ["more than five redirects", (count: number) => `/${count}`],
  ])("too-many-redirects: %s", async (_name, next) => {
    let count = 0;
    const bob = await loopbackServer((_request, response) =>
      response.writeHead(302, { location: next(++count) }).end(),
    );
    await expect(ask(bob.url, { allowPrivateHosts: [bob.host] })).rejects.toThrow(failsWith("too-many-redirects"));
    expect(bob.requests.length).toBeLessThanOrEqual(6);
  });

  it("is decompressed", async () => {
    const bob = await loopbackServer((_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("hello")),
    );
    expect((await ask(bob.url, { allowPrivateHosts: [bob.host] })).text).toBe("hello");
  });

  it("is read in large pieces, since a piece for each byte would need a hundred times its memory", async () => {
    const bytes = 200_000;
    const bob = await loopbackServer(({ socket }) => {
      const chunks = "1\r\nx\r\n".repeat(bytes);
      socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    });
    const { text, pieces } = await ask(bob.url, { allowPrivateHosts: [bob.host] }, { maxBytes: bytes });
    expect(text).toHaveLength(bytes);
    expect(pieces).toBeLessThan(bytes / 100);
  });

  it.each([
    ["broken", { "content-encoding": "gzip" }, Buffer.from("not gzip at all")],
    ["truncated", { "content-encoding": "gzip" }, gzipSync("hello".repeat(100)).subarray(0, 20)],
    [
      "followed by 32 KiB that are not gzip",
      { "content-encoding": "gzip" },
      Buffer.concat([gzipSync("x"), Buffer.alloc(1 << 15, "x")]),
    ],
    ["unknown", { "content-encoding": "zstd" }, Buffer.from("x")],
    ["Brotli, since a few bytes can use 16 MiB of memory", { "content-encoding": "br" }, brotliCompressSync("hello")],
    ["applied twice", { "content-encoding": "gzip, gzip" }, gzipSync(gzipSync("x"))],
  ])("bad-compression: %s", async (_name, headers, body) => {
    const bob = await loopbackServer((_request, response) => response.writeHead(200, headers).end(body));
    await expect(ask(bob.url, { allowPrivateHosts: [bob.host] })).rejects.toThrow(failsWith("bad-compression"));
  });

  it("too-large: an endless body is decompressed only up to the limit", async () => {
    let written = 0;
    const bob = await loopbackServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      const gzip = createGzip();
      gzip.pipe(response);
      const zeros = Buffer.alloc(1 << 20);
      const write = () => {
        if (response.destroyed) return;
        written += 1;
        gzip.write(zeros, () => setImmediate(write));
      };
      write();
    });
    await expect(ask(bob.url, { allowPrivateHosts: [bob.host] }, { maxBytes: 2 << 20 })).rejects.toThrow(
      failsWith("too-large"),
    );
    expect(written).toBeLessThan(1000);
  });

  it("isTimeout distinguishes a timeout from other failures", async () => {
    const slow = await loopbackServer((_request, response) => response.write("x"));
    const broken = await loopbackServer((_request, response) => response.destroy());
    const allowPrivateHosts = [slow.host, broken.host];
    const isLate = (url: string, totalMs: number) => ask(url, { allowPrivateHosts, totalMs }).then(String, isTimeout);
    expect(await isLate(slow.url, 100)).toBe(true);
    expect(await isLate(broken.url, PATIENT_MS)).toBe(false);
    expect(await isLate("http://127.0.0.1/", PATIENT_MS)).toBe(false);
  });

  it("unreachable: the server offers only TLS older than 1.2, and the error says so", async () => {
    const old = createTlsServer({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" });
    await new Promise<void>((resolve) => old.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(old.address() as AddressInfo).port}`;
    await expect(ask(`https://${host}/`, { allowPrivateHosts: [host] })).rejects.toThrow(
      `https://${host}/ could not be reached: its server offers only TLS older than 1.2.`,
    );
    await new Promise((resolve) => old.close(resolve));
  });

  it("unreachable: an unknown name, a closed port, and a server without TLS", async () => {
    const unknown = ask("https://nobody.example/", { lookup: names({}) });
    await expect(unknown).rejects.toThrow(failsWith("unreachable"));
    await expect(unknown).rejects.toThrow("could not be reached: there is no host nobody.example. Check the spelling.");
    const plain = createServer((socket) => socket.end("not TLS", () => socket.destroy()));
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    const { port } = plain.address() as { port: number };
    await expect(ask(`https://127.0.0.1:${port}/`, { allowPrivateHosts: [`127.0.0.1:${port}`] })).rejects.toThrow(
      "could not be reached: its server does not speak TLS at this port.",
    );
    await new Promise((resolve) => plain.close(resolve));
    const closed = `127.0.0.1:${await freePort()}`;
    await expect(ask(`http://${closed}/`, { allowPrivateHosts: [closed] })).rejects.toThrow(failsWith("unreachable"));
  });
});

describe.each<[string, (host: string) => Partial<GuardOptions>]>([
  ["another server", (host) => ({ allowPrivateHosts: [host] })],
  ["the author's own site", (host) => ({ ownUrl: `http://${host}/` })],
])("a response of %s", (_, allow) => {
  it.each([
    ["silent", () => {}],
    [
      "slow until its last byte",
      (response: { write(text: string): void }) => void setInterval(() => response.write("x"), 20).unref(),
    ],
  ])("unreachable: %s", async (_name, answer) => {
    const bob = await loopbackServer((_request, response) => answer(response));
    await expect(ask(bob.url, { ...allow(bob.host), totalMs: 300, firstByteMs: 200 })).rejects.toThrow(
      failsWith("unreachable"),
    );
  });

  it("unreachable: the caller aborts, during a body and before a request", async () => {
    const deadline = new AbortController();
    const bob = await loopbackServer((_request, response) => {
      response.write("x", () => setTimeout(() => deadline.abort(), 50));
    });
    const answer = ask(bob.url, allow(bob.host), { signal: deadline.signal });
    await expect(answer).rejects.toThrow(failsWith("unreachable"));
    await expect(ask(bob.url, allow(bob.host), { signal: deadline.signal })).rejects.toThrow(failsWith("unreachable"));
    expect(bob.requests).toHaveLength(1);
  });

  it("unreachable: the body is cut off", async () => {
    const bob = await loopbackServer((_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setTimeout(() => response.destroy(), 20);
    });
    await expect(ask(bob.url, allow(bob.host))).rejects.toThrow(failsWith("unreachable"));
  });

  it.each([
    ["a body of unknown length is reset", "HTTP/1.0 200 OK\r\n\r\nhalf", "RST"],
    ["a body of unknown length is reset, HTTP/1.1", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhalf", "RST"],
    [
      "a body lacks its last chunk",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n4\r\nhalf\r\n",
      "FIN",
    ],
    ["a body is shorter than its length", "HTTP/1.0 200 OK\r\ncontent-length: 9\r\n\r\nhalf", "FIN"],
  ])("unreachable: %s", async (_, text, end) => {
    const bob = await rawServer(text, end);
    await expect(ask(bob.url, allow(bob.host))).rejects.toThrow(failsWith("unreachable"));
  });

  it("is whole when the server closes the connection of a body of unknown length", async () => {
    const bob = await rawServer("HTTP/1.0 200 OK\r\n\r\nwhole", "FIN");
    expect((await ask(bob.url, allow(bob.host))).text).toBe("whole");
  });
});
