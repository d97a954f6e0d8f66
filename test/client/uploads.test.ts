import { describe, expect, it } from "vitest";
import { WorkFolder } from "../../plugin/author/files.js";
import { Uploads } from "../../plugin/client/files/uploads.js";
import { type BlobAuthor, blobAuthors, sha256 } from "../cli/blob-author.js";
import { testTerminal } from "../cli/helpers.js";

/** Larger than the buffers of connections on this machine. */
const BYTES = Buffer.alloc(8 * 2 ** 20);

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function uploadsOf({ machine, environment }: BlobAuthor): Uploads {
  const terminal = { ...testTerminal(machine.folder, new Date().toISOString(), null, true), environment };
  const ending = new AbortController().signal;
  return new Uploads({
    machine: { ...terminal, ended: () => new Promise<void>(() => {}) },
    choice: { as: undefined, identity: undefined, settings: undefined, url: undefined, "allow-private-host": [] },
    folder: new WorkFolder(terminal, ending),
    ending,
    onStored: () => {},
  });
}

/** The files of the uploads on the disk. */
function workFiles({ machine }: BlobAuthor): string[] {
  return machine.list("data/eleventy-twtxt/work").flatMap((name) => machine.list(`data/eleventy-twtxt/work/${name}`));
}

const FILE = { filename: "large.bin", size: BYTES.length, visibility: "private", isCleaned: true } as const;

describe("an upload", () => {
  it("starts again after a pause, and is stored completely and once", async () => {
    const { alice } = await blobAuthors(["alice"]);
    let letThrough = () => {};
    const through = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    alice.operator = async ({ method }, answer) => {
      if (method === "PUT") await through;
      return answer();
    };
    const uploads = uploadsOf(alice);
    const upload = await uploads.add(FILE, inChunks(BYTES));
    await expect.poll(() => upload.sent).toBeGreaterThan(0);
    upload.pause();
    expect(upload).toMatchObject({ stage: "paused", canRetry: true });
    letThrough();
    uploads.retry(upload);
    expect(upload).toMatchObject({ stage: "waiting", sent: 0 });
    uploads.retry(upload);
    await expect.poll(() => upload.stage).toBe("done");
    expect(await alice.listed()).toMatchObject([{ key: sha256(BYTES), size: BYTES.length }]);
  });

  it("waits while it is paused, and is cancelled at once", async () => {
    const { alice } = await blobAuthors(["alice"]);
    const uploads = uploadsOf(alice);
    const upload = await uploads.add({ ...FILE, size: 6 }, inChunks(Buffer.from("a list")));
    upload.pause();
    expect(workFiles(alice)).toHaveLength(1);
    await uploads.cancel(upload);
    expect(upload).toMatchObject({ stage: "cancelled", canRetry: false });
    expect(workFiles(alice)).toEqual([]);
    expect(alice.methods()).not.toContain("PUT");
  });

  it("is cancelled while the browser is still sending it", async () => {
    const { alice } = await blobAuthors(["alice"]);
    const uploads = uploadsOf(alice);
    const chunks = async function* () {
      yield Buffer.from("a");
      uploads.all[0]?.cancel();
      yield Buffer.from(" list");
    };
    expect(await uploads.add({ ...FILE, size: 6 }, chunks())).toMatchObject({ stage: "cancelled", remark: null });
    expect(alice.methods()).toEqual([]);
  });

  it("fails with a sentence if this machine has no space for the file", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("data/eleventy-twtxt/work", "a file in place of the folder");
    const upload = await uploadsOf(alice).add(FILE, inChunks(BYTES));
    expect(upload).toMatchObject({ stage: "failed", remark: expect.stringMatching(/^E\w+: .+\.$/) });
  });

  it("fails with a sentence if the browser sends more than the site accepts, even if it announced less", async () => {
    const { alice } = await blobAuthors(["alice"], { maxMegabytes: 1 });
    const upload = await uploadsOf(alice).add({ ...FILE, size: 6 }, inChunks(BYTES));
    expect(upload).toMatchObject({ stage: "failed", remark: expect.stringContaining("maxMegabytes: 8") });
  });

  it("fails with a sentence, and leaves no file, if the browser stops sending it", async () => {
    const { alice } = await blobAuthors(["alice"]);
    const chunks = async function* () {
      yield Buffer.from("a");
      throw new Error("aborted");
    };
    const upload = await uploadsOf(alice).add(FILE, chunks());
    const remark = "Interrupted: the page was left before the file had arrived. Choose it again.";
    expect(upload).toMatchObject({ stage: "failed", remark, canRetry: false });
    expect(workFiles(alice)).toEqual([]);
  });

  it("leaves no file once it has failed and is no longer in the list", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.failWithStatus = 403;
    const uploads = uploadsOf(alice);
    const add = () => uploads.add({ ...FILE, size: 6 }, inChunks(Buffer.from("a list")));
    for (let count = 0; count < 51; count += 1) await add();
    await expect.poll(() => uploads.all.every(({ canRetry }) => canRetry)).toBe(true);
    const last = await add();
    await expect.poll(() => last.canRetry).toBe(true);
    expect(uploads.all).toHaveLength(51);
    expect(workFiles(alice)).toHaveLength(51);
    await uploads.clear();
    expect(workFiles(alice)).toEqual([]);
  });

  it("is retried once, even if two retries are requested at once", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.failWithStatus = 403;
    const uploads = uploadsOf(alice);
    const upload = await uploads.add({ ...FILE, size: 6 }, inChunks(Buffer.from("a list")));
    await expect.poll(() => upload.canRetry, { interval: 1 }).toBe(true);
    alice.failWithStatus = null;
    alice.methods();
    await Promise.all([uploads.retry(upload), uploads.retry(upload)]);
    await expect.poll(() => upload.stage).toBe("done");
    expect(alice.methods().filter((method) => method === "PUT")).toHaveLength(1);
  });
});
