import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { blobAuthors, PNG, sha256 } from "./blob-author.js";
import { describeWithoutKeychain } from "./machine.js";

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

describeWithoutKeychain("eleventy-twtxt blob put", () => {
  it("stores a public file, which anyone can get by its URL, and a private file", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("quinces.png", PNG);
    const key = sha256(PNG);
    const put = await alice.blob("put", "--public", "quinces.png");
    expect(put).toMatchObject({ exitCode: 0, stdout: alice.shared(key) });
    expect(put.stderr).toBe(`quinces.png: new, ${PNG.length} bytes, public, ${key.slice(0, 12)}`);

    const got = await fetch(put.stdout);
    expect(Buffer.from(await got.arrayBuffer())).toEqual(PNG);
    expect(Object.fromEntries(got.headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": "inline; filename*=UTF-8''quinces.png",
    });

    alice.machine.write("notes.txt", "für mich");
    const secret = sha256("für mich");
    expect(await alice.blob("put", "notes.txt")).toMatchObject({ exitCode: 0, stdout: secret });
    expect((await fetch(alice.shared(secret))).status).toBe(404);
    const proof = { state: "right", created: expect.stringMatching(TIME), why: null };
    expect(await alice.listed()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key, type: "image/png", filename: "quinces.png", public: true, proof }),
        expect.objectContaining({ key: secret, type: "text/plain; charset=utf-8", public: false, shared: null, proof }),
      ]),
    );
  });

  it("sends only new metadata for contents that are already stored", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    await alice.blob("put", "a.txt", "--property", "album=quinces");
    expect(alice.methods()).toEqual(["HEAD", "PUT"]);
    expect((await alice.blob("put", "a.txt")).stderr).toContain("a.txt: unchanged, 5 bytes, private");
    expect(alice.methods()).toEqual(["HEAD"]);
    const shared = await alice.blob("put", "a.txt", "--public", "--filename", "b.txt");
    expect(shared.stderr).toContain("a.txt: changed, 5 bytes, public");
    expect(alice.methods()).toEqual(["HEAD", "POST"]);
    expect(await alice.blob("put", "a.txt")).toMatchObject({ stdout: alice.shared(sha256("hello")) });
    const [blob] = await alice.listed();
    expect(blob).toMatchObject({ filename: "b.txt", public: true, properties: { album: "quinces" } });
  });

  it("replaces a blob, and preserves metadata that is not given", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("old.txt", "old");
    alice.machine.write("new.png", PNG);
    await alice.blob("put", "old.txt", "--key", "avatar", "--public", "--property", "of=alice", "--property", "n=1");
    const put = await alice.blob("put", "new.png", "--key", "avatar", "--no-property", "n");
    expect(put).toMatchObject({ exitCode: 0, stdout: alice.shared("avatar") });
    expect(put.stderr).toContain("new.png: replaced, ");
    const [blob, ...others] = await alice.listed();
    expect(others).toEqual([]);
    expect(blob).toMatchObject({ type: "image/png", filename: "new.png", public: true, proof: { state: "right" } });
    expect(Object.keys(Object(blob?.properties)).sort()).toEqual(["created", "of", "sha256", "signature"]);
  });

  it("stores the files of a folder without hidden files and links out of it, and can be repeated", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("photos/a.png", PNG);
    alice.machine.write("photos/deep/b.txt", "b");
    alice.machine.write("photos/same.txt", "b");
    alice.machine.write("photos/.secret", "hidden");
    alice.machine.write("photos/.git/config", "hidden");
    alice.machine.write("elsewhere.txt", "not meant");
    const photos = join(alice.machine.folder, "photos");
    symlinkSync("../elsewhere.txt", join(photos, "link.txt"));
    symlinkSync(".secret", join(photos, "hidden.jpg"));
    symlinkSync(".git/config", join(photos, "hidden.txt"));
    symlinkSync("deep/b.txt", join(photos, "linked.txt"));
    symlinkSync("..", join(photos, "up"));

    const put = await alice.blob("put", "photos", "--concurrency", "1");
    expect(put.exitCode).toBe(0);
    expect(put.stdout.split("\n")).toEqual([sha256(PNG), sha256("b"), sha256("b"), sha256("b")]);
    expect(put.stderr.split("\n")).toEqual([
      "photos/.git: skipped, because it is hidden.",
      "photos/.secret: skipped, because it is hidden.",
      "photos/hidden.jpg: skipped, because it is not a file in this folder.",
      "photos/hidden.txt: skipped, because it is not a file in this folder.",
      "photos/link.txt: skipped, because it is not a file in this folder.",
      "photos/up: skipped, because it is not a file in this folder.",
      expect.stringContaining("photos/a.png: new, "),
      expect.stringContaining("photos/deep/b.txt: new, "),
      expect.stringContaining("photos/linked.txt: unchanged, "),
      "photos/linked.txt: It is the same as photos/deep/b.txt: both are one blob.",
      expect.stringContaining("photos/same.txt: unchanged, "),
      "photos/same.txt: It is the same as photos/deep/b.txt: both are one blob.",
      "2 new, 2 unchanged.",
    ]);
    expect(await alice.listed()).toHaveLength(2);
    alice.methods();
    expect((await alice.blob("put", "photos")).stderr).toMatch(/\n4 unchanged\.$/);
    expect(new Set(alice.methods())).toEqual(new Set(["HEAD"]));
  });

  it("stores the other files if one fails, and reports why", async () => {
    const { alice } = await blobAuthors(["alice"], { maxMegabytes: 1 });
    alice.machine.write("files/large.bin", Buffer.alloc(2 ** 20 + 1));
    alice.machine.write("files/small.txt", "small");
    const put = await alice.blob("put", "files", "--json");
    expect(put.exitCode).toBe(1);
    const limit = "It is larger than the 1.0 MiB that the site accepts.";
    expect(JSON.parse(put.stdout)).toEqual([
      {
        file: "files/large.bin",
        error: expect.stringContaining(
          `${limit} The site accepts it with the option blobs: { maxMegabytes: 2 } or more,`,
        ),
      },
      expect.objectContaining({ file: "files/small.txt", outcome: "new", key: sha256("small") }),
    ]);
    expect(await alice.listed()).toMatchObject([{ key: sha256("small") }]);
  });

  it("says that Netlify accepts no larger body, and what other hosts accept", async () => {
    const { alice } = await blobAuthors(["alice"], { maxMegabytes: 1 });
    const settings = JSON.parse(alice.machine.read(".eleventy-twtxt/settings.json"));
    alice.machine.write(".eleventy-twtxt/settings.json", JSON.stringify({ ...settings, host: "netlify" }));
    alice.machine.write("large.bin", Buffer.alloc(2 ** 20 + 1));
    const { stderr } = await alice.blob("put", "large.bin");
    expect(stderr).toContain("Netlify accepts no larger body; `eleventy-twtxt serve` on your own host accepts");
  });

  it("reports a full store before it sends a large file", async () => {
    const { alice } = await blobAuthors(["alice"], { count: 1 });
    alice.machine.write("a.txt", "hello");
    alice.machine.write("large.bin", Buffer.alloc(10 * 2 ** 20));
    await alice.blob("put", "a.txt");
    const put = await alice.blob("put", "large.bin");
    expect(put).toMatchObject({ exitCode: 1, stdout: "" });
    expect(put.stderr).toMatch(/^large\.bin: \S+ answers 507: This upload would exceed the limit of 1 blob\./);
    expect(await alice.listed()).toHaveLength(1);
  });

  it("stores standard input up to the limit, under the given name", async () => {
    const { alice } = await blobAuthors(["alice"], { maxMegabytes: 1 });
    const input = (bytes: Buffer) => ({
      input: async function* () {
        yield bytes;
      },
    });
    expect(await alice.blobWith(input(PNG), "put", "-")).toMatchObject({ exitCode: 0, stdout: sha256(PNG) });
    const text = Buffer.from("hello");
    await alice.blobWith(input(text), "put", "-", "--filename", "a.txt", "--type", "text/plain");
    const listed = await alice.listed();
    expect(listed.find(({ key }) => key === sha256(PNG))).toMatchObject({ type: "image/png", filename: "" });
    expect(listed.find(({ key }) => key === sha256(text))).toMatchObject({ type: "text/plain", filename: "a.txt" });

    const large = await alice.blobWith(input(Buffer.alloc(2 ** 20 + 1)), "put", "-");
    expect(large).toMatchObject({ exitCode: 1, stdout: "" });
    expect(large.stderr).toContain("standard input: It is larger than the 1.0 MiB");
  });

  it("stores an empty file", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("empty.txt", "");
    expect(await alice.blob("put", "empty.txt")).toMatchObject({ exitCode: 0, stdout: sha256("") });
    await alice.blob("get", sha256(""), "-o", "got.txt");
    expect(alice.machine.read("got.txt")).toBe("");
  });

  it("stores nothing if the file changes during the upload, and says so", async () => {
    const { alice } = await blobAuthors(["alice"]);
    const before = Buffer.alloc(3 * 2 ** 20, "a");
    alice.machine.write("growing.log", before);
    alice.operator = async (request, answer) => {
      if (request.method === "HEAD") alice.machine.write("growing.log", Buffer.alloc(before.length, "b"));
      return answer();
    };
    const put = await alice.blob("put", "growing.log");
    expect(put).toMatchObject({ exitCode: 1, stdout: "" });
    expect(put.stderr).toBe("growing.log: growing.log changed while it was read. It was not stored.");
    alice.operator = null;
    expect(await alice.listed()).toEqual([]);
  });

  it("prints links for a post", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("my [first] quince.png", PNG);
    alice.machine.write("list.pdf", "%PDF-1.7\n");
    const put = await alice.blob(
      "put",
      "--markdown",
      "--public",
      "--concurrency",
      "1",
      "my [first] quince.png",
      "list.pdf",
    );
    expect(put.stdout.split("\n")).toEqual([
      `![my \\[first\\] quince.png](blob:${sha256(PNG)})`,
      `[list.pdf](blob:${sha256("%PDF-1.7\n")})`,
    ]);
  });

  it("says how to share a private blob after printing its link; share and info print the link too", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.png", PNG);
    const key = sha256(PNG);
    const link = `![a.png](blob:${key})`;
    const put = await alice.blob("put", "--markdown", "a.png");
    expect(put.stdout).toBe(link);
    expect(put.stderr).toContain(
      `is private. To let others get it, type: eleventy-twtxt blob share ${key.slice(0, 12)}`,
    );
    expect(await alice.blob("share", key, "--markdown")).toMatchObject({ exitCode: 0, stdout: link });
    expect((await fetch(alice.shared(key))).status).toBe(200);
    expect((await alice.blob("info", key)).stdout).toContain(`\nmarkdown  ${link}\n`);
  });

  // Other systems do not allow such file names.
  it.runIf(process.platform === "linux")("says why a file cannot be read, and stores the others", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("files/a\nforged.txt", "a");
    alice.machine.write("files/deep/b.txt", "b");
    const folder = Buffer.from(`${alice.machine.folder}/files/deep/`);
    writeFileSync(Buffer.concat([folder, Buffer.from([0xff])]), "c");
    const put = await alice.blob("put", "missing.txt", "files/deep", "--concurrency", "1");
    expect(put).toMatchObject({ exitCode: 1, stdout: sha256("b") });
    expect(put.stderr.split("\n")).toEqual([
      `missing.txt: There is no file ${alice.machine.folder}/missing.txt.`,
      "files/deep/\ufffd: Its name must be UTF-8.",
      expect.stringContaining("files/deep/b.txt: new, "),
      "1 new, 2 failed.",
    ]);
    const { stdout } = await alice.blob("put", "missing.txt", "files/deep/b.txt", "--json");
    expect(JSON.parse(stdout)).toEqual([
      { file: "missing.txt", error: expect.stringContaining("There is no file") },
      expect.objectContaining({ file: "files/deep/b.txt", outcome: "unchanged" }),
    ]);
    expect((await alice.blob("put", "files/a\nforged.txt")).stderr).toMatch(/^files\/a\\u000aforged\.txt: .*$/);
  });

  it("reports each file as soon as it is stored", async () => {
    const { alice } = await blobAuthors(["alice"]);
    for (const name of ["a", "b"]) alice.machine.write(`${name}.txt`, name);
    const events: string[] = [];
    alice.operator = async (request, answer) => {
      events.push(request.method);
      return answer();
    };
    const terminal = { print: (line: string) => void events.push(line), say: (line: string) => void events.push(line) };
    await alice.blobWith(terminal, "put", "a.txt", "b.txt", "--concurrency", "1");
    expect(events).toEqual([
      ...["HEAD", "PUT", expect.stringContaining("a.txt: new, "), sha256("a")],
      ...["HEAD", "PUT", expect.stringContaining("b.txt: new, "), sha256("b")],
      "2 new.",
    ]);
  });

  it("preserves a concurrent change from another machine: it retries once", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    await alice.blob("put", "a.txt", "--key", "a");
    let isFirst = true;
    alice.operator = async (request, answer) => {
      if (request.method === "POST" && isFirst) {
        isFirst = false;
        await alice.blob("set", "a", "--property", "by=another");
      }
      return answer();
    };
    expect(await alice.blob("set", "a", "--public")).toMatchObject({ exitCode: 0, stdout: alice.shared("a") });
    const [blob] = await alice.listed();
    expect(blob).toMatchObject({ public: true, properties: { by: "another" }, proof: { state: "right" } });

    alice.operator = async (request, answer) =>
      request.method === "POST" ? new Response(null, { status: 412 }) : answer();
    const lost = await alice.blob("set", "a", "--private");
    expect(lost).toMatchObject({ exitCode: 1, stdout: "" });
    expect(lost.stderr).toContain("a is being changed by another machine. Check it, and try again.");
  });

  it("shows one progress bar for all files on a terminal, and removes it", async () => {
    const { alice } = await blobAuthors(["alice"]);
    for (const name of ["a", "b"]) alice.machine.write(`files/${name}.bin`, Buffer.alloc(2 ** 20, name));
    const shown: string[] = [];
    const put = await alice.blobWith({ showStatus: (line) => void shown.push(line) }, "put", "files");
    expect(put.exitCode).toBe(0);
    expect(shown).toContain(`[${"#".repeat(12)}${" ".repeat(12)}]  50 % of 2.0 MiB`);
    expect(shown).toContain(`[${"#".repeat(24)}] 100 % of 2.0 MiB`);
    expect(shown.at(-1)).toBe("");
  });
});

describeWithoutKeychain("eleventy-twtxt blob", () => {
  it("can be named by at least the first 6 characters of its key", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    const key = sha256("hello");
    await alice.blob("put", "a.txt");
    alice.methods();
    await alice.blob("info", key.slice(0, 12));
    // Of the list, only the entry of this blob is read, for its times.
    expect(alice.methods()).toEqual(["HEAD", "GET"]);
    const info = await alice.blob("info", key.slice(0, 6));
    expect(info).toMatchObject({ exitCode: 0, stderr: "" });
    expect(info.stdout).toMatch(
      new RegExp(`^key       ${key}\nshared    no, it is private\nsize      5 bytes \\(5\\)\n`),
    );
    expect(info.stdout).toMatch(new RegExp(`\nproof     right, of ${TIME.source}$`));
    expect((await alice.blob("info", key.slice(0, 5))).stderr).toBe(
      `eleventy-twtxt: There is no blob ${key.slice(0, 5)}. Type at least the first 6 characters of a SHA-256.`,
    );
    expect((await alice.blob("info", key.slice(0, 9).toUpperCase())).stdout).toContain(`key       ${key}\n`);
    expect((await alice.blob("info", "a.txt")).stderr).toBe(
      `eleventy-twtxt: There is no blob a.txt. The key of the file with this name is ${key.slice(0, 12)}.`,
    );
    expect((await alice.blob("info", "../etc")).exitCode).toBe(2);
  });

  it("has the same times in the output of info and list", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    await alice.blob("put", "a.txt");
    const [listed] = await alice.listed();
    const info = await alice.blob("info", sha256("hello"), "--json");
    expect(JSON.parse(info.stdout)).toEqual(listed);
    expect(listed).toMatchObject({ created: expect.stringMatching(/Z$/), modified: expect.stringMatching(/Z$/) });
    const text = (await alice.blob("info", sha256("hello"))).stdout;
    expect(text).toContain(`\ncreated   ${listed?.created}\nmodified  ${listed?.modified}\n`);
  });

  it("is shared and made private again, and its URL stops working at once", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    await alice.blob("put", "a.txt", "--key=-a");
    const shared = await alice.blob("share", "--", "-a");
    expect(shared).toMatchObject({ exitCode: 0, stdout: alice.shared("-a"), stderr: "-a: changed, public" });
    expect((await fetch(shared.stdout)).status).toBe(200);
    expect(await alice.blob("set", "--private", "--", "-a")).toMatchObject({ exitCode: 0, stdout: "-a" });
    expect((await fetch(shared.stdout)).status).toBe(404);
  });

  it("is removed and stored again", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    await alice.blob("put", "a.txt");
    const key = sha256("hello");
    expect(await alice.blob("rm", key.slice(0, 8))).toMatchObject({ exitCode: 0, stderr: `${key}: removed.` });
    expect(await alice.listed()).toEqual([]);
    expect(await alice.blob("rm", key)).toMatchObject({ exitCode: 1, stderr: `${key}: there is no such blob.` });
    expect((await alice.blob("get", key)).stderr).toContain(`There is no blob ${key}.`);
    expect(await alice.blob("put", "a.txt")).toMatchObject({ exitCode: 0, stdout: key });
    expect(await alice.listed()).toMatchObject([{ key, proof: { state: "right" } }]);
    expect((await alice.blob("verify")).stderr).toBe("1 as you stored them.");
  });

  it("is listed among the newest 50, and with --all with all others, across several pages", async () => {
    const { alice } = await blobAuthors(["alice"]);
    for (let number = 0; number < 51; number += 1) alice.machine.write(`many/${number}.txt`, String(number));
    expect((await alice.blob("put", "many")).stderr).toMatch(/\n51 new\.$/);
    const newest = await alice.blob("list");
    expect(newest.stdout.split("\n")).toHaveLength(50);
    expect(newest.stderr).toMatch(/^50 blobs, .*\nThere are older ones: eleventy-twtxt blob list --all lists all, /);
    const listed = await alice.blob("list", "--all");
    expect(listed).toMatchObject({ exitCode: 0, stderr: "51 blobs, 92 bytes." });
    expect(listed.stdout.split("\n")).toHaveLength(51);
    expect(listed.stdout).toMatch(/^[0-9a-f]{12} {2}2 bytes {2}private {2}[\d-]{10}T[\d:]{8}Z {2}\d+\.txt$/m);
  });

  it("prints the warning that the CDN could not be purged", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("a.txt", "hello");
    await alice.blob("put", "a.txt", "--key", "a", "--public");
    const note = "The CDN could not be purged. It may serve the old blob for up to an hour.";
    alice.operator = async (request, answer) => {
      const response = await answer();
      if (request.method !== "POST") return response;
      return Response.json({ ...Object(await response.json()), purged: false, note });
    };
    expect((await alice.blob("set", "a", "--private")).stderr).toBe(`a: changed, private\na: ${note}`);
  });

  it("2: wrong usage, without a request", async () => {
    const { alice } = await blobAuthors(["alice"]);
    for (const name of ["a.txt", "b.txt"]) alice.machine.write(name, name);
    const cases: [string[], string][] = [
      [["putt"], 'there is no "putt". Did you mean "put"?'],
      [[], "say what to do. Actions: put, get, list, info, set, share, rm, move, verify."],
      [["put"], 'blob put: expected a file, a folder, or "-" for standard input.'],
      [["put", "a.txt", "--to", "bob@bob.example"], "--to needs --encrypt."],
      [["put", "a.txt", "--encrypt", "--to", "bob"], "--to: expected an address such as bob@bob.example, got"],
      [["put", "a.txt", "--type", "foo"], '--type: "foo": '],
      [["set", "a", "--filename", "a/b"], '--filename: "a/b": '],
      [["put", "a.txt", "--pub"], 'there is no option "--pub". Did you mean "--public"?'],
      [["put", "a.txt", "--public", "--private"], "either --public or --private"],
      [["put", "a.txt", "--key", "a/b"], "--key: expected a key as blob list shows it, of 1 to 128"],
      [["put", "a.txt", "--property", "sha256=1"], 'the property "sha256" belongs to the proof'],
      [["put", "a.txt", "--property", "x"], "a name and a value, such as album=quinces"],
      [["put", "a.txt", "b.txt", "--key", "a"], "--key and --filename are for one file."],
      [["put", "a.txt", "--concurrency", "0"], "--concurrency: expected a number from 1 to 32"],
      [["put", "a.txt", "--url", "alice"], "--url: expected a URL"],
      [["set", "a"], "set: expected a change: --public"],
      [["share"], "blob share: expected a key as blob list shows it"],
      [["rm"], "blob rm: expected a key as blob list shows it"],
      [
        ["get", "https://bob.example/photo.png"],
        "expected a key, or a URL such as https://bob.example/shared/kex1.../KEY",
      ],
      [["list", "a"], 'blob list: expected no arguments, got "a".'],
    ];
    for (const [args, message] of cases) {
      expect([args, await alice.blob(...args)]).toEqual([
        args,
        expect.objectContaining({ exitCode: 2, stdout: "", stderr: expect.stringContaining(message) }),
      ]);
    }
    expect(alice.requests).toEqual([]);
  });

  it("1: an impossible action, with the reason", async () => {
    const { alice } = await blobAuthors(["alice"]);
    mkdirSync(join(alice.machine.folder, "empty"));
    alice.machine.write("a.txt", "hello");
    const errorOf = async (...args: string[]) => {
      const { exitCode, stderr, stdout } = await alice.blob(...args);
      expect([exitCode, stdout]).toEqual([1, ""]);
      return stderr;
    };
    expect(await errorOf("put", "missing.txt")).toContain("There is no file ");
    expect(await errorOf("put", "empty")).toContain("There is no file to store.");
    expect(await errorOf("put", "a.txt", "--key", sha256("other"))).toContain(
      `must be the SHA-256 of the file, here ${sha256("hello")}`,
    );
    expect(await errorOf("set", "none", "--public")).toContain("There is no blob none.");
    const other = alice.keyFile("other.key", alice.address, 9);
    expect(await errorOf("list", "--identity", other)).toContain("answers 403");
  });

  it("1: a site without blobs, or deployed without them, with advice", async () => {
    const { alice } = await blobAuthors(["alice"], false);
    const settings = JSON.parse(alice.machine.read(".eleventy-twtxt/settings.json"));
    const none = await alice.blob("list");
    expect(none).toMatchObject({ exitCode: 1, stdout: "" });
    expect(none.stderr).toContain('set the options blobs: true and host: "netlify" (or host: "node" for');
    alice.machine.write(".eleventy-twtxt/settings.json", JSON.stringify({ ...settings, host: "node" }));
    expect((await alice.blob("list")).stderr).toContain(
      "This site was built without blobs: set the option blobs: true if it is not set yet, then build and deploy.",
    );

    const blobs = { owners: [alice.kex], count: 10, bytes: 1000, maxBytes: 100 };
    alice.machine.write(".eleventy-twtxt/settings.json", JSON.stringify({ ...settings, blobs }));
    alice.machine.write("a.txt", "hello");
    for (const args of [["list"], ["info", "a"], ["put", "a.txt"]]) {
      const { exitCode, stderr } = await alice.blob(...args);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/answers 404.*Give the plugin the option blobs: true, build and deploy\.$/);
    }
  });
});
