import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const isNewNode = Number(process.versions.node.split(".")[0]) > 22;
const repo = fileURLToPath(new URL("../../", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "twtxt-package-"));
let tarball = "";

// Whoever installs the package has its tarball alone: what is not in there is missed here.
beforeAll(async () => {
  await run("npm", ["pack", "--pack-destination", work], { cwd: repo });
  tarball = join(work, readdirSync(work).find((name) => name.endsWith(".tgz")) ?? "");
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const POSTS = {
  "posts/posts.json": `{ "tags": "posts" }`,
  "posts/hello.md":
    "---\ntitle: Hello\nsummary: A first post\ndate: 2023-05-06T07:08:09Z\n---\nTo @<bob https://bob.example/twtxt.txt>.\n",
  "posts/2024-02-03-note.md": "A note with *emphasis*, a [link](/about/) and `code`.\n\n- one\n- two\n",
  "posts/later.md":
    '---\ndate: 2025-03-04T05:06:07Z\nreplyTo: "abcdefg https://bob.example/twtxt.txt"\n---\nQuite so.\n',
};

const FEED = `# nick = alice
# url = https://alice.example/twtxt.txt
# prev = qorot5a twtxt-2023.txt

2024-02-03T00:24:15Z\tA note with *emphasis*, a [link](https://alice.example/about/) and \`code\`.\u2028\u2028- one\u2028- two
2025-03-04T05:06:07Z\t(#abcdefg) @<bob.example https://bob.example/twtxt.txt> Quite so.
`;

const ARCHIVE = `# nick = alice
# url = https://alice.example/twtxt.txt

2023-05-06T07:08:09Z\tHello: A first post https://alice.example/posts/hello/ @<bob https://bob.example/twtxt.txt>
`;

const CONFIGS = {
  "eleventy.config.js as an ES module": {
    "package.json": `{ "private": true, "type": "module" }`,
    "eleventy.config.js": `import twtxt from "eleventy-plugin-twtxt";
export default (eleventyConfig) => { eleventyConfig.addPlugin(twtxt, { url: "https://alice.example", nick: "alice" }); };`,
  },
  ".eleventy.js in CommonJS": {
    "package.json": `{ "private": true }`,
    ".eleventy.js": `const twtxt = require("eleventy-plugin-twtxt").default;
module.exports = function (eleventyConfig) { eleventyConfig.addPlugin(twtxt, { url: "https://alice.example", nick: "alice" }); };`,
  },
};

describe("the packed package in a fresh site", () => {
  it.each([
    ["eleventy.config.js as an ES module", "3.1.7"],
    [".eleventy.js in CommonJS", "3.1.7"],
    ["eleventy.config.js as an ES module", "3.0.0"],
    [".eleventy.js in CommonJS", "3.0.0"],
    // Needs Node 22.15, and so is tried where the tests run on a newer Node.
    ...(isNewNode ? ([["eleventy.config.js as an ES module", "4.0.0-alpha.10"]] as const) : []),
  ] as const)("writes the same feed, byte for byte: %s, Eleventy %s", async (config, eleventy) => {
    const site = mkdtempSync(join(work, "site-"));
    for (const [path, content] of Object.entries({ ...CONFIGS[config], ...POSTS })) {
      mkdirSync(dirname(join(site, path)), { recursive: true });
      writeFileSync(join(site, path), content);
    }
    await run(
      "npm",
      ["install", "--no-audit", "--no-fund", "--prefer-offline", tarball, `@11ty/eleventy@${eleventy}`],
      { cwd: site },
    );
    await run("npx", ["@11ty/eleventy", "--quiet"], { cwd: site, env: { ...process.env, NETLIFY: "" } });

    expect(readFileSync(join(site, "_site/twtxt.txt"), "utf8")).toBe(FEED);
    expect(readFileSync(join(site, "_site/twtxt-2023.txt"), "utf8")).toBe(ARCHIVE);
  });
});
