// test/cli/serve-loaded.test.ts: `serve` while `npm ci` or a new deploy removes the files that it was started from.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { loopbackServer } from "../helpers/loopback.js";
import { NO_LATE_MODULES, REPO } from "../helpers/paths.js";
import { FEED, PAGE, settingsOf } from "../helpers/receiver.js";
import { telephone } from "../helpers/telephone.js";
import { ALICE, sealed } from "../messages/inbox/alices-inbox.js";
import { rebuild, type Server, serveProcess, site } from "./server.js";

const AT = "2026-11-19T18:40:02Z";
const TOKEN = "0123456789abcdef0123456789abcdef";

/** The command as npm installs it: its packages are outside of its own files. */
const folder = mkdtempSync(join(tmpdir(), "twtxt-installed-"));
const installed = join(folder, "eleventy-plugin-twtxt");

beforeAll(async () => {
  mkdirSync(installed);
  writeFileSync(join(installed, "package.json"), '{ "type": "module", "version": "1.2.3" }');
  symlinkSync(join(REPO, "node_modules"), join(installed, "node_modules"));
  await build({
    entryPoints: [join(REPO, "plugin/cli/main.ts")],
    outdir: join(installed, "dist/cli"),
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A feed, and a page that replies to Alice's post. */
function peer() {
  return loopbackServer((request, response) => {
    const isFeed = request.url === "/twtxt.txt";
    response.writeHead(200, { "content-type": isFeed ? "text/plain" : "text/html" });
    response.end(
      isFeed ? `${AT}\tIt *rains*, @<alice ${FEED}>\n` : `<p class="h-entry"><a href="${PAGE}">Quinces</a> rain`,
    );
  });
}

/** A site with all that `serve` offers, which follows a feed. */
function wholeSite(feed: string) {
  const inbox = { users: ["alice"], messages: 100, megabytes: 4, retentionDays: 0, subscribe: null };
  return site({
    ...settingsOf({ key: ALICE.publicKey, follow: [{ nick: "bob", url: feed }] }),
    inbox: { ...inbox, guests: { messages: 100, days: 90 } },
    blobs: { owners: [ALICE.publicKey], count: 10, bytes: 2 ** 20, maxBytes: 2 ** 20 },
  });
}

function mention({ url }: Server, source: string, target: string): Promise<Response> {
  return fetch(`${url}/webmention`, { method: "POST", body: new URLSearchParams({ source, target }) });
}

/** Sends a request that Alice has signed. */
function ask({ url }: Server, method: string, path: string, body?: Uint8Array): Promise<Response> {
  const signed = signRequest(
    { method, url: `https://alice.example${path}`, headers: {}, ...(body && { body }) },
    ALICE,
    Date.now(),
  );
  return fetch(url + path, { method, headers: signed, ...(body && { body: Buffer.from(body) }) });
}

/** Stores a value before and after its packages, named second, are removed. */
const STORING = `import { rmSync } from "node:fs";
import { SqliteStore } from "./sqlite.js";
const [folder, packages] = process.argv.slice(2);
const store = new SqliteStore(folder);
await store.prepareForServer();
await store.put("before", Buffer.from("quinces"));
rmSync(packages);
// As after some seconds without a request.
store.close();
await store.put("after", Buffer.from("pears"));
console.log((await store.keys("")).join());
store.close();`;

describe("serve, after the files that it was started from are gone", () => {
  it("opens its database again, and stores", async () => {
    const [script, packages] = [join(folder, "store/store.mjs"), join(folder, "store/node_modules")];
    const stdin = { contents: STORING, resolveDir: join(REPO, "plugin/store") };
    await build({ stdin, outfile: script, bundle: true, packages: "external", format: "esm", platform: "node" });
    symlinkSync(join(REPO, "node_modules"), packages);
    const stored = execFileSync(process.execPath, [script, join(folder, "data"), packages], { encoding: "utf8" });
    expect(stored.trim()).toBe("after,before");
  });

  it("verifies mentions, notifies, reads feeds, takes messages and blobs, and loads a new build", async () => {
    const bob = await peer();
    const phone = await telephone();
    const alice = wholeSite(`${bob.url}/twtxt.txt`);
    const environment = {
      TWTXT_MENTIONS_TOKEN: TOKEN,
      TWTXT_WEBHOOK_URL: phone.url,
      TWTXT_SMTP_URL: "smtp://127.0.0.1:1",
      TWTXT_MAIL_TO: "alice@alice.example",
    };
    const command = join(installed, "dist/cli/main.js");
    const server = await serveProcess(alice, ["--allow-private-host", bob.host], {
      command,
      environment,
      imports: [NO_LATE_MODULES],
    });
    rmSync(installed, { recursive: true });

    expect((await mention(server, `${bob.url}/twtxt.txt#:~:text=${AT}`, FEED)).status).toBe(200);
    expect((await mention(server, `${bob.url}/rain`, PAGE)).status).toBe(200);
    expect((await fetch(`${server.url}/inbox/alice`, { method: "POST", body: Buffer.from(sealed(1)) })).status).toBe(
      202,
    );
    expect((await ask(server, "PUT", "/api/v1/blob/rain", Buffer.from("It rains."))).status).toBe(201);
    for (const path of ["/inbox/alice", "/api/v1/blob", "/api/v1/mentions"]) {
      expect([path, (await ask(server, "GET", path)).status]).toEqual([path, 200]);
    }
    expect((await ask(server, "POST", "/api/v1/mentions/verify")).status).toBe(200);
    for (const path of [
      "/",
      "/twtxt.txt",
      "/health",
      "/webmention",
      "/mentions.json",
      `/mentions.txt?token=${TOKEN}`,
    ]) {
      expect([path, (await fetch(server.url + path)).status]).toEqual([path, 200]);
    }
    await expect
      .poll(async () => await (await fetch(`${server.url}/timeline.json`)).text())
      .toContain("<em>rains</em>");
    await expect.poll(() => phone.notes.length).toBeGreaterThan(0);
    await expect.poll(server.output).toContain("Notification by mail failed");

    const target = "https://alice.example/posts/new/";
    rebuild(alice, ({ settings, pages }) => ({ settings, pages: { ...pages, pages: [...pages.pages, target] } }));
    await expect
      .poll(async () => Object(await (await mention(server, `${bob.url}/rain`, target)).json()).code)
      .toBe("no-such-mention");
    expect(server.output()).not.toMatch(/Late module|ENOENT|Cannot find/);
    expect(await server.end()).toBe(0);
  });
});
