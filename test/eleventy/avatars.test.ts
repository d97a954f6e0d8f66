import { hash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAvatars } from "../../plugin/eleventy/mentions/avatars.js";
import { createGuard } from "../../plugin/http/guard.js";
import { loopbackRoute, loopbackServer } from "../helpers/loopback.js";

const bytes = (text: string) => Buffer.from(text, "latin1");
const PNG = bytes("\x89PNG\r\n\x1a\n and more");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "twtxt-avatars-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Downloads these pictures from a server. @returns the published pictures with their paths */
async function download(listener: RequestListener, paths: readonly string[], signal = new AbortController().signal) {
  const server = await loopbackServer(listener);
  const ask = createGuard({ userAgent: "test/1", allowPrivateHosts: [server.host], route: loopbackRoute });
  const urls = paths.map((path) => (path.startsWith("/") ? server.url + path : path));
  const avatars = await loadAvatars(urls, { folder, ask, signal });
  return { server, avatars: [...avatars].map(([url, avatar]) => [url.replace(server.url, ""), avatar] as const) };
}

describe("an author's picture", () => {
  it.each([
    ["png", "\x89PNG\r\n\x1a\n..."],
    ["jpg", "\xff\xd8\xff\xe0..."],
    ["gif", "GIF89a..."],
    ["webp", "RIFF\n\n\0\0WEBPVP8 "],
    ["avif", "\0\0\0\x20ftypavif..."],
  ])("is published and cached for the next build: %s", async (extension, content) => {
    const { avatars } = await download(
      (_, response) => response.setHeader("content-type", "text/html").end(bytes(content)),
      ["/me"],
    );
    const name = avatars[0]?.[1].name ?? "";
    expect(name).toMatch(new RegExp(`^[0-9a-f]{32}\\.${extension}$`));
    expect(avatars[0]?.[1].content).toEqual(bytes(content));
    expect(readdirSync(folder)).toEqual([name]);
  });

  it.each([
    ["SVG", '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ["HTML", "<!doctype html>"],
    ["an empty file", ""],
    ["a picture after another byte", ` ${PNG.toString("latin1")}`],
    ["more than 256 KiB", PNG.toString("latin1").padEnd(256 * 1024 + 1)],
  ])("is not published: %s", async (_, content) => {
    const { avatars } = await download(
      (_, response) => response.setHeader("content-type", "image/png").end(bytes(content)),
      ["/me"],
    );
    expect(avatars).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([404, 500])("is not published if the server responds with %d", async (status) => {
    const { avatars } = await download((_, response) => response.writeHead(status).end(PNG), ["/me"]);
    expect(avatars).toEqual([]);
  });

  it("is not requested from a private host", async () => {
    const other = await loopbackServer((_, response) => response.end(PNG));
    const urls = [`${other.url}/me`, "data:image/png;base64,iVBORw0KGgo=", "file:///etc/passwd", "me.png", ""];
    const { avatars, server } = await download((_, response) => response.end(PNG), urls);
    expect([avatars, server.requests, other.requests]).toEqual([[], [], []]);
  });

  it("is requested once, with one request at a time per host", async () => {
    let open = 0;
    let maxOpen = 0;
    const listener: RequestListener = (_, response) => {
      open += 1;
      maxOpen = Math.max(maxOpen, open);
      setImmediate(() => {
        open -= 1;
        response.end(PNG);
      });
    };
    const { server, avatars } = await download(listener, ["/a", "/b", "/a", "/c"]);
    expect(server.requests).toEqual(["/a", "/b", "/c"]);
    expect(avatars).toHaveLength(3);
    expect(maxOpen).toBe(1);
  });

  it("is read from the cache of an earlier build", async () => {
    const server = await loopbackServer((_, response) => response.end(PNG));
    const ask = createGuard({ userAgent: "test/1", allowPrivateHosts: [server.host], route: loopbackRoute });
    const build = () => loadAvatars([`${server.url}/me`], { folder, ask, signal: new AbortController().signal });
    const first = await build();
    expect(first.size).toBe(1);
    expect(await build()).toEqual(first);
    expect(server.requests).toEqual(["/me"]);
  });

  it("is left for the next build after a timeout", async () => {
    const time = new AbortController();
    const { server, avatars } = await download(() => time.abort(), ["/a", "/b"], time.signal);
    expect(avatars).toEqual([]);
    expect(server.requests).toEqual(["/a"]);
  });

  it("is omitted after the first 500", async () => {
    const cached = Array.from({ length: 499 }, (_, n) => `https://bob.example/${n}`);
    for (const url of cached) writeFileSync(join(folder, `${hash("sha256", url).slice(0, 32)}.png`), PNG);
    const { server, avatars } = await download((_, response) => response.end(PNG), [...cached, "/1", "/2"]);
    expect(avatars).toHaveLength(500);
    expect(server.requests).toEqual(["/1"]);
  });
});
