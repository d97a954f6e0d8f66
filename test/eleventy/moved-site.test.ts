import { describe, expect, it } from "vitest";
import type { SitePages } from "../../plugin/site/site.js";
import { type BuiltSite, post, type SiteSetup, site } from "../helpers/site.js";
import { projectFile } from "./read-build.js";

const SAID = "The site was at https://old.example and is now at https://alice.example.";

/** A build for a domain, in the folder of an earlier one. */
function build(url: string, setup: Partial<SiteSetup> = {}, mentions = "{}"): Promise<BuiltSite> {
  return site({ files: {}, ...setup, options: `{ url: "${url}", host: "node", mentions: ${mentions} }` });
}

const pagesOf = (built: BuiltSite): SitePages =>
  JSON.parse(projectFile(built, ".eleventy-twtxt/host.json") ?? "").pages;

const POST = { "posts/quinces.md": post({ title: "Quinces", tags: "posts", date: "2026-10-04T07:12:30Z" }) };

describe("a build for another domain than the last one", () => {
  it("says what to add, and is silent with it", async () => {
    const old = await build("https://old.example", { files: POST });
    expect(old.log).not.toContain("The site was at");
    const moved = await build("https://alice.example", { site: old });
    expect(moved.log).toContain(SAID);
    expect(moved.log).toContain('add mentions: { aliases: ["https://old.example"] } to the options');
    const back = await build("https://old.example", { site: moved }, '{ aliases: ["https://alice.example"] }');
    const named = await build("https://alice.example", { site: back }, '{ aliases: ["https://old.example"] }');
    expect(named.log).not.toContain("The site was at");
  });

  it.each(["http://localhost:8080", "http://127.0.0.1:8080"])("is silent on this machine: %s", async (url) => {
    const trial = await build(url, { files: POST });
    const real = await build("https://alice.example", { site: trial });
    expect(real.log).not.toContain("The site was at");
    expect((await build(url, { site: real })).log).not.toContain("The site was at");
  });

  it("knows the hashes that its twts had at the earlier domain", async () => {
    const old = await build("https://old.example", { files: POST });
    const [before] = pagesOf(old).twts;
    const moved = await build("https://alice.example", { site: old }, '{ aliases: ["https://old.example"] }');
    const { feeds, origins, twts } = pagesOf(moved);
    expect(feeds).toEqual(["https://alice.example/twtxt.txt", "https://old.example/twtxt.txt"]);
    expect(origins).toEqual(["https://old.example"]);
    expect(before?.hashes).toHaveLength(2);
    expect(twts[0]?.hashes).toEqual(expect.arrayContaining(before?.hashes ?? []));
    expect(twts[0]?.hashes.length).toBeGreaterThan(2);
  });
});
