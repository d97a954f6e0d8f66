import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import matter from "gray-matter";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ParsedFeed, parseFeed } from "../../plugin/feed/feed.js";

const repo = fileURLToPath(new URL("../../", import.meta.url));
const output = mkdtempSync(join(tmpdir(), "twtxt-example-"));
const feeds: ParsedFeed[] = [];

beforeAll(async () => {
  const args = ["--import", "tsx", "node_modules/@11ty/eleventy/cmd.cjs", "--config=.eleventy.ts", "--quiet"];
  await promisify(execFile)(process.execPath, [...args, `--output=${output}`], { cwd: repo });
  for (let name: string | undefined = "twtxt.txt"; name; name = feeds.at(-1)?.fields.prev?.[0]?.split(" ")[1]) {
    feeds.push(parseFeed(readFileSync(join(output, name))));
  }
});
afterAll(() => rmSync(output, { recursive: true, force: true }));

describe("the example", () => {
  it("has each post in the feed or an archive, and no line that our parser skips", () => {
    const folder = join(repo, "site-example/posts");
    const posts = readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .map((name) => matter(readFileSync(join(folder, name), "utf8")).data)
      .filter(({ twt }) => twt !== false);
    const twts = feeds.flatMap((feed) => feed.twts);

    expect(feeds.length).toBe(2);
    expect(feeds.map(({ skippedLines }) => skippedLines)).toEqual([0, 0]);
    expect(twts.length).toBe(posts.length);
    for (const { title } of posts) if (title) expect(twts.some(({ text }) => text.startsWith(title))).toBe(true);
  });

  it("has a reply, mentions, several lines and an image", () => {
    const twts = feeds.flatMap((feed) => feed.twts);
    expect(twts.filter(({ subject }) => subject !== null).length).toBe(1);
    expect(twts.filter(({ mentions }) => mentions.length > 0).length).toBeGreaterThan(2);
    expect(twts.some(({ text }) => text.includes("\u2028"))).toBe(true);
    expect(twts.some(({ text }) => /!\[.+\]\(https:\/\/alice\.example\//.test(text))).toBe(true);
  });
});
