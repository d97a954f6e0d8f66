import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { compressResponse } from "../../plugin/host/compress-response.js";
import { CompressedCopies, readEncodings } from "../../plugin/host/compressed-copies.js";
import { siteFiles } from "../../plugin/host/site-files.js";
import { StaticFiles } from "../../plugin/host/static-files.js";

const PAGE = "<!doctype html>\n<p>A slow jelly, and why I stopped peeling.</p>\n".repeat(100);
const LARGE = 700 * 1024;
const never = new AbortController().signal;
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function folderWith(files: Record<string, string | Buffer>): string {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-static-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

interface Site {
  folder: string;
  copies: CompressedCopies;
  /** The folder of the copies. */
  cache: string;
  ask(path: string, headers?: Record<string, string>, method?: string): Promise<Answer>;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

async function serveSite(files: Record<string, string | Buffer>): Promise<Site> {
  const folder = folderWith(files);
  const cache = join(folderWith({}), "compressed");
  const copies = new CompressedCopies(cache);
  const serve = siteFiles({ folder, published: folder, prefix: "", feedPath: "/twtxt.txt", endpoint: null, copies });
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    new Promise<Answer>((resolve, reject) => {
      const sent = httpRequest({ host: "127.0.0.1", port, path, headers, method, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      });
      sent.on("error", reject).end();
    });
  return { folder, copies, cache, ask };
}

describe("static files", () => {
  it("a page that was replaced is sent as it is now, also if its size is the same", async () => {
    const { folder, ask } = await serveSite({ "index.html": "first" });
    expect(String((await ask("/")).body)).toBe("first");

    writeFileSync(join(folder, "index.html"), "other");
    utimesSync(join(folder, "index.html"), new Date(), new Date(Date.now() + 5000));

    expect(String((await ask("/")).body)).toBe("other");
  });

  it("a page that was sent before gets 404 once a link out of the site has its place", async () => {
    const { folder, ask } = await serveSite({ "index.html": "home" });
    const secrets = folderWith({ "index.html": "secret" });
    expect((await ask("/")).status).toBe(200);

    rmSync(join(folder, "index.html"));
    symlinkSync(join(secrets, "index.html"), join(folder, "index.html"));

    expect((await ask("/")).status).toBe(404);
  });

  it("a folder that is swapped is served from the next request on", async () => {
    const { folder, ask } = await serveSite({ "a/index.html": "first" });
    expect(String((await ask("/a/")).body)).toBe("first");

    renameSync(join(folder, "a"), join(folder, "b"));
    expect((await ask("/a/")).status).toBe(404);
    expect(String((await ask("/b/")).body)).toBe("first");
  });

  it("a link to the folder that a deploy replaces leads to the new pages at once", async () => {
    const [first, second] = [folderWith({ "index.html": "first" }), folderWith({ "index.html": "second" })];
    const link = join(folderWith({}), "site");
    symlinkSync(first, link);
    const files = new StaticFiles();
    const readHome = async () => String(Object(await files.find(link, "/index.html")).contents);
    expect(await readHome()).toBe("first");

    symlinkSync(second, `${link}.new`);
    renameSync(`${link}.new`, link);
    expect(await readHome()).toBe("second");
  });

  it("large files are sent whole and in ranges", async () => {
    const contents = Buffer.alloc(LARGE, "0123456789");
    const { ask } = await serveSite({ "film.mp4": contents });

    const whole = await ask("/film.mp4");
    expect([whole.status, whole.headers["content-type"], whole.body.equals(contents)]).toEqual([
      200,
      "video/mp4",
      true,
    ]);
    const part = await ask("/film.mp4", { range: `bytes=${LARGE - 10}-` });
    expect([part.status, String(part.body), part.headers["content-range"]]).toEqual([
      206,
      String(contents.subarray(-10)),
      `bytes ${LARGE - 10}-${LARGE - 1}/${LARGE}`,
    ]);
  });

  it.each(["bytes=5-2", `bytes=0-1${",0-1".repeat(2000)}`])("200: %.12s is ignored", async (range) => {
    const { ask } = await serveSite({ "a.txt": "0123456789" });
    const { status, body } = await ask("/a.txt", { range });
    expect([status, String(body)]).toEqual([200, "0123456789"]);
  });

  it("HEAD ignores a range, and a range of another version is the whole file", async () => {
    const { ask } = await serveSite({ "a.txt": "0123456789" });
    const { etag = "" } = (await ask("/a.txt")).headers;

    expect(await ask("/a.txt", { range: "bytes=2-4" }, "HEAD")).toMatchObject({
      status: 200,
      headers: { "content-length": "10" },
    });
    expect((await ask("/a.txt", { range: "bytes=2-4", "if-range": '"other"' })).status).toBe(200);
    expect((await ask("/a.txt", { range: "bytes=2-4", "if-range": etag })).status).toBe(206);
  });

  it.each(["/%00", "/%", "/%ff", "/a%00.txt", "/..%2f..%2fetc%2fpasswd", "/a.txt/", "/.%2fa.txt/../../x"])(
    "404: %s",
    async (path) => {
      const { ask } = await serveSite({ "a.txt": "x" });
      expect((await ask(path)).status).toBe(404);
    },
  );
});

describe("compressed copies", () => {
  it("are sent to clients that accept them, with validators of their own", async () => {
    const { ask, copies, folder } = await serveSite({ "index.html": PAGE });
    await copies.refresh([folder], never);
    const plain = await ask("/");
    const brotli = await ask("/", { "accept-encoding": "gzip, deflate, br" });
    const gzip = await ask("/", { "accept-encoding": "gzip" });

    expect(String(plain.body)).toBe(PAGE);
    expect(String(brotliDecompressSync(brotli.body))).toBe(PAGE);
    expect(String(gunzipSync(gzip.body))).toBe(PAGE);
    expect([plain, brotli, gzip].map(({ headers }) => headers["content-encoding"])).toEqual([undefined, "br", "gzip"]);
    for (const { headers, body } of [plain, brotli, gzip]) {
      expect(headers).toMatchObject({ vary: "Accept-Encoding", "content-type": "text/html; charset=utf-8" });
      expect(headers["content-length"]).toBe(String(body.length));
    }
    expect(new Set([plain, brotli, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
    const again = await ask("/", { "accept-encoding": "br", "if-none-match": String(brotli.headers.etag) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  it("are not used for a range, nor for a page that has changed since", async () => {
    const { ask, copies, folder } = await serveSite({ "index.html": PAGE });
    await copies.refresh([folder], never);
    const range = await ask("/", { "accept-encoding": "br", range: "bytes=0-4" });
    expect([range.status, String(range.body)]).toEqual([206, PAGE.slice(0, 5)]);
    // HEAD has no ranges, so its headers are those of the copy.
    const head = await ask("/", { "accept-encoding": "br", range: "bytes=0-4" }, "HEAD");
    expect([head.status, head.headers["content-encoding"]]).toEqual([200, "br"]);

    writeFileSync(join(folder, "index.html"), `${PAGE}new`);
    const changed = await ask("/", { "accept-encoding": "br" });
    expect([changed.headers["content-encoding"], String(changed.body)]).toEqual([undefined, `${PAGE}new`]);
  });

  it("are made once for equal contents, and removed when no page has them", async () => {
    const { copies, cache, folder } = await serveSite({ "a/index.html": PAGE, "b/index.html": PAGE, "c.css": "x" });
    await copies.refresh([folder], never);
    const first = readdirSync(cache);
    expect(first).toHaveLength(2);

    writeFileSync(join(folder, "a/index.html"), `${PAGE}new`);
    rmSync(join(folder, "b"), { recursive: true });
    await copies.refresh([folder], never);
    expect(readdirSync(cache)).toHaveLength(2);
    expect(readdirSync(cache).filter((name) => first.includes(name))).toEqual([]);
  });

  it("are missing for small files, pictures, and in a folder that cannot be written", async () => {
    const { ask, copies, folder, cache } = await serveSite({ "index.html": "small", "a.jpg": PAGE, "b.html": PAGE });
    writeFileSync(cache, "a file");
    await expect(copies.refresh([folder], never)).rejects.toThrow();
    for (const path of ["/", "/a.jpg", "/b.html"]) {
      expect((await ask(path, { "accept-encoding": "br" })).headers["content-encoding"]).toBeUndefined();
    }
  });

  it.each([
    ["br;q=1.0, gzip;q=0.8, *;q=0.1", ["br", "gzip"]],
    ["gzip, deflate, br", ["br", "gzip"]],
    ["GZIP", ["gzip"]],
    ["br;q=0, gzip", ["gzip"]],
    ["identity", []],
    ["", []],
  ])("Accept-Encoding: %s", (header, expected) => {
    expect(readEncodings(header)).toEqual(expected);
  });
});

describe("the response of an endpoint", () => {
  const text = JSON.stringify({ mentions: Array(100).fill("a mention") });
  const respond = (headers: Record<string, string>, status = 200) => ({ status, headers, body: text });
  const json = { "content-type": "application/json", etag: '"1"' };

  it("is compressed for clients that accept it, with a weak ETag", async () => {
    const { headers, body } = await compressResponse(respond(json), "gzip, br");
    expect(headers).toMatchObject({
      "content-encoding": "gzip",
      etag: 'W/"1"',
      vary: "accept-encoding",
    });
    expect(String(gunzipSync(body as Buffer))).toBe(text);
    const plain = await compressResponse(respond(json), undefined);
    expect([plain.headers["content-encoding"], plain.body]).toEqual([undefined, text]);
  });

  it.each<[string, Record<string, string>, number?]>([
    ["private", { ...json, "cache-control": "private, no-store" }],
    ["a blob", { ...json, "accept-ranges": "bytes" }],
    ["an event stream", { "content-type": "text/event-stream" }],
    ["an error", json, 404],
  ])("stays as it is: %s", async (_name, headers, status) => {
    const response = respond(headers, status);
    expect(await compressResponse(response, "gzip")).toBe(response);
  });
});
