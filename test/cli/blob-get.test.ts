import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { toHeaders } from "../../plugin/blobs/metadata.js";
import { loopbackServer } from "../helpers/loopback.js";
import { COMMAND } from "../helpers/paths.js";
import { type BlobAuthor, blobAuthors, PNG, sha256 } from "./blob-author.js";
import { describeWithoutKeychain } from "./machine.js";

describeWithoutKeychain("eleventy-twtxt blob get", () => {
  it("saves a blob under its own name, and replaces an existing file only with --force", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("files/a.png", PNG);
    const { stdout: key } = await alice.blob("put", "files/a.png");
    const got = await alice.blob("get", key);
    expect(got).toMatchObject({ exitCode: 0, stdout: `${alice.machine.folder}/a.png` });
    expect(got.stderr).toBe(`${key.slice(0, 12)}: saved, ${PNG.length} bytes`);
    expect(alice.bytes("a.png")).toEqual(PNG);

    alice.machine.write("a.png", "mine");
    const again = await alice.blob("get", key);
    expect(again).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("a.png already exists") });
    expect(alice.machine.read("a.png")).toBe("mine");
    expect(await alice.blob("get", key, "--force")).toMatchObject({ exitCode: 0 });
    expect(alice.bytes("a.png")).toEqual(PNG);
    expect(readdirSync(alice.machine.folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("saves a blob to the path of -o, or writes it to standard output", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("files/a.png", PNG);
    const { stdout: key } = await alice.blob("put", "files/a.png", "--filename=-.quince.png");
    await alice.blob("get", key, "-o", "other.png");
    await alice.blob("get", key, "--output", "files");
    expect(alice.bytes("other.png")).toEqual(PNG);
    expect(alice.machine.list("files")).toEqual(["_.quince.png", "a.png"]);
    const written = await alice.blob("get", key, "-o", "-");
    expect(written).toMatchObject({ exitCode: 0, stdout: "", written: PNG });
    for (const [place, above] of [
      ["no/folder/a.png", "no/folder"],
      ["no/", "no/"],
    ] as const) {
      const got = await alice.blob("get", key, "-o", place);
      expect(got).toMatchObject({ exitCode: 1, stdout: "", stderr: `eleventy-twtxt: There is no folder ${above}.` });
    }
  });

  it("gets a blob of another owner by its shared URL, as long as it is public", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    alice.machine.write("a.png", PNG);
    const { stdout: url } = await alice.blob("put", "a.png", "--public");
    const got = await bob.blob("get", url, "--json");
    expect(JSON.parse(got.stdout)).toMatchObject({ owner: alice.kex, proof: { state: "right" }, sealedBy: null });
    expect(bob.bytes("a.png")).toEqual(PNG);

    await alice.blob("set", sha256(PNG), "--private");
    const gone = await bob.blob("get", url, "-o", "b.png");
    expect(gone).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("the blob does not exist, or is no longer shared"),
    });
  });

  it("refuses another owner's blob if the site has changed it or serves an old version", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    alice.machine.write("a.txt", "one");
    const { stdout: url } = await alice.blob("put", "a.txt", "--key", "a", "--public");
    const old = await fetch(url);
    const [headers, body] = [old.headers, await old.text()];
    alice.machine.write("a.txt", "two");
    await alice.blob("put", "a.txt", "--key", "a");
    expect(await bob.blob("get", url)).toMatchObject({ exitCode: 0 });

    alice.operator = async (_, answer) => new Response("owt", { headers: (await answer()).headers });
    const changed = await bob.blob("get", url, "-o", "b.txt");
    expect(changed).toMatchObject({ exitCode: 1, stdout: "" });
    expect(changed.stderr).toContain("a: it is not as its owner stored it: its proof is for other contents.");
    alice.operator = async () => new Response(body, { headers });
    expect((await bob.blob("get", url, "-o", "b.txt")).stderr).toContain("the site shows an old version, of ");
    expect(bob.machine.list(".").filter((name) => /^b\.txt|\.tmp$/.test(name))).toEqual([]);
  });
});

/** A promise that the test resolves. */
function deferred() {
  let resolve = () => {};
  const fulfilled = new Promise<void>((done) => {
    resolve = done;
  });
  return { fulfilled, resolve: () => resolve() };
}

it("ends at 100 MiB, if another owner's site does not say which size is proven", async () => {
  const { alice, bob } = await blobAuthors(["alice", "bob"]);
  const piece = Buffer.alloc(2 ** 20);
  const server = await loopbackServer((_, response) => {
    const metadata = { type: "text/plain", filename: "", isPublic: true, properties: {} };
    response.writeHead(200, toHeaders(metadata));
    const pieces = Readable.from(Array.from({ length: 110 }, () => piece));
    pipeline(pieces, response, () => {});
  });
  const url = `${server.url}/shared/${alice.kex}/a`;
  const { exitCode, stderr } = await bob.blob("get", url, "--allow-private-host", server.host);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`more than the allowed ${100 * 2 ** 20} bytes`);
  expect(bob.machine.list(".").filter((name) => /^a$|\.tmp$/.test(name))).toEqual([]);
});

describeWithoutKeychain("Ctrl-C", () => {
  it("deletes the incomplete file of a download", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("files/a.png", PNG);
    const { stdout: key } = await alice.blob("put", "files/a.png");
    const ending = deferred();
    alice.operator = async (request, answer) => {
      const response = await answer();
      if (request.method !== "GET") return response;
      const never = async function* () {
        yield PNG.subarray(0, 10);
        ending.resolve();
        await new Promise(() => {});
      };
      return new Response(ReadableStream.from(never()), { headers: response.headers });
    };
    const got = await alice.blobWith({ ended: () => ending.fulfilled }, "get", key);
    expect(got).toMatchObject({ exitCode: 1, stdout: "", stderr: "eleventy-twtxt: Interrupted." });
    expect(alice.machine.list(".").filter((name) => /png|tmp$/.test(name))).toEqual([]);
  });

  it("stores no incomplete blob, and does not start the next upload", async () => {
    const { alice } = await blobAuthors(["alice"]);
    for (const name of ["a", "b"]) alice.machine.write(`files/${name}.bin`, Buffer.alloc(10 * 2 ** 20, name));
    const ending = deferred();
    alice.operator = async (request, answer) => {
      if (request.method === "PUT") ending.resolve();
      return answer();
    };
    const put = await alice.blobWith({ ended: () => ending.fulfilled }, "put", "files", "--concurrency", "1");
    const stderr = "eleventy-twtxt: Interrupted: 0 of 2 stored. To continue, run the same command again.";
    expect(put).toMatchObject({ exitCode: 1, stdout: "", stderr });
    alice.operator = null;
    expect(await alice.listed()).toEqual([]);
    expect(alice.methods().filter((method) => method === "HEAD")).toHaveLength(1);
  });

  it("reports each stored file, then their number", async () => {
    const { alice } = await blobAuthors(["alice"]);
    for (const name of ["a", "b", "c"]) alice.machine.write(`files/${name}.txt`, name);
    const ending = deferred();
    const heads: string[] = [];
    alice.operator = async (request, answer) => {
      if (request.method === "HEAD" && heads.push(request.url) === 2) {
        ending.resolve();
        await new Promise(() => {});
      }
      return answer();
    };
    const put = await alice.blobWith({ ended: () => ending.fulfilled }, "put", "files", "--concurrency", "1");
    expect(put).toMatchObject({ exitCode: 1, stdout: sha256("a") });
    expect(put.stderr.split("\n")).toEqual([
      expect.stringContaining("files/a.txt: new, "),
      "eleventy-twtxt: Interrupted: 1 of 3 stored. To continue, run the same command again.",
    ]);
    alice.operator = null;
    expect(await alice.listed()).toMatchObject([{ key: sha256("a") }]);
  });
});

/** Runs `eleventy-twtxt ARGS` with standard output redirected to an open file. */
async function typedTo(stdout: number, { machine, environment }: BlobAuthor, args: string[]) {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd: machine.folder,
    env: { ...process.env, ...environment, TMPDIR: machine.folder },
    stdio: ["ignore", stdout, "pipe"],
  });
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr ?? Readable.from([])), once(child, "close")]);
  return { exitCode, stderr };
}

describeWithoutKeychain("the command as a process", () => {
  it("stores standard input and writes to standard output", async () => {
    const { alice } = await blobAuthors(["alice"]);
    const put = await alice.run(["blob", "put", "-", "--filename", "a.txt"], "hello\n");
    expect(put).toMatchObject({ exitCode: 0, stdout: `${sha256("hello\n")}\n` });
    expect(put.stderr).toBe(`standard input: new, 6 bytes, private, ${sha256("hello\n").slice(0, 12)}\n`);
    const got = await alice.run(["blob", "get", sha256("hello\n"), "-o", "-"]);
    expect(got).toEqual({ exitCode: 0, stdout: "hello\n", stderr: "" });
  });

  it.runIf(existsSync("/dev/full"))(
    "exits with 1 and one line of error if standard output cannot be written",
    async () => {
      const { alice } = await blobAuthors(["alice"]);
      const large = Buffer.alloc(2 ** 20);
      alice.machine.write("files/a.bin", large);
      await alice.blob("put", "files");
      const full = openSync("/dev/full", "w");
      const expected = /^(1 blob, 1\.0 MiB\.\n)?eleventy-twtxt: Standard output cannot be written: ENOSPC.*\n$/;
      for (const args of [
        ["get", sha256(large), "-o", "-"],
        ["list", "--json"],
      ]) {
        const typed = await typedTo(full, alice, ["blob", ...args]);
        expect([args, typed]).toEqual([args, { exitCode: 1, stderr: expect.stringMatching(expected) }]);
      }
      closeSync(full);
      expect(alice.machine.list(".").filter((name) => name.startsWith("eleventy-twtxt-"))).toEqual([]);
    },
  );

  it("prints the progress of large files as lines if there is no terminal", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("large.bin", Buffer.alloc(10 * 2 ** 20));
    const { stderr } = await alice.run(["blob", "put", "large.bin"]);
    expect(stderr).toMatch(
      /^10 % of 10\.0 MiB\n(\d0 % of 10\.0 MiB\n){8}100 % of 10\.0 MiB\nlarge\.bin: new, 10\.0 MiB/,
    );
  });
});

describeWithoutKeychain("a command that fails", () => {
  it("prints the reason as JSON, for every action", async () => {
    const { alice } = await blobAuthors(["alice"]);
    for (const action of [
      ["info", "none"],
      ["set", "none", "--public"],
      ["share", "none"],
      ["get", "none"],
    ]) {
      const { exitCode, stdout } = await alice.blob(...action, "--json");
      expect([exitCode, JSON.parse(stdout)]).toEqual([1, { error: expect.stringContaining("There is no blob none.") }]);
    }
    await alice.stop();
    for (const action of [["list"], ["rm", "a"], ["verify"]]) {
      const { exitCode, stdout } = await alice.blob(...action, "--json");
      expect([exitCode, JSON.parse(stdout)]).toEqual([
        1,
        { error: expect.stringContaining("Check that the site is running") },
      ]);
    }
  });

  it("does not report complete progress", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("large.bin", Buffer.alloc(10 * 2 ** 20));
    await alice.stop();
    const { stderr } = await alice.blob("put", "large.bin");
    expect(stderr).toMatch(/^large\.bin: .*ECONNREFUSED/);
  });

  it("says how to store a file whose name is not allowed", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("back\\slash.txt", "hello");
    const put = await alice.blob("put", "back\\slash.txt");
    expect(put).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--filename NAME stores it under") });
    expect(await alice.blob("put", "back\\slash.txt", "--filename", "slash.txt")).toMatchObject({ exitCode: 0 });
  });
});

describeWithoutKeychain("a sealed blob", () => {
  it("can be opened by its owner and the recipients, who see its signer; the site knows neither name nor type", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    alice.machine.write("plan.png", PNG);
    const put = await alice.blob("put", "--encrypt", "--to", bob.address, "plan.png");
    expect(put.exitCode).toBe(0);
    const key = put.stdout;
    expect(put.stderr).toContain(
      `is private. To let others get it, type: eleventy-twtxt blob share ${key.slice(0, 12)}`,
    );
    const [listed] = await alice.listed();
    expect(listed).toMatchObject({ key, type: "application/x-saltpack", filename: "", proof: { state: "right" } });
    expect(JSON.stringify(listed)).not.toMatch(/plan|png/);
    expect((await alice.blob("list")).stdout).toMatch(/ {2}sealed$/);

    const { stdout: url } = await alice.blob("share", key);
    const stored = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect([sha256(stored), stored.includes(PNG), stored.includes("plan")]).toEqual([key, false, false]);

    const got = await bob.blob("get", url);
    expect(got).toMatchObject({ exitCode: 0, stdout: `${bob.machine.folder}/plan.png` });
    expect(got.stderr).toContain(`sealed by ${alice.kex}, its owner.`);
    expect(bob.bytes("plan.png")).toEqual(PNG);
    alice.machine.write("plan.png", "mine");
    const taken = await alice.blob("get", key);
    expect(taken).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("plan.png already exists") });
    expect(alice.machine.read("plan.png")).toBe("mine");
    await alice.blob("get", key, "-o", "opened.png");
    expect(alice.bytes("opened.png")).toEqual(PNG);
    await alice.blob("get", key, "--sealed");
    expect(alice.bytes(key)).toEqual(stored);
  });

  it("is saved with mode 600, also over an existing file; other blobs get the default mode", async () => {
    const { alice } = await blobAuthors(["alice"]);
    const modeOf = (name: string) => statSync(join(alice.machine.folder, name)).mode & 0o777;
    alice.machine.write("plan.txt", "our plan");
    const { stdout: sealed } = await alice.blob("put", "--encrypt", "plan.txt");
    alice.machine.write("open.txt", "my plan");
    const { stdout: plain } = await alice.blob("put", "open.txt");
    await alice.blob("get", sealed, "-o", "secret.txt");
    await alice.blob("get", sealed, "--force");
    await alice.blob("get", plain, "-o", "plain.txt");
    expect(alice.machine.read("secret.txt")).toBe("our plan");
    expect([modeOf("secret.txt"), modeOf("plan.txt")]).toEqual([0o600, 0o600]);
    expect(modeOf("plain.txt")).toBe(modeOf("open.txt"));
  });

  it("cannot be opened by others, and get says so", async () => {
    const { alice, carol } = await blobAuthors(["alice", "carol"]);
    alice.machine.write("plan.png", PNG);
    const { stdout: url } = await alice.blob("put", "--encrypt", "--public", "plan.png");
    const got = await carol.blob("get", url);
    const why = "it stays sealed: It is not sealed to a key of yours.";
    expect(got).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(why) });
    const { stdout } = await carol.blob("get", url, "--json", "--force");
    expect(JSON.parse(stdout)).toMatchObject({ sealed: true, sealedBy: null, proof: { state: "right" } });
    const key = url.split("/").at(-1) ?? "";
    expect(sha256(carol.bytes(key))).toBe(key);
  });

  it("is not saved if the given key does not exist", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("plan.txt", "our plan");
    const { stdout: url } = await alice.blob("put", "--encrypt", "--public", "plan.txt");
    const got = await alice.blob("get", url, "--identity", "/none.key", "--json");
    expect([got.exitCode, JSON.parse(got.stdout)]).toEqual([1, { error: expect.stringContaining("/none.key") }]);
    expect(alice.machine.list(".").filter((name) => /^[0-9a-f]{64}$|\.tmp$/.test(name))).toEqual([]);
  });

  it("becomes private if an unsealed file replaces it without --public", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("plan.txt", "our plan");
    await alice.blob("put", "--encrypt", "--public", "--key", "plan", "plan.txt");
    const put = await alice.blob("put", "--key", "plan", "plan.txt");
    expect(put.stderr).toMatch(/^plan\.txt: replaced, 8 bytes, private, plan\nplan\.txt: The sealed blob was public\./);
    expect((await fetch(alice.shared("plan"))).status).toBe(404);

    await alice.blob("put", "--encrypt", "--public", "--key", "plan", "plan.txt");
    await alice.blob("put", "--encrypt", "--key", "plan", "plan.txt");
    expect((await fetch(alice.shared("plan"))).status).toBe(200);
    await alice.blob("put", "--public", "--key", "plan", "plan.txt");
    expect(await (await fetch(alice.shared("plan"))).text()).toBe("our plan");
  });

  it("is not sealed if it is too large to be opened", async () => {
    const { alice } = await blobAuthors(["alice"], { maxMegabytes: 400 });
    alice.machine.write("large.bin", "");
    truncateSync(join(alice.machine.folder, "large.bin"), 257 * 2 ** 20);
    alice.methods();
    const put = await alice.blob("put", "--encrypt", "large.bin");
    expect(put).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("A file to seal must be at most 256.0 MiB"),
    });
    expect(alice.methods()).toEqual([]);
  });

  it("is reported if its signer is not its owner", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    alice.machine.write("plan.txt", "our plan");
    const { stdout: key } = await alice.blob("put", "--encrypt", "--to", bob.address, "plan.txt");
    await alice.blob("get", key, "--sealed", "-o", "plan.sealed");
    bob.machine.write("plan.sealed", alice.bytes("plan.sealed"));
    const copied = await bob.blob("put", "plan.sealed", "--type", "application/x-saltpack");
    const got = await bob.blob("get", copied.stdout);
    expect(got.stderr).toContain(`sealed by ${alice.kex}, not its owner.`);
    expect(bob.machine.read("plan.txt")).toBe("our plan");
  });

  it("is not stored if the key of a recipient has changed", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    alice.machine.write("plan.txt", "our plan");
    expect(await alice.blob("put", "--encrypt", "--to", bob.address, "plan.txt")).toMatchObject({ exitCode: 0 });
    await bob.changeKey(7);
    alice.methods();
    const refused = await alice.blob("put", "--encrypt", "--to", bob.address, "plan.txt");
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toContain(`There is a new key of ${bob.address} that is not the one pinned on`);
    expect(alice.methods()).toEqual([]);
  });

  it("is not stored if sealing makes it too large", async () => {
    const { alice } = await blobAuthors(["alice"], { maxMegabytes: 1 });
    alice.machine.write("large.bin", Buffer.alloc(2 ** 20));
    const put = await alice.blob("put", "--encrypt", "large.bin");
    expect(put).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/It is larger than the 1\.0 MiB .* maxMegabytes: 3 } or more/),
    });
    expect(await alice.blob("put", "large.bin")).toMatchObject({ exitCode: 0 });
  });
});
