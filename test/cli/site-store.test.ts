import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadSite } from "../../plugin/author/site.js";
import { folderName, storeFolder, useStoreToServe } from "../../plugin/author/site-store.js";
import { S3Store } from "../../plugin/store/s3.js";
import { builtHostSettings, builtSite, settingsFile } from "../helpers/built-site.js";
import { loopbackServer } from "../helpers/loopback.js";
import { FEED, feedServer, PAGES } from "../helpers/receiver.js";
import { shortenPauses } from "../helpers/time-limits.js";
import { ALICES_DATA, type Blog, command, testTerminal } from "./helpers.js";
import { type Server, serve, site } from "./server.js";

const AT = "2026-11-19T18:40:02Z";
const HELLO = `@<alice ${FEED}> hello`;

function mention({ url }: Server, source: string): Promise<Response> {
  return fetch(`${url}/webmention`, { method: "POST", body: new URLSearchParams({ source, target: FEED }) });
}

async function shown({ url }: Server): Promise<{ source: string }[]> {
  return Object(await (await fetch(`${url}/mentions.json`)).json()).mentions;
}

function git({ folder }: Blog, ...args: string[]): void {
  execFileSync("git", args, { cwd: folder, stdio: "ignore" });
}

describe("the data of a site", () => {
  it("is still there after git clean -fdX", async () => {
    const bob = await feedServer({ [AT]: HELLO });
    const alice = site();
    alice.write(".gitignore", ".eleventy-twtxt/\n_site/\n");
    git(alice, "init", "-q");
    const args = ["--allow-private-host", bob.host];
    const server = await serve(alice, args);
    await expect.poll(server.output).toContain(`Data is stored in ${join(alice.folder, ALICES_DATA)}.\n`);
    expect((await mention(server, bob.twt(AT))).status).toBe(200);
    expect(await server.end()).toBe(0);
    const left = [".eleventy-twtxt", "_site"].map((name) => [name, join(alice.folder, `${name}.built`)] as const);
    for (const [name, copy] of left) execFileSync("cp", ["-r", join(alice.folder, name), copy]);
    git(alice, "clean", "-fdXq");
    expect(existsSync(join(alice.folder, ".eleventy-twtxt"))).toBe(false);
    for (const [name, copy] of left) renameSync(copy, join(alice.folder, name));

    const again = await serve(alice, args);
    expect(await shown(again)).toMatchObject([{ source: bob.twt(AT) }]);
  });

  it("is the production site's after a preview for another address", async () => {
    const alice = site();
    const preview = builtSite("http://localhost:8080").settings;
    for (const [path, content] of Object.entries(settingsFile({ ...preview, isDevelopment: true }))) {
      alice.write(path, content);
    }
    const terminal = testTerminal(alice.folder, "2026-11-20T09:00:00Z");
    const folder = await storeFolder(await loadSite(terminal), terminal);
    expect(folder).toBe(join(alice.folder, ".local/share/eleventy-twtxt/sites/alice.example/store"));
  });

  it("is not ignored after a move to another domain, also not beside newer data: the error says what to move", async () => {
    const alice = site();
    const settings = builtHostSettings("https://alice.example", { mentions: { aliases: ["https://old.example"] } });
    alice.write(".eleventy-twtxt/host.json", JSON.stringify({ settings, pages: PAGES }));
    const terminal = testTerminal(alice.folder, "2026-11-20T09:00:00Z");
    const home = await storeFolder(await loadSite(terminal), terminal);
    expect(home).toContain("alice.example");
    const former = home.replace("alice.example", "old.example");
    mkdirSync(former, { recursive: true });
    await expect(storeFolder(await loadSite(terminal), terminal)).rejects.toMatchObject({
      code: "store-failed",
      message: `Data of this site is in ${former}, from its time at https://old.example. Move that folder to ${home}, or name it with --store ${former}.`,
    });
    // As `mv` does, which makes no folder around it.
    mkdirSync(home);
    await expect(storeFolder(await loadSite(terminal), terminal)).rejects.toMatchObject({
      code: "store-failed",
      message: `Data of this site is in ${former}, from its time at https://old.example. There is also newer data in ${home}. Move the folder that you do not need elsewhere, and the one with your data to ${home}.`,
    });
    rmSync(former, { recursive: true });
    expect(await storeFolder(await loadSite(terminal), terminal)).toBe(home);
  });

  it.each([
    ["https://alice.example", "alice.example"],
    ["https://alice.example/", "alice.example"],
    ["https://alice.example/blog", expect.stringMatching(/^alice\.example_blog-[0-9a-f]{8}$/)],
    ["http://127.0.0.1:8081", expect.stringMatching(/^127\.0\.0\.1_8081-[0-9a-f]{8}$/)],
    ["https://alice.example/a_b/../c", expect.stringMatching(/^alice\.example_a_c-|^alice\.example_c-[0-9a-f]{8}$/)],
    [`https://alice.example/${"x".repeat(300)}`, expect.stringMatching(/^.{109}$/)],
  ])("is in a folder with a name from the site's URL: %s", (url, name) => {
    expect(folderName(url)).toEqual(name);
  });
});

describe("a folder that cannot be written", () => {
  it("exit 1: prints the reason and what to do", async () => {
    const alice = site();
    alice.write("file", "x");
    const place = join(alice.folder, "file/store");
    const { exitCode, stderr } = await command(alice.folder, ["serve", "--port", "0", "--store", place]);
    expect([exitCode, stderr]).toEqual([
      1,
      `eleventy-twtxt: Data cannot be stored in ${place}: it, or a folder above it, is a file. Name another folder with --store DIR.\n`,
    ]);
  });
});

describe("a bucket when serve starts", () => {
  /** @param answer - the status of each answer, which may change */
  async function useBucket(answer: { status: number }) {
    const written = new Set<string>();
    const { url: endpoint } = await loopbackServer(({ method, url = "" }, response) => {
      const isWrittenAgain = method === "PUT" && written.size === written.add(url).size;
      const whenUp = method === "DELETE" ? 204 : isWrittenAgain ? 412 : 200;
      response.writeHead(answer.status === 200 ? whenUp : answer.status, { etag: '"e"' }).end();
    });
    const access = { region: "eu-central-1", accessKeyId: "tester", secretAccessKey: "secret" };
    const store = new S3Store({ endpoint, bucket: "alice", ...access });
    return useStoreToServe({ store, folder: null, place: "the bucket alice" });
  }

  it("may be overloaded: pages and the feed are served until it answers", async () => {
    shortenPauses();
    const answer = { status: 503 };
    const { failure, ready, leave } = await useBucket(answer);
    expect(failure).toMatch(/^The S3 bucket alice failed: .*status 503.*pages and the feed are served/);
    answer.status = 200;
    expect(await ready).toBe(true);
    await leave();
  });

  it("must not refuse the key", async () => {
    await expect(useBucket({ status: 403 })).rejects.toThrow(/status 403/);
  });
});
