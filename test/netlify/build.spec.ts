import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../helpers/ports.js";
import { exampleSite, netlify, netlifyDev, type Site } from "./local-netlify.js";

const repo = fileURLToPath(new URL("../../", import.meta.url));
const TOML = `[build]
  command = "npx @11ty/eleventy --quiet"
  publish = "_site"
[[redirects]]
  from = "/*"
  to = "/"
  status = 200
`;
let example: Site;

/** The functions of a site in Netlify's manifest, by name. */
function manifest({ folder }: Site): Record<string, Record<string, unknown>> {
  const { functions } = JSON.parse(readFileSync(join(folder, ".netlify/functions/manifest.json"), "utf8"));
  return Object.fromEntries(functions.map((one: { name: string }) => [one.name, one]));
}

/** The names in a zip file, from the directory at its end. */
function namesInZip(zip: Buffer): string[] {
  const names: string[] = [];
  const end = zip.lastIndexOf("PK\x05\x06");
  let at = zip.readUInt32LE(end + 16);
  while (at < end) {
    const [name, extra, comment] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32)];
    names.push(zip.toString("utf8", at + 46, at + 46 + name));
    at += 46 + name + extra + comment;
  }
  return names;
}

beforeAll(async () => {
  const files = {
    "netlify.toml": TOML,
    "site-example/posts/gone.md": "---\ndate: 2026-01-02T03:04:05Z\ntwt: deleted\n---\nGone\n",
  };
  example = exampleSite(files, readFileSync(join(repo, ".eleventy.ts"), "utf8"));
  await netlify(example, ["build", "--offline"]);
});
afterAll(() => example?.remove());

describe("netlify build of the example", () => {
  it("finds six functions without a line in netlify.toml", () => {
    expect(Object.keys(manifest(example)).sort()).toEqual([
      "twtxt-deploy-succeeded",
      "twtxt-mention",
      "twtxt-mentions-api",
      "twtxt-mentions-feed",
      "twtxt-mentions-json",
      "twtxt-scheduled",
    ]);
  });

  it("routes every method of their paths to them, so that they can respond with 405", () => {
    const routes = Object.entries(manifest(example)).flatMap(([name, { routes = [] }]) =>
      (routes as { pattern: string; methods: string[] }[]).map(({ pattern, methods }) => [pattern, name, methods]),
    );
    expect(routes.sort()).toEqual([
      ["/api/v1/mentions", "twtxt-mentions-api", []],
      ["/api/v1/mentions/*", "twtxt-mentions-api", []],
      ["/mentions.atom", "twtxt-mentions-json", []],
      ["/mentions.json", "twtxt-mentions-json", []],
      ["/mentions.txt", "twtxt-mentions-feed", []],
      ["/moderate/:id", "twtxt-mentions-api", []],
      ["/webmention", "twtxt-mention", []],
    ]);
  });

  it("has a rate limit only for mentions, by address and domain", () => {
    const limits = Object.entries(manifest(example)).filter(([, { trafficRules }]) => trafficRules !== undefined);
    expect(limits.map(([name, { trafficRules }]) => [name, trafficRules])).toEqual([
      [
        "twtxt-mention",
        {
          action: {
            type: "rate_limit",
            config: {
              rateLimitConfig: { windowLimit: 60, windowSize: 60, algorithm: "sliding_window" },
              aggregate: { keys: [{ type: "ip" }, { type: "domain" }] },
            },
          },
        },
      ],
    ]);
  });

  it("schedules one function, and runs another after a deploy", () => {
    const { "twtxt-scheduled": scheduled, "twtxt-deploy-succeeded": deployed } = manifest(example);
    expect(scheduled).toMatchObject({ schedule: "7 * * * *" });
    expect(scheduled?.eventSubscriptions).toBeUndefined();
    expect(deployed).toMatchObject({ eventSubscriptions: ["deploy_succeeded"] });
  });

  it("packs the chunks of the bundle, and no other files of node_modules", () => {
    const entries = namesInZip(readFileSync(join(example.folder, ".netlify/functions/twtxt-mention.zip")));
    const chunks = entries.filter((name) => name.includes("eleventy-plugin-twtxt/dist/netlify/"));
    expect(chunks).toContain("node_modules/eleventy-plugin-twtxt/dist/netlify/mentions.js");
    expect(chunks.length).toBeGreaterThan(5);
    expect(entries.filter((name) => /node_modules\/(?!eleventy-plugin-twtxt\/)/.test(name))).toEqual([]);
  });
});

it("serves the page of a deleted post with status 410, even if the site rewrites every URL", async () => {
  // `netlify dev` does not read the Frameworks API, so it gets the rules that the build created from it.
  const built = readFileSync(join(example.folder, ".netlify/netlify.toml"), "utf8");
  const rules = built.slice(built.indexOf("[[redirects]]"));
  rmSync(join(example.folder, ".netlify/v1/functions"), { recursive: true });
  example.write({ "netlify.toml": `[build]\n  publish = "_site"\n[dev]\n  framework = "#static"\n${rules}` });
  const running = await netlifyDev(example, await freePort(), {}, "/2026/quinces/");
  try {
    for (const path of ["/2026/gone/", "/2026/gone"]) {
      const answer = await fetch(running.url + path);
      expect([answer.status, await answer.text()]).toEqual([410, expect.stringContaining("This post was deleted")]);
    }
    expect((await fetch(`${running.url}/2026/quinces/`)).status).toBe(200);
  } finally {
    await running.stop();
  }
});
