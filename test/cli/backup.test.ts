import { execFileSync, spawnSync } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { formatIdentity } from "../../plugin/keys/identity.js";
import { READERS } from "../../plugin/mentions/answers/readers.js";
import { hashValue } from "../../plugin/store/copy.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { FEED, feedServer, settingsOf } from "../helpers/receiver.js";
import { ALICE } from "../messages/inbox/alices-inbox.js";
import { ALICES_DATA, type Blog, command, dataEnvironment, testTerminal } from "./helpers.js";
import { runCommandLine } from "./run-command-line.js";
import { freePort, type Server, serve, serveProcess, site } from "./server.js";

const MIB = 2 ** 20;
const BLOBS = { owners: [ALICE.publicKey], count: 100, bytes: 100 * MIB, maxBytes: 20 * MIB };
const FILE = "alice.tar.gz";

function blobSite(): Blog {
  return site({ ...settingsOf({ key: ALICE.publicKey }), blobs: BLOBS });
}

function ask({ url }: Server, method: string, key: string, body?: Uint8Array): Promise<Response> {
  const path = `/api/v1/blob/${key}`;
  const bodyHash = body && hash("sha256", body, "buffer");
  const unsigned = { method, url: `https://alice.example${path}`, ...(bodyHash && { bodyHash }) };
  const signed = signRequest(unsigned, ALICE, Date.now());
  return fetch(url + path, { method, headers: signed, ...(body && { body: new Uint8Array(body) }) });
}

/** A site with values in its store, and no running server. */
async function filled(values: Record<string, string> = { "mentions/one": "1", "mentions/two": "2" }): Promise<Blog> {
  const alice = site();
  const store = new SqliteStore(join(alice.folder, ALICES_DATA));
  for (const [key, value] of Object.entries(values)) await store.put(key, Buffer.from(value));
  return alice;
}

/** The mark of another process, made from one of this process. */
function markOf(pid: number, mark: string): string {
  const [machine, , , number] = mark.split(".");
  return `${machine}.${pid}.00000000.${number}`;
}

/** Runs a command on Alice's machine. */
function type(blog: Blog, ...args: string[]) {
  return typeAt("2026-11-20T09:00:00Z", blog, args);
}

/** Runs a command whose requests are signed now. */
function typeNow(blog: Blog, ...args: string[]) {
  return typeAt(new Date().toISOString(), blog, args);
}

async function typeAt(time: string, { folder }: Blog, args: string[]) {
  const shown: string[] = [];
  const terminal = {
    ...testTerminal(folder, time, null, true),
    environment: dataEnvironment(folder),
    showStatus: (line: string) => void shown.push(line),
    ended: () => new Promise<void>(() => {}),
  };
  const exitCode = await runCommandLine(args, terminal);
  return { exitCode, stdout: terminal.stdout.join("\n"), stderr: terminal.stderr.join("\n"), shown };
}

async function valuesOf({ folder }: Blog): Promise<Record<string, string>> {
  const store = new SqliteStore(join(folder, ALICES_DATA));
  const keys = (await store.keys("")).sort();
  const texts = await Promise.all(keys.map(async (key) => String(Buffer.from((await store.get(key))?.bytes ?? ""))));
  return Object.fromEntries(keys.map((key, at) => [key, texts[at] ?? ""]));
}

describe("eleventy-twtxt backup", () => {
  it("contains all acknowledged data, even if blobs are replaced meanwhile, and can be restored on another machine", async () => {
    const at = "2026-11-19T18:40:02Z";
    const bob = await feedServer({ [at]: `@<alice ${FEED}> hello` });
    const alice = blobSite();
    const server = await serveProcess(alice, ["--allow-private-host", bob.host]);
    const source = bob.twt(at);
    const form = new URLSearchParams({ source, target: FEED });
    expect((await fetch(`${server.url}/webmention`, { method: "POST", body: form })).status).toBe(200);
    const large = randomBytes(2 * MIB);
    expect((await ask(server, "PUT", "large", large)).status).toBe(201);
    const names = ["a", "b", "c", "d"];
    for (const name of names) expect((await ask(server, "PUT", name, Buffer.from(`${name} 0`))).status).toBe(201);

    let isOver = false;
    const replacing = names.map(async (name) => {
      for (let n = 1; !isOver; n += 1)
        expect((await ask(server, "PUT", name, Buffer.from(`${name} ${n}`))).status).toBe(200);
    });
    const { exitCode, stdout, stderr } = await command(alice.folder, ["backup", FILE]);
    isOver = true;
    await Promise.all(replacing);
    expect([exitCode, stdout]).toEqual([0, `${join(alice.folder, FILE)}\n`]);
    expect(stderr).toMatch(/^\d+ values, 2\.\d MiB, read again and compared\.\n$/);
    expect(statSync(join(alice.folder, FILE)).mode & 0o777).toBe(0o600);

    const other = blobSite();
    const restored = await command(other.folder, ["restore", join(alice.folder, FILE)]);
    expect(restored.stderr).toMatch(
      /Backup of https:\/\/alice\.example\/ from 20.*\n(?:.*% of.*\n)*Restored into .*\n$/s,
    );
    expect(restored.exitCode).toBe(0);
    const second = await serve(other);
    expect(Object(await (await fetch(`${second.url}/mentions.json`)).json()).mentions).toMatchObject([{ source }]);
    const back = Buffer.from(await (await ask(second, "GET", "large")).arrayBuffer());
    expect(back.equals(large)).toBe(true);
    for (const name of names)
      expect(await (await ask(second, "GET", name)).text()).toMatch(new RegExp(`^${name} \\d+$`));
  });

  it("replaces an existing file only with --force, and leaves no file after an error", async () => {
    const alice = await filled();
    alice.write(FILE, "mine");
    const refused = await type(alice, "backup", FILE);
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("already exists. Replace it with --force"),
    });
    expect(alice.read(FILE)).toBe("mine");
    expect(await type(alice, "backup", FILE, "--force")).toMatchObject({ exitCode: 0 });
    expect(statSync(join(alice.folder, FILE)).mode & 0o777).toBe(0o600);

    const empty = await type(alice, "backup", "none.tar.gz", "--store", "nothing");
    expect([empty.exitCode, empty.stderr]).toEqual([1, expect.stringContaining("There is no data in ")]);
    expect(readdirSync(alice.folder).filter((name) => /none|nothing|\.tmp$/.test(name))).toEqual([]);
  });

  it("shows progress on a terminal, and reads the folder of --store", async () => {
    const alice = await filled({});
    await new SqliteStore(join(alice.folder, "kept")).put("mentions/one", Buffer.from("1"));
    const { exitCode, stderr, shown } = await type(alice, "backup", FILE, "--store", "kept");
    expect([exitCode, stderr]).toEqual([0, "1 value, 1 byte, read again and compared."]);
    expect(shown).toContain("Reading: 1 of 1 value, 1 byte");
    expect(shown.at(-1)).toBe("");
  });

  it("says that it contains mail addresses of readers, if it does", async () => {
    const alice = await filled({});
    const store = new SqliteStore(join(alice.folder, "kept"));
    await store.put(READERS, Buffer.from("{}"));
    const none = await type(alice, "backup", FILE, "--store", "kept");
    expect(none.stderr).not.toContain("addresses");
    await store.put(READERS, Buffer.from('{"anon-1":{"address":"dana@dana.example"}}'));
    const { stderr } = await type(alice, "backup", FILE, "--force", "--store", "kept");
    expect(stderr).toContain("It contains mail addresses of readers. Do not share it.");
  });

  it("asks a site whose data is in Netlify Blobs, and says what it needs for that", async () => {
    const alice = await filled();
    const settings = JSON.parse(alice.read(".eleventy-twtxt/settings.json"));
    alice.write(".eleventy-twtxt/settings.json", JSON.stringify({ ...settings, host: "netlify" }));
    for (const word of ["backup", "restore"]) {
      alice.write(FILE, "x");
      const { exitCode, stderr } = await type(alice, word, FILE, "--force");
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("The site has no key. Create one with")]);
    }
  });
});

describe("eleventy-twtxt restore", () => {
  it("replaces existing data only with --force, and completely", async () => {
    const values = { "inbox/alice/messages/1": "sealed", "mentions/one": "1" };
    const alice = await filled(values);
    await type(alice, "backup", FILE);
    const store = new SqliteStore(join(alice.folder, ALICES_DATA));
    await store.put("mentions/one", Buffer.from("changed"));
    await store.put("mentions/new", Buffer.from("new"));
    const changed = await valuesOf(alice);
    const refused = await type(alice, "restore", FILE);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("Nothing was changed.")]);
    expect(await valuesOf(alice)).toEqual(changed);
    expect(await type(alice, "restore", FILE, "--force")).toMatchObject({ exitCode: 0 });
    expect(await valuesOf(alice)).toEqual(values);
  });

  it("changes nothing if one byte of the file is wrong", async () => {
    const alice = await filled();
    await type(alice, "backup", FILE);
    const bytes = readFileSync(join(alice.folder, FILE));
    for (const damaged of [bytes.subarray(0, -9), Buffer.from(bytes).fill(0, bytes.length - 60, bytes.length - 40)]) {
      writeFileSync(join(alice.folder, "damaged.tar.gz"), damaged);
      await new SqliteStore(join(alice.folder, ALICES_DATA)).put("mentions/one", Buffer.from("changed"));
      const before = await valuesOf(alice);
      const { exitCode, stderr } = await type(alice, "restore", "damaged.tar.gz", "--force");
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("damaged.tar.gz is not a complete backup")]);
      expect(await valuesOf(alice)).toEqual(before);
    }
    const missing = await type(alice, "restore", "none.tar.gz");
    expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining("none.tar.gz")]);
  });

  it("does not change the store of a running server", async () => {
    const alice = await filled();
    await type(alice, "backup", FILE);
    const marks = join(alice.folder, ALICES_DATA, ".in-use");
    const server = await serve(alice);
    const [mark = ""] = readdirSync(marks);
    await server.end();
    expect(readdirSync(marks)).toEqual([]);
    const running = markOf(process.ppid, mark);
    writeFileSync(join(marks, running), "");
    const refused = await type(alice, "restore", FILE, "--force");
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`eleventy-twtxt: Process ${process.ppid} uses the data`),
    ]);
    renameSync(join(marks, running), join(marks, markOf(spawnSync("true").pid, mark)));
    expect(await type(alice, "restore", FILE, "--force")).toMatchObject({ exitCode: 0 });
    expect(readdirSync(marks)).toEqual([]);
  });

  it("exit 1: serve does not start during a restore, which would delete its new data", async () => {
    const alice = await filled();
    await type(alice, "backup", FILE);
    const slow = join(alice.folder, "slow.tar.gz");
    // Reading a named pipe blocks until the test writes to it.
    execFileSync("mkfifo", [slow]);
    const restoring = type(alice, "restore", "slow.tar.gz", "--force");
    const notes = join(alice.folder, ALICES_DATA, ".restoring/.in-use");
    await expect.poll(() => existsSync(notes) && readdirSync(notes)).toHaveLength(1);
    const [mark = ""] = readdirSync(notes);
    const another = join(notes, markOf(process.ppid, mark));
    writeFileSync(another, "");
    const { exitCode, stderr } = await command(alice.folder, ["serve", "--port", "0"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`Process ${process.ppid} is restoring a backup`)]);
    rmSync(another);
    writeFileSync(slow, "no backup");
    expect(await restoring).toMatchObject({ exitCode: 1 });
    expect(await (await serve(alice)).end()).toBe(0);
  });
});

describe("backup --url and restore --url", () => {
  const SEED = new Uint8Array(32).fill(1);
  const KEY_FILE = "data/eleventy-twtxt/keys/alice@alice.example.key";

  /** A site with blobs that runs on a server with a store of its own, and Alice's machine with her key and without data. */
  async function siteElsewhere() {
    const alice = blobSite();
    alice.write(KEY_FILE, formatIdentity(SEED, { address: "alice@alice.example", created: null }));
    chmodSync(join(alice.folder, KEY_FILE), 0o600);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const place = join(alice.folder, "server");
    const server = await serve(alice, ["--port", String(port), "--url", url, "--store", place]);
    return { alice, url, server, store: new SqliteStore(place) };
  }

  function put(url: string, key: string, body: Uint8Array): Promise<Response> {
    const path = `/api/v1/blob/${key}`;
    const signed = signRequest(
      { method: "PUT", url: url + path, bodyHash: hash("sha256", body, "buffer") },
      ALICE,
      Date.now(),
    );
    return fetch(url + path, { method: "PUT", headers: signed, body: new Uint8Array(body) });
  }

  async function contentsOf(store: SqliteStore): Promise<Map<string, string | null>> {
    // A running site notes its jobs.
    const keys = (await store.keys("")).filter((key) => !/^(nonces|jobs)\/|^sent\/lease$/.test(key));
    return new Map(await Promise.all(keys.map(async (key) => [key, await hashValue(store, key)] as const)));
  }

  it("copy all data of a running site to another one, large blobs included, and replace nothing without --force", async () => {
    const from = await siteElsewhere();
    expect((await put(from.url, "large", randomBytes(5 * MIB))).status).toBe(201);
    for (const name of ["a", "b"]) expect((await put(from.url, name, Buffer.from(name))).status).toBe(201);
    for (let n = 0; n < 450; n += 1) await from.store.put(`mentions/events/${n}`, Buffer.from(`event ${n}`));
    const copied = await typeNow(from.alice, "backup", FILE, "--url", from.url);
    expect(copied).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^\d+ values, 5\.0 MiB, read again and compared\.$/),
    });
    expect(copied.shown.some((line) => line.startsWith("Reading: "))).toBe(true);
    expect(await valuesOf(from.alice)).toEqual({});

    const to = await siteElsewhere();
    expect((await put(to.url, "other", Buffer.from("other"))).status).toBe(201);
    const before = await contentsOf(to.store);
    const archive = join(from.alice.folder, FILE);
    expect(await typeNow(to.alice, "restore", archive, "--url", to.url)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/The site at http:\S+ already has data: \d+ values\. Nothing was changed\./i),
    });
    expect(await contentsOf(to.store)).toEqual(before);
    const restored = await typeNow(to.alice, "restore", archive, "--url", to.url, "--force");
    expect(restored).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`Restored into the site at ${to.url}.`),
    });
    expect(await contentsOf(to.store)).toEqual(await contentsOf(from.store));
  });

  it("restore again sends only what the site does not have", async () => {
    const from = await siteElsewhere();
    for (const name of ["a", "b", "c"]) await put(from.url, name, Buffer.from(name));
    await typeNow(from.alice, "backup", FILE, "--url", from.url);
    const etags = async () =>
      new Map(
        await Promise.all(
          (await from.store.keys("blobs/")).map(async (key) => [key, (await from.store.get(key))?.etag] as const),
        ),
      );
    const before = await etags();
    const [lost = ""] = await from.store.keys("blobs/records/");
    await from.store.delete(lost);
    expect(await typeNow(from.alice, "restore", FILE, "--url", from.url, "--force")).toMatchObject({ exitCode: 0 });
    const after = await etags();
    expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
    expect([...after].filter(([key, etag]) => before.get(key) !== etag).map(([key]) => key)).toEqual([lost]);
  });

  it("exit 1 without the key of the first author, and 2 with --store and --url", async () => {
    const { alice, url } = await siteElsewhere();
    const eve = formatIdentity(new Uint8Array(32).fill(3), { address: "eve@alice.example", created: null });
    alice.write("eve.key", eve);
    chmodSync(join(alice.folder, "eve.key"), 0o600);
    expect(await typeNow(alice, "backup", FILE, "--url", url, "--identity", "eve.key")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("answers 403"),
    });
    expect(await typeNow(alice, "backup", FILE, "--url", url, "--store", "x")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("use either --store or --url"),
    });
    expect(existsSync(join(alice.folder, FILE))).toBe(false);
  });
});
