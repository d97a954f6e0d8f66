import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort, netlify, netlifyDev, newSite, type Site } from "./local-netlify.js";

const TOML = `[build]
  command = "npx @11ty/eleventy --quiet"
  publish = "_site"
[[redirects]]
  from = "/*"
  to = "/"
  status = 200
`;
let site: Site;

beforeAll(async () => {
  site = await newSite({
    "netlify.toml": TOML,
    "eleventy.config.js": `import twtxt from "eleventy-plugin-twtxt";
export default (config) => config.addPlugin(twtxt, { url: "https://alice.example", nick: "alice" });
`,
    "index.md": "home",
    "posts/gone.md": "---\ndate: 2026-01-02T03:04:05Z\ntags: posts\ntwt: deleted\n---\nGone\n",
    "posts/kept.md": "---\ndate: 2026-01-02T03:04:06Z\ntags: posts\n---\nKept\n",
  });
});
afterAll(() => site?.remove());

it("a deleted post is answered with 410 and its page, also where the site rewrites every URL", async () => {
  await netlify(site, ["build", "--offline"]);
  // `netlify dev` does not read the Frameworks API, so it gets the rules that the build has made of it.
  const built = readFileSync(join(site.folder, ".netlify/netlify.toml"), "utf8");
  const rules = built.slice(built.indexOf("[[redirects]]"));
  site.write({ "netlify.toml": `[build]\n  publish = "_site"\n[dev]\n  framework = "#static"\n${rules}` });
  const running = await netlifyDev(site, await freePort(), {});
  try {
    for (const path of ["/posts/gone/", "/posts/gone"]) {
      const answer = await fetch(running.url + path);
      expect([answer.status, await answer.text()]).toEqual([410, expect.stringContaining("This post was deleted")]);
    }
    expect((await fetch(`${running.url}/posts/kept/`)).status).toBe(200);
  } finally {
    await running.stop();
  }
});
