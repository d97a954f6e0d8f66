import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { SqliteStore } from "../../../plugin/store/sqlite.js";
import { ALICE, API, alicesBlobs, CAROL, cdn, EVE, jsonOf, outcomeOf, SHARED, tagOf } from "../alices-blobs.js";

const CSP = "sandbox; default-src 'none'";
const PROPERTIES = ":eyJhIjoiYiJ9:";

async function withPublic(type = "text/plain", filename = "") {
  const alice = alicesBlobs({ purge: cdn().purge });
  await alice.put("a", "one", {
    "content-type": type,
    "blob-public": "?1",
    "blob-properties": PROPERTIES,
    ...(filename && { "content-disposition": `attachment; filename*=UTF-8''${filename}` }),
  });
  return alice;
}

async function wholeOf(response: Response): Promise<string> {
  return JSON.stringify([response.status, [...response.headers], await response.text()]);
}

describe("a shared blob", () => {
  it("200: anyone can read it, with headers that make it safe; the CDN caches it, and browsers revalidate it", async () => {
    const alice = await withPublic();
    for (const method of ["GET", "HEAD"]) {
      const response = await alice.getShared("a", {}, method);
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toEqual({
        "content-type": "text/plain",
        "content-length": "3",
        "content-disposition": "inline",
        "content-security-policy": CSP,
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "blob-properties, content-disposition",
        "blob-public": "?1",
        "blob-properties": PROPERTIES,
        etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
        "last-modified": "Fri, 20 Nov 2026 09:00:00 GMT",
        "accept-ranges": "bytes",
        "cache-control": "public, no-cache",
        "netlify-cdn-cache-control": expect.stringMatching(/^public, durable, (s-maxage|max-age)=3600$/),
        "netlify-cache-tag": tagOf(ALICE.publicKey, "a"),
        "netlify-vary": "query=v",
      });
      expect(await response.text()).toBe(method === "GET" ? "one" : "");
    }
  });

  it("200: a URL with a former key of its owner shows the blob of the newest key, and names its URL", async () => {
    const purged = cdn();
    const alice = alicesBlobs({ purge: purged.purge, sameOwner: [CAROL.publicKey, ALICE.publicKey] });
    const shared = { "blob-public": "?1" };
    await alice.put("a", "old", shared);
    const shown = async () => {
      const response = await alice.getShared("a");
      const { headers } = response;
      return [
        response.status,
        await response.text(),
        headers.get("content-location"),
        headers.get("netlify-cache-tag"),
      ];
    };
    const tag = tagOf(ALICE.publicKey, "a");
    expect(await shown()).toEqual([200, "old", null, tag]);
    purged.purged.length = 0;
    await alice.send("PUT", `${API}/a`, { signer: CAROL, headers: { ...shared }, body: "new" });
    expect(purged.purged).toEqual([tag]);
    expect(await shown()).toEqual([200, "new", `${SHARED}/${CAROL.publicKey}/a`, tag]);
    await alice.send("DELETE", `${API}/a`, { signer: CAROL });
    expect(await shown()).toEqual([200, "old", null, tag]);
    expect((await alice.respond(new Request(`${SHARED}/${EVE.publicKey}/a`))).status).toBe(404);
  });

  it.each([
    ["206", { range: "bytes=0-1" }],
    ["304", { "if-none-match": "*" }],
    ["412", { "if-match": '"x"' }],
    ["416", { range: "bytes=9-" }],
  ])("%s: is not cached by the CDN", async (status, headers) => {
    const alice = await withPublic();
    const response = await alice.getShared("a", headers);
    expect(String(response.status)).toBe(status);
    expect(response.headers.get("netlify-cache-tag")).toBeNull();
    const cdnControl = response.headers.get("netlify-cdn-cache-control") ?? response.headers.get("cache-control");
    expect(cdnControl).toBe("no-store");
  });

  it.each([
    ["text/plain", "inline"],
    ["text/plain; charset=utf-8", "inline"],
    ["TEXT/Plain ;charset=utf-8", "inline"],
    ["image/png", "inline"],
    ["image/jpeg", "inline"],
    ["image/gif", "inline"],
    ["image/webp", "inline"],
    ["image/avif", "inline"],
    ["audio/mpeg", "inline"],
    ["video/mp4", "inline"],
    ["image/svg+xml", "attachment"],
    ["image/svg+xml; charset=utf-8", "attachment"],
    ["image/pngx", "attachment"],
    ["ximage/png", "attachment"],
    ["application/pdf", "attachment"],
    ["text/html", "attachment"],
    ['text/html; x="text/plain"', "attachment"],
    ["text/plainx", "attachment"],
    ["text/javascript", "attachment"],
    ["application/xhtml+xml", "attachment"],
    ["application/octet-stream", "attachment"],
    ["application/x-saltpack", "attachment"],
  ])("of the type %s is %s", async (type, kind) => {
    const alice = await withPublic(type);
    const response = await alice.getShared("a");
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("content-disposition")).toBe(kind);
    expect(response.headers.get("content-security-policy")).toBe(CSP);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it.each([
    ["image/png", "inline; filename*=UTF-8''b%20c.png"],
    ["text/html", "attachment; filename*=UTF-8''b%20c.png"],
  ])("of the type %s has its file name", async (type, disposition) => {
    const alice = await withPublic(type, "b%20c.png");
    expect((await alice.getShared("a")).headers.get("content-disposition")).toBe(disposition);
  });

  it("404 as soon as it is private, and 200 when it is public again", async () => {
    const alice = await withPublic();
    await alice.post("a", { Public: false });
    expect((await alice.getShared("a")).status).toBe(404);
    await alice.post("a", { Public: true });
    expect(await (await alice.getShared("a")).text()).toBe("one");
    await alice.delete("a");
    expect((await alice.getShared("a")).status).toBe(404);
  });

  it("404 after its owner was removed from the site", async () => {
    const alice = await withPublic();
    const others = alicesBlobs({ store: alice.store, owners: new Set([CAROL.publicKey]) });
    expect((await others.getShared("a")).status).toBe(404);
  });
});

describe("500 blob-damaged: stored contents with a changed byte", () => {
  async function damaged(size: number) {
    const folder = mkdtempSync(join(tmpdir(), "twtxt-damaged-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const alice = alicesBlobs({ store: new SqliteStore(folder) });
    const contents = Buffer.alloc(size, "x");
    await alice.put("a", contents, { "blob-public": "?1" });
    const [key = ""] = await alice.store.keys("blobs/contents/");
    contents[size >> 1] = 7;
    await alice.store.delete(key);
    await alice.store.write(
      key,
      (async function* () {
        yield Buffer.from(contents);
      })(),
      size,
    );
    return { alice, contents };
  }

  it.each([{}, { range: "bytes=0-1" }])("are not sent: the answer and the log say what to do (%j)", async (headers) => {
    const { alice } = await damaged(1000);
    const response = await alice.getShared("a", headers);
    const { code, detail } = await jsonOf(response);
    expect([response.status, code, response.headers.get("retry-after")]).toEqual([500, "blob-damaged", null]);
    expect(detail).toMatch(/blob a are damaged: .* Its owner can store the file again/);
    expect(alice.log.join()).toContain("blob put --again FILE, or restore a backup");
  });

  it("are cut off before their end if they are large, and the log says what to do", async () => {
    const { alice } = await damaged(300_000);
    const response = await alice.getShared("a");
    await expect(response.arrayBuffer()).rejects.toThrow("are damaged");
    expect(alice.log.join()).toContain("blob put --again FILE, or restore a backup");
  });

  it("are found once a day if they are large, since comparing takes as long as sending", async () => {
    const { alice, contents } = await damaged(300_000);
    const replace = async (bytes: Uint8Array) => {
      const [key = ""] = await alice.store.keys("blobs/contents/");
      await alice.store.put(key, bytes);
    };
    await replace(Buffer.alloc(contents.length, "x"));
    const read = async () => (await alice.getShared("a")).arrayBuffer();
    await read();
    await replace(contents);
    await read();
    alice.clock.time += 24 * 3600_000;
    await expect(read()).rejects.toThrow("are damaged");
  });

  it("are sent to their owner, whose program compares them with its proof", async () => {
    const { alice, contents } = await damaged(1000);
    const response = await alice.get("a");
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(contents);
  });
});

describe("404 not-found at a shared URL", () => {
  it("is the same response, byte for byte, for everything that is not public", async () => {
    const alice = await withPublic();
    await alice.put("private", "secret");
    await alice.put("gone", "one", { "blob-public": "?1" });
    await alice.delete("gone");
    const { publicKey } = ALICE;
    const paths = [
      `${publicKey}/absent`,
      `${publicKey}/private`,
      `${publicKey}/gone`,
      `${publicKey}/`,
      `${publicKey}`,
      "",
      "/",
      `${publicKey}/a/`,
      `${publicKey}/a/b`,
      `${publicKey}//a`,
      `/${publicKey}/a`,
      `${publicKey}/%61`,
      `${publicKey}/a%00`,
      `${publicKey}/a%2fb`,
      `${publicKey}/${"a".repeat(129)}`,
      `${publicKey.toUpperCase()}/a`,
      `${EVE.publicKey}/a`,
      `${CAROL.publicKey}/a`,
      "kex1/a",
      "__proto__/a",
    ];
    for (const method of ["GET", "HEAD"]) {
      const responses = new Map<string, string[]>();
      for (const path of paths) {
        for (const headers of [{}, { "if-none-match": "*", range: "bytes=0-0" }]) {
          const response = await wholeOf(await alice.respond(new Request(`${SHARED}/${path}`, { method, headers })));
          responses.set(response, [...(responses.get(response) ?? []), path]);
        }
      }
      expect([...responses.values()]).toEqual([paths.flatMap((path) => [path, path])]);
      const [status, headers, body] = JSON.parse([...responses.keys()][0] ?? "");
      expect([status, Object.fromEntries(headers)]).toEqual([
        404,
        { "cache-control": "no-store", "content-type": "application/problem+json" },
      ]);
      if (method === "GET") {
        expect(JSON.parse(body)).toEqual({ status: 404, code: "not-found", detail: "Nothing is shared here." });
      }
    }
    expect(alice.log).toEqual([]);
  });

  it.each(["x/../../xshared/KEY/a", "../sharedxKEY/a", "../SHARED/KEY/a"])(
    "comes from the files of the site for a path outside: %s",
    async (path) => {
      const alice = await withPublic();
      for (const method of ["GET", "HEAD"]) {
        const url = `${SHARED}/${path.replace("KEY", ALICE.publicKey)}`;
        expect(await wholeOf(await alice.respond(new Request(url, { method })))).toBe(JSON.stringify([404, [], ""]));
      }
    },
  );
});

describe("other methods at a shared URL", () => {
  it.each(["PUT", "POST", "DELETE", "PATCH"])("405: %s, with Allow", async (method) => {
    const alice = await withPublic();
    for (const key of ["a", "absent"]) {
      const response = await alice.getShared(key, {}, method);
      expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
      expect(await outcomeOf(response)).toEqual({ status: 405, code: "method-not-allowed" });
    }
    expect((await alice.getShared("a")).status).toBe(200);
  });

  it("204: OPTIONS", async () => {
    const alice = await withPublic();
    const response = await alice.getShared("absent", {}, "OPTIONS");
    expect([response.status, response.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  });
});
