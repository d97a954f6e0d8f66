import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { packTar, type TarEntry } from "modern-tar";
import { afterAll, describe, expect, it } from "vitest";
import { type ArchiveSource, ArchiveWriter, checkArchive, readValues } from "../../plugin/store/archive.js";
import { concatChunks } from "../../plugin/store/chunks.js";
import { copyConsistently, SMALL_BYTES } from "../../plugin/store/copy.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { StreamingStore } from "../../plugin/store/store.js";

const ABOUT = { site: "https://alice.example/", created: "2026-11-20T09:00:00.000Z" };
const work = mkdtempSync(join(tmpdir(), "twtxt-archive-"));
afterAll(() => rmSync(work, { recursive: true }));

function sourceOf(file: string): ArchiveSource {
  return { name: "alice.tar.gz", chunks: () => createReadStream(file) };
}

async function archiveOf(store: StreamingStore): Promise<string> {
  const file = join(work, `${randomBytes(4).toString("hex")}.tar.gz`);
  const writer = new ArchiveWriter();
  const bytes = writer.stream(ABOUT, () => copyConsistently(store, [], writer, () => {}));
  await pipeline(bytes, createWriteStream(file));
  return file;
}

async function filled(values: Record<string, Uint8Array | string>): Promise<StreamingStore> {
  const store = memoryStore();
  for (const [key, value] of Object.entries(values)) await store.put(key, Buffer.from(value));
  return store;
}

function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** An archive of arbitrary entries. */
async function forged(entries: TarEntry[]): Promise<ArchiveSource> {
  const about = Buffer.from(JSON.stringify({ version: 1, ...ABOUT }));
  const first = { header: { name: "about.json", size: about.length }, body: about };
  const bytes = gzipSync(await packTar([first, ...entries]));
  return {
    name: "alice.tar.gz",
    chunks: async function* () {
      yield bytes;
    },
  };
}

function entry(name: string, text: string, more: Partial<TarEntry["header"]> = {}): TarEntry {
  return { header: { name, size: Buffer.byteLength(text), ...more }, body: text };
}

function check(source: ArchiveSource) {
  return checkArchive(source, () => {});
}

describe("an archive of a store", () => {
  it("restores every value, also one that is too large for memory", async () => {
    const values = {
      "mentions/snapshot": "{}",
      [`inbox/alice/messages/${"0".repeat(150)}/${"1".repeat(150)}`]: randomBytes(300),
      "blobs/empty": "",
      "blobs/large": Buffer.alloc(SMALL_BYTES + 12_345, randomBytes(1009)),
    };
    const file = await archiveOf(await filled(values));
    const contents = await check(sourceOf(file));
    expect(contents.about).toEqual(ABOUT);
    const found: Record<string, Uint8Array> = {};
    for await (const { key, chunks } of readValues(sourceOf(file), contents, () => {}))
      found[key] = await concatChunks(chunks);
    expect(Object.keys(found).sort()).toEqual(Object.keys(values).sort());
    for (const [key, value] of Object.entries(values))
      expect(Buffer.from(value).equals(found[key] ?? Buffer.from("?"))).toBe(true);
  });

  it.skipIf(process.platform !== "linux")("unpacks with tar, and sha256sum agrees", async () => {
    const file = await archiveOf(await filled({ "a/b": "one", [`a/${"c".repeat(180)}`]: "two" }));
    const folder = mkdtempSync(join(work, "tar-"));
    execFileSync("tar", ["xzf", file], { cwd: folder });
    expect(readFileSync(join(folder, "store/a/b"), "utf8")).toBe("one");
    expect(String(execFileSync("sha256sum", ["-c", "SHA256SUMS"], { cwd: folder }))).toMatch(/store\/a\/b: OK/);
  });

  it("is refused if a byte of a value was changed, or its end is missing", async () => {
    const file = await archiveOf(await filled({ "a/b": "one quince", "a/c": "two" }));
    const tar = gunzipSync(readFileSync(file));
    const changed = Buffer.from(tar);
    changed[tar.indexOf("one quince") + 2] = 0x66;
    const broken = join(work, "broken.tar.gz");
    writeFileSync(broken, gzipSync(changed));
    await expect(check(sourceOf(broken))).rejects.toMatchObject({
      code: "bad-file",
      message: "alice.tar.gz is not a complete backup: a/b does not match its hash.",
    });
    for (const bytes of [
      gzipSync(tar.subarray(0, 1536)),
      readFileSync(file).subarray(0, -20),
      Buffer.from("no gzip"),
      Buffer.alloc(0),
    ]) {
      writeFileSync(broken, bytes);
      await expect(check(sourceOf(broken))).rejects.toMatchObject({ code: "bad-file" });
    }
  });

  it.each<[string, TarEntry[]]>([
    ["a path upwards", [entry("store/../../.ssh/authorized_keys", "x")]],
    ["an absolute path", [entry("/etc/passwd", "x")]],
    ["a path upwards in a pax header", [entry("store/a", "x", { pax: { path: "store/../b" } })]],
    ["another folder", [entry("keys/alice.key", "x")]],
    ["a name that is not a key", [entry("store/.tmp/a", "x")]],
    ["a symbolic link", [entry("store/a", "", { type: "symlink", linkname: "/etc/passwd" })]],
    ["a hard link", [entry("store/a", "", { type: "link", linkname: "/etc/passwd" })]],
    ["a folder", [entry("store/a/", "", { type: "directory" })]],
    ["a device", [entry("store/a", "", { type: "character-device" })]],
    ["no list of hashes", [entry("store/a", "x")]],
    ["a value that does not match its hash", [entry("store/a", "x"), entry("SHA256SUMS", `${sha256("y")}  store/a\n`)]],
    ["a hash of a missing value", [entry("SHA256SUMS", `${sha256("y")}  store/a\n`)]],
    ["a damaged list of hashes", [entry("store/a", "x"), entry("SHA256SUMS", "store/a\n")]],
    ["an entry after the list of hashes", [entry("SHA256SUMS", ""), entry("store/a", "x")]],
  ])("is refused with %s", async (_, entries) => {
    await expect(forged(entries).then(check)).rejects.toMatchObject({ code: "bad-file" });
  });

  it("has the later of two values of a key, and no value without a hash", async () => {
    const sums = entry("SHA256SUMS", `${sha256("new")}  store/a\n`);
    const source = await forged([entry("store/a", "old"), entry("store/b", "gone"), entry("store/a", "new"), sums]);
    const contents = await check(source);
    expect([...contents.values.keys()]).toEqual(["a"]);
    const found = [];
    for await (const { key, chunks } of readValues(source, contents, () => {}))
      found.push([key, String(await concatChunks(chunks))]);
    expect(found).toEqual([["a", "new"]]);
  });

  it("fails to restore if it was changed after the check", async () => {
    const file = await archiveOf(await filled({ "a/b": "one" }));
    const other = await archiveOf(await filled({ "a/b": "two" }));
    const contents = await check(sourceOf(file));
    const reading = async () => {
      for await (const { chunks } of readValues(sourceOf(other), contents, () => {})) await concatChunks(chunks);
    };
    await expect(reading()).rejects.toMatchObject({ code: "bad-file" });
  });

  it("fails if the store fails or its consumer stops", async () => {
    const store = await filled({ a: "one", b: randomBytes(2 ** 20) });
    const failing: StreamingStore = {
      ...store,
      read: async (key) => (key === "b" ? Promise.reject(new Error("down")) : store.read(key)),
    };
    await expect(archiveOf(failing)).rejects.toThrow("down");
    const writer = new ArchiveWriter();
    const bytes = writer.stream(ABOUT, () => copyConsistently(store, [], writer, () => {}));
    const consuming = pipeline(bytes, async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const _ of chunks) throw new Error("the disk is full");
    });
    await expect(consuming).rejects.toThrow("the disk is full");
  });
});
