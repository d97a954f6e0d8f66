import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { HttpRequest } from "../../plugin/http/respond.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { type BlobAuthor, blobAuthors, sha256 } from "./blob-author.js";
import { describeWithoutKeychain } from "./machine.js";

/** Alice with a blob under the key `a`. */
async function aliceWith(text: string, ...options: string[]): Promise<BlobAuthor> {
  const { alice } = await blobAuthors(["alice"]);
  await put(alice, text, ...options);
  return alice;
}

async function put(alice: BlobAuthor, text: string, ...options: string[]) {
  alice.machine.write("a.txt", text);
  return alice.blob("put", "a.txt", "--key", "a", ...options);
}

/** Records the site's responses. The returned function makes the site replay them. */
async function replayed(alice: BlobAuthor) {
  const answers = new Map<string, { body: Uint8Array; init: ResponseInit }>();
  alice.operator = async (request, answer) => {
    const response = await answer();
    const body = new Uint8Array(await response.clone().arrayBuffer());
    answers.set(place(request), { body, init: { status: response.status, headers: response.headers } });
    return response;
  };
  for (const args of [["info", "a"], ["list"], ["verify"], ["get", "a", "-o", "-"]]) await alice.blob(...args);
  alice.operator = null;
  return () => {
    alice.operator = async (request, answer) => {
      const before = answers.get(place(request));
      return before ? new Response(request.method === "HEAD" ? null : before.body, before.init) : answer();
    };
  };
}

function keyFileOf({ machine, address }: BlobAuthor): string {
  return join(machine.folder, "data/eleventy-twtxt/keys", `${address.replace(":", "+")}.key`);
}

function place({ method, url }: HttpRequest): string {
  return `${method} ${url}`;
}

/** Changes the headers of all responses to GET and HEAD. */
function withHeaders(alice: BlobAuthor, headers: Record<string, string | null>) {
  alice.operator = async (request, answer) => {
    const response = await answer();
    if (!["GET", "HEAD"].includes(request.method)) return response;
    const changed = new Headers(response.headers);
    for (const [name, value] of Object.entries(headers))
      value === null ? changed.delete(name) : changed.set(name, value);
    return new Response(response.body, { status: response.status, headers: changed });
  };
}

/** Runs all commands that read a blob. Each fails and writes nothing. @returns their messages */
async function refusals(alice: BlobAuthor): Promise<string[]> {
  const messages: string[] = [];
  for (const args of [["get", "a", "-o", "got"], ["info", "a"], ["set", "a", "--public"], ["verify"]]) {
    const { exitCode, stdout, stderr } = await alice.blob(...args);
    expect([args, exitCode]).toEqual([args, 1]);
    messages.push(stdout + stderr);
  }
  expect(alice.machine.list(".").filter((name) => /^got|\.tmp$/.test(name))).toEqual([]);
  return messages;
}

const LISTED = {
  ...{ owner: "kex1", key: "a", size: 5, sha256: sha256("hello"), Type: "text/plain", Public: false, Filename: "" },
  ...{ Properties: {}, created: "2026-11-20T09:00:00.000Z", modified: "2026-11-20T09:00:00.000Z", shared: null },
};

const ADVICE =
  "To save what the site has, type `eleventy-twtxt blob get KEY --unverified`; to store your file again, type `eleventy-twtxt blob put --again FILE`, or `eleventy-twtxt blob rm KEY` and then `eleventy-twtxt blob put FILE`.";

describeWithoutKeychain("a site that was restored from a copy", () => {
  it("has an old version, which can be saved unverified, removed or stored again, as the error message says", async () => {
    const alice = await aliceWith("one");
    const replay = await replayed(alice);
    await put(alice, "two");
    replay();
    await alice.blob("get", "a", "-o", "got", "--unverified");
    expect(alice.machine.read("got")).toBe("one");
    expect(await alice.blob("rm", "a")).toMatchObject({ exitCode: 0 });
    alice.operator = null;
    expect((await put(alice, "one")).stderr).toContain("a.txt: new, ");
    expect(await alice.blob("verify")).toMatchObject({ exitCode: 0 });
  });

  it("may lack the contents of a listed blob; --again sends them again", async () => {
    const alice = await aliceWith("hello");
    alice.methods();
    expect((await put(alice, "hello")).stderr).toContain("a.txt: unchanged");
    expect((await put(alice, "hello", "--again")).stderr).toContain("a.txt: replaced");
    expect(alice.methods()).toEqual(["HEAD", "HEAD", "PUT"]);
    expect(await alice.listed()).toMatchObject([{ sha256: sha256("hello"), proof: { state: "right" } }]);
  });
});

describeWithoutKeychain("a damaged record on this machine", () => {
  it("is reported with its path, and does not stop the command", async () => {
    const alice = await aliceWith("hello");
    alice.machine.write("b.txt", "b");
    await alice.blob("put", "b.txt", "--key", "b");
    const known = join(alice.machine.folder, "data/eleventy-twtxt/blobs");
    const store = new SqliteStore(known);
    const keys = await store.keys("");
    const values = await Promise.all(
      keys.map(async (key) => Buffer.from((await store.get(key))?.bytes ?? []).toString()),
    );
    const place = keys.find((_, at) => values[at]?.includes('"key":"b"')) ?? "";
    await store.put(place, Buffer.from("junk"));
    const { stderr, stdout, exitCode } = await alice.blob("list");
    expect([exitCode, stdout.split("\n")]).toEqual([
      1,
      [expect.stringMatching(/^b /), expect.stringContaining("cannot be read"), expect.stringMatching(/^a .*a\.txt$/)],
    ]);
    expect(stderr).toContain(`The value of ${place} cannot be read: `);
    expect(stderr).toContain(`It is in the database in ${known}: if you delete that folder,`);
    const verified = await alice.blob("verify");
    expect([verified.exitCode, verified.stderr]).toEqual([
      1,
      expect.stringContaining("1 as you stored them, 1 wrong."),
    ]);
    expect(await alice.blob("get", "a", "-o", "-")).toMatchObject({ exitCode: 0, written: Buffer.from("hello") });
  });
});

describeWithoutKeychain("a byte that changed in the store of the site", () => {
  it("is found by verify, which says what to do, and --again mends it", async () => {
    const alice = await aliceWith("hello");
    const key = [...(await alice.stored()).keys()].find((name) => name.startsWith("blobs/contents/")) ?? "";
    await alice.replaceStored(key, Buffer.from("hellO"));
    const { exitCode, stdout, stderr } = await alice.blob("verify");
    expect([exitCode, stdout + stderr]).toEqual([1, expect.stringContaining("a: it is not as its owner stored it")]);
    expect(stdout + stderr).toContain("to store your file again, type `eleventy-twtxt blob put --again FILE`");
    await put(alice, "hello", "--again");
    expect(await alice.blob("verify")).toMatchObject({ exitCode: 0 });
  });
});

describeWithoutKeychain("a site that cannot be trusted", () => {
  it("is detected if it changes contents", async () => {
    const alice = await aliceWith("hello");
    alice.operator = async (request, answer) =>
      request.method === "GET" && !request.url.endsWith("blob")
        ? new Response("hullo", { headers: (await answer()).headers })
        : answer();
    for (const args of [["get", "a", "-o", "got"], ["verify"]]) {
      const { exitCode, stdout, stderr } = await alice.blob(...args);
      expect(exitCode).toBe(1);
      expect(stdout + stderr).toContain("a: it is not as its owner stored it: its proof is for other contents");
    }
    expect(alice.machine.list(".")).not.toContain("got");
    const forced = await alice.blob("get", "a", "-o", "got", "--unverified");
    expect(forced).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("a: UNVERIFIED: it is not as its owner"),
    });
    expect(alice.machine.read("got")).toBe("hullo");
  });

  it("is detected by other readers, who get advice", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    alice.machine.write("a.txt", "hello");
    await alice.blob("put", "a.txt", "--key", "a", "--public");
    alice.operator = async (_, answer) => new Response("hullo", { headers: (await answer()).headers });
    const { exitCode, stderr } = await bob.blob("get", alice.shared("a"), "-o", "got");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      "its proof is for other contents. Ask its owner, who can store it again. To save what the site has, type `eleventy-twtxt blob get URL --unverified`.",
    );
  });

  it("is detected if contents do not match their content address, even without a proof", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    const { stdout: key } = await alice.blob("put", "a.txt");
    rmSync(join(alice.machine.folder, "data/eleventy-twtxt/blobs"), { recursive: true });
    alice.operator = async (request, answer) => {
      const response = await answer();
      const headers = new Headers(response.headers);
      headers.set("blob-properties", ":e30=:");
      return new Response(request.method === "GET" ? "hullo" : null, { headers });
    };
    const { exitCode, stderr } = await alice.blob("get", key, "-o", "got");
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("its contents do not match its key, which is their SHA-256"),
    ]);
  });

  it("is detected if it changes anything but contents", async () => {
    const alice = await aliceWith("hello");
    const changes: [string, Record<string, string | null>][] = [
      ["its type", { "content-type": "text/html" }],
      ["its name", { "content-disposition": "attachment; filename*=UTF-8''b.txt" }],
      ["its visibility", { "blob-public": "?1" }],
      [
        "a part of its proof",
        { "blob-properties": `:${Buffer.from('{"created":"2026-11-20T09:00:00Z"}').toString("base64")}:` },
      ],
      ["its proof to none", { "blob-properties": ":e30=:" }],
      ["the headers of a blob", { "blob-public": null }],
    ];
    for (const [what, headers] of changes) {
      withHeaders(alice, headers);
      for (const message of await refusals(alice)) {
        expect([what, message]).toEqual([
          what,
          expect.stringMatching(/a: it is not as its owner|a: it had a proof of|is not a blob/),
        ]);
      }
    }
  });

  it("is detected if it serves an old version; a newer version from another machine is accepted", async () => {
    const alice = await aliceWith("one");
    const replay = await replayed(alice);
    await put(alice, "two");
    replay();
    for (const message of await refusals(alice)) {
      expect(message).toMatch(/a: the site shows an old version, of \S+Z; the newest one is of \S+Z/);
    }
    const listed = await alice.blob("list");
    expect([listed.exitCode, listed.stderr]).toEqual([1, "1 blob, 3 bytes, 1 wrong."]);
    expect(listed.stdout).toMatch(/^a {2}.*\n {2}the site shows an old version/);
    expect(JSON.parse((await alice.blob("list", "--json")).stdout)).toMatchObject([{ proof: { state: "wrong" } }]);
    const refused = await alice.blob("get", "a", "-o", "got", "--json");
    expect(JSON.parse(refused.stdout)).toEqual({ error: expect.stringContaining("an old version") });
    const third = await put(alice, "three");
    expect(third.stderr).toContain("a.txt: a: the site shows an old version");
    for (const message of [refused.stderr, third.stderr]) expect(message).toContain(ADVICE);

    alice.operator = null;
    const data = join(alice.machine.folder, "data2");
    const other = { environment: { ...alice.environment, XDG_DATA_HOME: data } };
    alice.machine.write("a.txt", "by the other");
    await alice.blobWith(other, "put", "a.txt", "--key", "a", "--identity", keyFileOf(alice));
    expect(await alice.blob("get", "a", "-o", "-")).toMatchObject({
      exitCode: 0,
      stderr: "",
      written: Buffer.from("by the other"),
    });
    replay();
    expect((await alice.blob("info", "a")).stderr).toContain("the site shows an old version");
  });

  it("is detected if it makes a private blob public again", async () => {
    const alice = await aliceWith("hello", "--public");
    const replay = await replayed(alice);
    await alice.blob("set", "a", "--private");
    replay();
    for (const message of await refusals(alice)) expect(message).toContain("the site shows an old version");
  });

  it("is detected if it serves a deleted blob again", async () => {
    const alice = await aliceWith("hello");
    const replay = await replayed(alice);
    await alice.blob("rm", "a");
    replay();
    for (const message of await refusals(alice)) expect(message).toContain("and the site shows it again, as of ");
  });

  it("is detected if it hides a blob", async () => {
    const alice = await aliceWith("hello");
    const { alice: another } = await blobAuthors(["alice"]);
    const hiding = async (request: HttpRequest) =>
      new URL(request.url).pathname.endsWith("/blob")
        ? Response.json({ blobs: [], next: null, count: 0, bytes: 0 })
        : new Response(null, { status: 404, headers: { "content-type": "application/problem+json" } });
    alice.operator = hiding;
    const lost =
      /a: it was stored on \S+Z, and the site no longer has it: the site or another machine of yours deleted it/;
    for (const message of await refusals(alice)) expect(message).toMatch(lost);
    expect(await alice.blob("list")).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(lost) });
    expect(await alice.listed()).toEqual([
      { key: "a", proof: { state: "wrong", created: null, why: expect.anything() } },
    ]);
    alice.operator = async (request, answer) =>
      request.method === "HEAD"
        ? new Response(null, { status: 404, headers: { "content-type": "application/problem+json" } })
        : answer();
    expect((await put(alice, "hello")).stderr).toContain("a is being changed by another machine.");
    alice.operator = null;
    await alice.blobWith({ environment: another.environment }, "rm", "a", "--identity", keyFileOf(alice));
    expect((await put(alice, "hello")).stderr).toMatch(/^a\.txt: new, .*\na\.txt: It was missing: it was stored on /);
    alice.operator = hiding;
    expect(await alice.blob("rm", "a")).toMatchObject({
      exitCode: 0,
      stderr: "a: there is no such blob.\na: This machine has recorded that it is gone.",
    });
    expect(await alice.blob("rm", "a")).toMatchObject({ exitCode: 1, stderr: "a: there is no such blob." });
    expect(await alice.blob("list")).toMatchObject({ exitCode: 0, stderr: "0 blobs, 0 bytes." });
    expect((await another.blob("info", "a")).stderr).toContain("There is no blob a.");
  });

  it("cannot hide a blob that the author names by the start of its key", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    const { stdout: key } = await alice.blob("put", "a.txt");
    alice.operator = async (request) =>
      request.url.endsWith("/blob")
        ? Response.json({ blobs: [], next: null, count: 0, bytes: 0 })
        : new Response(null, { status: 404, headers: { "content-type": "application/problem+json" } });
    expect((await alice.blob("info", key.slice(0, 6))).stderr).toContain(`${key}: it was stored on `);
  });

  it("is reported if its response ends early, and no incomplete file is left", async () => {
    const alice = await aliceWith("hello".repeat(100_000));
    alice.operator = async (request, answer) => {
      const response = await answer();
      if (request.method !== "GET" || request.url.endsWith("/blob")) return response;
      const cut = async function* () {
        yield Buffer.from("hello");
        throw new Error("cut");
      };
      return new Response(ReadableStream.from(cut()), { headers: response.headers });
    };
    const got = await alice.blob("get", "a", "-o", "got");
    expect(got).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringContaining("the connection was closed early."),
    });
    expect(alice.machine.list(".").filter((name) => /^got|\.tmp$/.test(name))).toEqual([]);
    const verified = await alice.blob("verify");
    expect(verified).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^1 not read\.\nBlobs that could not be read may be right/),
    });
  });

  it("cannot send more than was stored", async () => {
    const { alice } = await blobAuthors(["alice"], { maxMegabytes: 1 });
    await put(alice, "hello");
    alice.operator = async (request, answer) => {
      const response = await answer();
      if (request.method !== "GET") return response;
      const headers = new Headers(response.headers);
      headers.delete("content-length");
      return new Response(ReadableStream.from([Buffer.alloc(2 ** 20 + 1)]), { headers });
    };
    const got = await alice.blob("get", "a", "-o", "got");
    expect(got).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("a: the site sends more than the allowed 1048576 bytes"),
    });
  });

  it("cannot forge lines of the output of list", async () => {
    const alice = await aliceWith("hello");
    alice.operator = async (request, answer) => {
      const response = await answer();
      if (!new URL(request.url).pathname.endsWith("/blob")) return response;
      const { blobs } = Object(await response.json());
      const forged = blobs.map((blob: object) => ({ ...blob, Filename: "a\n0123456789ab  all is well\u001b[2J" }));
      return Response.json({ blobs: forged, next: null, count: 0, bytes: 0 });
    };
    const { stdout, exitCode } = await alice.blob("list");
    expect([exitCode, stdout.split("\n")]).toEqual([
      1,
      [expect.stringContaining("a 0123456789ab all is well [2J"), expect.any(String)],
    ]);
  });

  it("may have a blob without a proof, which is reported but is no error", async () => {
    const alice = await aliceWith("hello");
    rmSync(join(alice.machine.folder, "data/eleventy-twtxt/blobs"), { recursive: true });
    withHeaders(alice, { "blob-properties": ":e30=:" });
    const got = await alice.blob("get", "a", "-o", "got");
    expect(got).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("a: there is no proof that its owner stored this"),
    });
    expect((await alice.blob("info", "a")).stdout).toMatch(/\nproof {5}none: it was stored without a proof$/);
    expect(await alice.blob("verify")).toMatchObject({ exitCode: 0, stdout: "a: it has no proof" });
    const set = await alice.blob("set", "a", "--public");
    expect(set.stderr).toContain("It was stored without a proof. To add one, put the file again.");
    alice.operator = null;
    expect(await alice.listed()).toMatchObject([{ public: true, proof: { state: "absent" } }]);
    expect((await put(alice, "hello")).stderr).toContain("a.txt: replaced");
    expect(await alice.listed()).toMatchObject([{ sha256: sha256("hello"), proof: { state: "right" } }]);
  });

  it.each([["unsealed"], ["sealed", "--encrypt"]])(
    "cannot get a proof for metadata that it made up for a blob without a proof: %s",
    async (_, ...options) => {
      const alice = await aliceWith("hello");
      rmSync(join(alice.machine.folder, "data/eleventy-twtxt/blobs"), { recursive: true });
      const claim = Buffer.from('{"mine":"forged"}').toString("base64");
      withHeaders(alice, { "blob-properties": `:${claim}:`, "blob-public": "?1", "content-type": "text/html" });
      alice.machine.write("a.txt", "a secret");
      await alice.blob("put", "a.txt", "--key", "a", ...options);
      alice.operator = null;
      const [listed] = await alice.listed();
      expect(listed).toMatchObject({ public: false, proof: { state: "right" } });
      expect(listed?.properties).not.toHaveProperty("mine");
      expect(listed?.type).not.toBe("text/html");
      expect((await fetch(alice.shared("a"))).status).toBe(404);
    },
  );

  it("cannot get a proof for metadata that it made up for a content address", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    const { stdout: key } = await alice.blob("put", "a.txt");
    rmSync(join(alice.machine.folder, "data/eleventy-twtxt/blobs"), { recursive: true });
    withHeaders(alice, { "blob-properties": ":e30=:", "content-length": "6", "content-type": "text/html" });
    await alice.blob("set", key, "--public");
    alice.operator = null;
    expect(await alice.listed()).toMatchObject([{ public: true, proof: { state: "absent" } }]);
  });

  it("may leave out the length of a blob, which is then read from the list", async () => {
    const alice = await aliceWith("hello");
    withHeaders(alice, { "content-length": null });
    expect((await alice.blob("info", "a")).stdout).toContain("\nsize      5 bytes (5)\n");
    expect((await put(alice, "hello")).stderr).toContain("a.txt: unchanged, 5 bytes");
    expect(await alice.blob("get", "a", "-o", "-")).toMatchObject({ exitCode: 0, written: Buffer.from("hello") });
  });

  it("is refused if it responds with no list, or a wrong one", async () => {
    const alice = await aliceWith("hello");
    const lists: [string, object][] = [
      ["no list", { blobs: null, next: null }],
      ["an invalid blob", { blobs: [{ key: "../a" }], next: null }],
      ["a page whose cursor goes backwards", { blobs: [], next: "0".repeat(64) }],
      ["a page of more than 100 blobs", { blobs: Array(101).fill(LISTED), next: null }],
      ["properties over the limit", { blobs: [{ ...LISTED, Properties: { a: "x".repeat(9000) } }], next: null }],
    ];
    for (const [what, list] of lists) {
      alice.operator = async () => Response.json(list);
      for (const options of [[], ["--all"]]) {
        expect([what, await alice.blob("list", ...options)]).toEqual([
          what,
          expect.objectContaining({
            ...{ exitCode: 1, stdout: "" },
            stderr: expect.stringContaining("The response of the site is not a list of blobs."),
          }),
        ]);
      }
    }
  });

  it("is refused if its list begins again", async () => {
    const alice = await aliceWith("hello");
    alice.methods();
    alice.operator = async () => Response.json({ blobs: [], next: "1".padStart(64, "0") });
    const { exitCode, stderr } = await alice.blob("list", "--all");
    expect([exitCode, alice.methods()]).toEqual([1, ["GET", "GET"]]);
    expect(stderr).toContain("The response of the site is not a list of blobs.");
  });

  it("cannot pass off another owner's blob, with a valid proof, as the author's own", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    bob.machine.write("a.txt", "by bob");
    await bob.blob("put", "a.txt", "--key", "a");
    const list = await bob.listed();
    let answer: Response | null = null;
    bob.operator = async (_, answered) => {
      const response = await answered();
      answer = response.clone();
      return response;
    };
    await bob.blob("get", "a", "-o", "-");
    expect(list).toMatchObject([{ proof: { state: "right" } }]);
    alice.operator = async () => answer?.clone() ?? new Response(null, { status: 500 });
    const got = await alice.blob("get", "a", "-o", "got");
    expect(got).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("its owner did not sign this") });
  });
});
