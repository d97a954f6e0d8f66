import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { mentions } from "../../netlify/functions/mentions.js";
import { loadedWith } from "../bench/functions.js";
import { loopbackServer } from "../helpers/loopback.js";
import { netlifyBlobs, siteOf } from "../helpers/netlify-site.js";

const repo = fileURLToPath(new URL("../../", import.meta.url));
const bundle = mkdtempSync(join(tmpdir(), "twtxt-bundle-"));
const WRITTEN = "2026-01-02T03:04:05Z";

/** Texts in the code of modules that must not be loaded at the start. */
const LATE = {
  "the HTML parser": "callAdoptionAgency",
  "the microformats parser": "u-uid",
  "the mail client": "STARTTLS",
  "the elliptic curves": "isTorsionFree",
  "signature verification": "@signature-params",
  "the parser of IP addresses": "parseCIDR",
};

beforeAll(() => void execFileSync(process.execPath, [join(repo, "build/netlify.mjs"), bundle]));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(bundle, { recursive: true, force: true }));

describe("the bundle of the functions", () => {
  it("has a file for each function", () => {
    const sources = readdirSync(join(repo, "netlify/functions")).map((name) => name.replace(/\.ts$/, ".js"));
    expect(readdirSync(bundle).filter((name) => name.endsWith(".js"))).toEqual(sources.sort());
  });

  it("loads less than 128 kB to list mentions, and less than 387 kB to receive one", () => {
    const sizeOf = (files: Iterable<string>) => [...files].reduce((sum, file) => sum + statSync(file).size, 0);
    const files = loadedWith(join(bundle, "mentions.js"));
    expect(files.length).toBeGreaterThan(1);
    expect(sizeOf(files)).toBeLessThan(128_000);

    const [verification = ""] = readdirSync(join(bundle, "chunks")).filter((name) =>
      /^verification-\w+\.js$/.test(name),
    );
    const receiving = loadedWith(join(bundle, "chunks", verification));
    expect(sizeOf(new Set([...files, ...receiving]))).toBeLessThan(387_000);
  });

  it.each(Object.entries(LATE))("loads %s only on first use", (_what, word) => {
    const chunks = readdirSync(join(bundle, "chunks")).map((name) => join(bundle, "chunks", name));
    const holders = chunks.filter((file) => readFileSync(file, "utf8").includes(word));
    const loaded = new Set(loadedWith(join(bundle, "mentions.js")));
    expect(holders.length).toBeGreaterThan(0);
    expect(holders.filter((file) => loaded.has(file))).toEqual([]);
  });

  it("contains the licences of the bundled packages", () => {
    const licenses = readFileSync(join(bundle, "LICENSES.txt"), "utf8");
    expect(licenses).toMatch(/^valibot \d.* \(MIT\)\n\nMIT License\n/m);
    expect(licenses).toMatch(/^ipaddr\.js \d/m);
  });

  it("requests a feed with a redirect and a compressed response", async () => {
    const { settings, pages } = siteOf("http://localhost:8888");
    const bob = await loopbackServer(({ url }, response) => {
      if (url === "/twtxt.txt") return response.writeHead(302, { location: "/feed" }).end();
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" });
      response.end(gzipSync(`${WRITTEN}\t@<alice ${settings.feedUrl}> Hello!\n`));
    });
    await netlifyBlobs();
    vi.stubEnv("NETLIFY_DEV", "true");
    vi.stubEnv("NETLIFY_LOCAL", "true");
    vi.stubEnv("TWTXT_ALLOW_PRIVATE_HOSTS", bob.host);

    const bundled: { mentions: typeof mentions } = await import(join(bundle, "mentions.js"));
    const body = new URLSearchParams({ source: `${bob.url}/twtxt.txt#:~:text=${WRITTEN}`, target: settings.feedUrl });
    const request = new Request(settings.urls.webmention, { method: "POST", body });
    const answer = await bundled.mentions(settings, pages)(request, { deploy: { context: "" } });

    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
    expect(bob.requests).toEqual(["/twtxt.txt", "/feed"]);
  });

  it("reads the author and text from a page's microformats", async () => {
    const { settings, pages } = siteOf("http://localhost:8888");
    const bob = await loopbackServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<div class="h-entry"><a class="p-author h-card" href="/">Bob</a>
        <p class="e-content">I like <a class="u-in-reply-to" href="${settings.url}/">this</a>.</p></div>`);
    });
    await netlifyBlobs();
    vi.stubEnv("NETLIFY_DEV", "true");
    vi.stubEnv("NETLIFY_LOCAL", "true");
    vi.stubEnv("TWTXT_ALLOW_PRIVATE_HOSTS", bob.host);

    const bundled: { mentions: typeof mentions } = await import(join(bundle, "mentions.js"));
    const body = new URLSearchParams({ source: `${bob.url}/reply/`, target: `${settings.url}/` });
    const request = new Request(settings.urls.webmention, { method: "POST", body });
    await bundled.mentions(settings, pages)(request, { deploy: { context: "" } });
    const list = await bundled.mentions(settings, pages)(new Request(`${settings.url}/mentions.json`), {
      deploy: { context: "" },
    });

    expect(await list.json()).toMatchObject({
      mentions: [{ type: "reply", author: { name: "Bob", url: `${bob.url}/` }, text: "I like this." }],
    });
  });
});

describe("the sources of the functions", () => {
  it("read the environment in one file only", () => {
    const files = readdirSync(join(repo, "netlify"), { recursive: true, encoding: "utf8" });
    const readers = files.filter(
      (file) => file.endsWith(".ts") && readFileSync(join(repo, "netlify", file), "utf8").includes("process.env"),
    );
    expect(readers).toEqual(["environment.ts"]);
  });
});

describe("undici in the sources", () => {
  it("is imported in one file only, and only the parts that the bundle contains", () => {
    const files = readdirSync(join(repo, "plugin"), { recursive: true, encoding: "utf8" });
    const imports = files
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) =>
        [...readFileSync(join(repo, "plugin", file), "utf8").matchAll(/import .*"undici.*"/g)].map(String),
      );
    expect(imports).toEqual([`import { Agent, buildConnector, Client } from "undici"`]);
  });
});
