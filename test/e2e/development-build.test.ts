import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serveProcess } from "../cli/server.js";
import { freePort } from "../helpers/ports.js";
import { buildSite, post, type SiteSetup, site, watchSite } from "../helpers/site.js";
import { neighbour } from "../mentions/send/outgoing.js";

/** Excludes drafts as eleventy-base-blog does. */
const DRAFTS = `config.addPreprocessor("drafts", "*", (data) =>
  data.draft && process.env.ELEVENTY_RUN_MODE === "build" ? false : undefined);`;

const minutesAgo = (minutes: number) => `${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19)}Z`;

describe("a development build while `eleventy-twtxt serve` runs", () => {
  it("publishes no draft: the live feed does not change, and no mention is sent", async () => {
    const [bob, carol] = [await neighbour("bob"), await neighbour("carol")];
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const draft = (body: string) => post({ date: minutesAgo(40), draft: true }, body);
    const setup: SiteSetup = {
      files: {
        "posts/posts.json": `{ "tags": "posts" }`,
        "posts/a.md": post({ date: minutesAgo(50) }, `first for ${bob.mention}`),
        "posts/b.md": draft(`a draft for ${carol.mention}`),
      },
      options: `{ url: "${url}", host: "node" }`,
      config: DRAFTS,
      now: minutesAgo(0),
    };
    const built = await site(setup);
    expect(built.log).not.toContain("development build");
    const settingsFile = join(built.folder, ".eleventy-twtxt/settings.json");
    const settings = readFileSync(settingsFile, "utf8");
    const running = await watchSite(built, ["--watch", "--quiet"]);
    expect(built.read("twtxt.txt")).toContain("a draft for");
    // A production build in another terminal writes this file.
    writeFileSync(settingsFile, settings);
    const server = await serveProcess({ folder: built.folder }, [
      ...["--port", String(port)],
      ...[bob, carol].flatMap(({ host }) => ["--allow-private-host", host]),
    ]);
    const live = async () => (await fetch(`${server.url}/twtxt.txt`)).text();
    await expect.poll(() => bob.posts.length).toBe(1);
    const [before, host] = [await live(), join(built.folder, ".eleventy-twtxt/host.json")];
    const { mtimeMs } = statSync(host);

    const edited = { "posts/b.md": draft(`an edited draft for ${carol.mention}`) };
    await running.change(edited, () => expect(running.log()).toContain("visitors would see the drafts"));
    const log = await running.stop();
    expect(log).toMatch(/"eleventy-twtxt serve" \(process \d+\) serves \.\/_site\/, so visitors/);
    expect(built.read("twtxt.txt")).not.toContain("an edited draft");
    expect(await live()).toBe(before);
    expect(await live()).not.toContain("draft");
    expect(statSync(host).mtimeMs).toBe(mtimeMs);

    const files = { "posts/c.md": post({ date: minutesAgo(30) }, `second for ${bob.mention}`) };
    const page = `${url}/posts/b/`;
    expect((await fetch(page)).status).toBe(200);
    const real = await site({ ...setup, files, site: built });
    expect(real.log).toMatch(/Removed files that a preview had left, such as drafts: _site\/posts\/b\/index.html\.\s/);
    expect((await fetch(page)).status).toBe(404);
    await expect.poll(() => bob.posts.length).toBe(2);
    expect(await live()).toContain("second for");
    expect(await live()).not.toContain("draft");
    expect(carol.requests).toEqual([]);
    expect(log.match(/This is a development build: it sends nothing\..*/g)).toEqual([
      "This is a development build: it sends nothing. ./_site/ may now contain drafts. Before you publish it, build the site: npx @11ty/eleventy",
    ]);

    const preview = await watchSite(built, ["--watch", "--quiet", "--output=_preview"]);
    const beside = await preview.stop();
    expect(beside).not.toContain("visitors would see");
    expect(beside).toMatch(/This is a development build: it sends nothing\.\s/);

    const served = await live();
    const other = await buildSite({ ...setup, options: `{ url: "http://localhost:1", host: "node" }`, site: built });
    expect([other.exitCode, other.log]).toEqual([1, expect.stringContaining(`serves ${url} from this folder`)]);
    expect(await live()).toBe(served);
    expect(await server.end()).toBe(0);
    const alone = await watchSite(built, ["--watch", "--quiet"]);
    expect(await alone.stop()).not.toContain("visitors would see");
    expect(JSON.parse(readFileSync(settingsFile, "utf8")).isDevelopment).toBe(true);
  });
});
