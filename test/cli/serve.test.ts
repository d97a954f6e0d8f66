import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refuseServedFolder } from "../../plugin/eleventy/output/previews.js";
import type { HostSettings } from "../../plugin/site/site.js";
import { freePort } from "../helpers/ports.js";
import { FEED, feedServer } from "../helpers/receiver.js";
import { blog, command } from "./helpers.js";
import { rebuild, type Server, serve, serveProcess, site } from "./server.js";

const AT = "2026-11-19T18:40:02Z";
const HELLO = `@<alice ${FEED}> hello`;

function mention(server: Server, source: string): Promise<Response> {
  return fetch(`${server.url}/webmention`, { method: "POST", body: new URLSearchParams({ source, target: FEED }) });
}

async function shown(server: Server): Promise<{ source: string }[]> {
  return Object(await (await fetch(`${server.url}/mentions.json`)).json()).mentions;
}

describe("eleventy-twtxt serve", () => {
  it("serves the site, and still has its mentions after a restart", async () => {
    const bob = await feedServer({ [AT]: HELLO });
    const alice = site();
    const server = await serveProcess(alice, ["--allow-private-host", bob.host]);
    expect(await (await fetch(`${server.url}/`)).text()).toBe("home");
    const feed = await fetch(`${server.url}/twtxt.txt`);
    expect(feed.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(feed.headers.get("link")).toBe('<https://alice.example/webmention>; rel="webmention"');
    expect((await mention(server, bob.twt(AT))).status).toBe(200);
    expect(await server.end("SIGINT")).toBe(0);
    expect(await shown(await serve(alice))).toMatchObject([{ source: bob.twt(AT) }]);
  });

  it("reads the site's own feed on loopback without an option", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const alice = site({ url, feedUrl: `${url}/twtxt.txt` });
    const server = await serve(alice, ["--port", String(port)]);
    expect(await server.end()).toBe(0);
    expect(server.output()).not.toContain("is not requested");
  });

  it("connects to no private network without --allow-private-host", async () => {
    const bob = await feedServer({ [AT]: HELLO });
    const server = await serve(site());
    const answer = await mention(server, bob.twt(AT));
    expect([answer.status, Object(await answer.json()).code]).toEqual([400, "address-refused"]);
    expect(bob.requests).toEqual([]);
  });

  it("serves a new build", async () => {
    const bob = await feedServer({ [AT]: "see https://alice.example/posts/new/" });
    const alice = site();
    const server = await serve(alice, ["--allow-private-host", bob.host]);
    const target = "https://alice.example/posts/new/";
    const send = () =>
      fetch(`${server.url}/webmention`, { method: "POST", body: new URLSearchParams({ source: bob.twt(AT), target }) });
    expect((await send()).status).toBe(400);
    rebuild(alice, ({ settings, pages }) => ({ settings, pages: { ...pages, pages: [...pages.pages, target] } }));
    await expect.poll(async () => (await send()).status).toBe(200);
  });

  it("serves the previous build after the build's file is deleted, and logs when it serves the next build", async () => {
    const alice = site();
    const server = await serve(alice);
    const host = alice.read(".eleventy-twtxt/host.json");
    rmSync(join(alice.folder, ".eleventy-twtxt"), { recursive: true });
    await expect
      .poll(server.output)
      .toMatch(
        /Still serving the previous build\. There is no \S+\.json\. Build the site first: npx @11ty\/eleventy\n/,
      );
    expect((await fetch(`${server.url}/mentions.json`)).status).toBe(200);
    alice.write(".eleventy-twtxt/host.json", host);
    await expect.poll(server.output).toContain("Serving the new build.\n");
  });

  it("has no endpoint if the options name another service or turn mentions off", async () => {
    const server = await serve(site({ isReceiver: false }));
    expect((await mention(server, "x")).status).toBe(405);
    expect((await fetch(`${server.url}/mentions.json`)).status).toBe(404);
  });

  it("has a private feed with a token, and limits the requests from one IP address", async () => {
    const token = "0123456789abcdef0123456789abcdef";
    const server = await serve(site(), ["--rate-limit", "2"], { TWTXT_MENTIONS_TOKEN: token });
    expect((await fetch(`${server.url}/mentions.txt`)).status).toBe(401);
    await expect
      .poll(server.output)
      .toContain("Mail about mentions: off (set TWTXT_SMTP_URL and TWTXT_MAIL_TO to turn it on)\n");
    expect((await fetch(`${server.url}/mentions.txt?token=${token}`)).status).toBe(200);
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await mention(server, "x")).status);
    expect(statuses).toEqual([400, 400, 429]);
    expect((await fetch(`${server.url}/api/v1/mentions/verify`, { method: "POST" })).status).toBe(401);
    expect(server.output()).not.toContain(token);
  });

  it("logs which features are off, and that the feed was built for another host", async () => {
    const alice = site();
    const write = (changes: Partial<HostSettings>) =>
      rebuild(alice, ({ settings, pages }) => ({
        settings: { ...settings, ...changes },
        pages: { ...pages, twts: pages.twts.map((twt) => ({ ...twt, copy: { networks: ["mastodon"] } })) },
      }));
    write({ host: "static", endpoint: null });
    const lacking = await serve(alice, [], { TWTXT_SMTP_URL: "smtp://127.0.0.1", TWTXT_WEBHOOK_URL: "" });
    const lines = [
      'The site was built for the host "static", so its feed does not name https://alice.example/webmention, and no one can mention you there. Set the option host: "node" and build the site again.',
      "Private feed of mentions: off (set TWTXT_MENTIONS_TOKEN to turn it on)",
      "Mail about mentions: off (set TWTXT_MAIL_TO to turn it on)",
      "Webhook: off (set TWTXT_WEBHOOK_URL to turn it on)",
      "Notifications through ntfy: off (set TWTXT_NTFY_URL to turn it on)",
      "Deciding about mentions by a link: off (set TWTXT_MODERATION_SECRET to turn it on)",
      "Rebuilds of the site: off (set TWTXT_BUILD_HOOK_URL to turn it on)",
      "No copies are posted on Mastodon: TWTXT_MASTODON_URL and TWTXT_MASTODON_TOKEN are not set at the host.",
    ];
    expect((await fetch(`${lacking.url}/twtxt.txt`)).headers.get("link")).toBeNull();
    expect(await lacking.end()).toBe(0);
    for (const line of lines) expect(lacking.output()).toContain(`${line}\n`);

    write({ host: "netlify", endpoint: "https://alice.example/webmention" });
    const names = [
      "SMTP_URL",
      "MAIL_TO",
      "WEBHOOK_URL",
      "NTFY_URL",
      "BUILD_HOOK_URL",
      "MENTIONS_TOKEN",
      "MODERATION_SECRET",
      "MASTODON_URL",
      "MASTODON_TOKEN",
    ];
    const value = "http://127.0.0.1/0123456789abcdef";
    const complete = await serve(alice, [], Object.fromEntries(names.map((name) => [`TWTXT_${name}`, value])));
    expect(await complete.end()).toBe(0);
    expect(complete.output()).not.toMatch(/: off \(|was built for|No copies/);
  });

  it("exit 1: the folder has the pages of a preview, which may contain drafts", async () => {
    const alice = site();
    const settings = JSON.parse(alice.read(".eleventy-twtxt/settings.json"));
    const starts = async (args: string[]) => (await (await serve(alice, args)).end()) === 0;
    alice.write("elsewhere/index.html", "home");
    alice.write(".eleventy-twtxt/settings.json", JSON.stringify({ ...settings, isDevelopment: true }));
    expect(await command(alice.folder, ["serve", "--port", "0"])).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /_site has the pages of a preview, and visitors may see drafts there\. Build the site first: npx @11ty\/eleventy\n$/,
      ),
    });
    expect(await starts(["--site", "elsewhere"])).toBe(true);

    const preview = { ...settings, isDevelopment: true, output: "../_preview/" };
    alice.write(".eleventy-twtxt/settings.json", JSON.stringify(preview));
    expect(await starts([])).toBe(true);
  });

  it("protects its folder from previews even after `git clean -X` has deleted the build's files", async () => {
    const alice = site();
    const preview = () => refuseServedFolder(alice.folder, "_site");
    await expect(preview()).resolves.toBeUndefined();
    const server = await serveProcess(alice);
    await expect(preview()).rejects.toThrow("visitors would see the drafts");
    symlinkSync("_site", join(alice.folder, "link"));
    await expect(refuseServedFolder(alice.folder, "link")).rejects.toThrow("visitors would see the drafts");
    for (const below of ["_site/sub", "link/not/there/yet"]) {
      await expect(refuseServedFolder(alice.folder, below)).rejects.toThrow("visitors would see the drafts");
    }
    await expect(refuseServedFolder(alice.folder, "_site-preview")).resolves.toBeUndefined();
    rmSync(join(alice.folder, ".eleventy-twtxt"), { recursive: true });
    await expect
      .poll(() => preview().catch(({ message }: Error) => message))
      .toContain("visitors would see the drafts");
    expect(await server.end()).toBe(0);
    await expect(preview()).resolves.toBeUndefined();
  });

  it("has endpoints on exact paths only, not on paths below them", async () => {
    const server = await serve(site());
    const status = async (path: string) => (await fetch(server.url + path)).status;
    expect([await status("/webmention"), await status("/mentions.json"), await status("/api/v1/mentions/x")]).toEqual([
      200, 200, 401,
    ]);
    expect([await status("/webmention/x"), await status("/mentions.json/x"), await status("/api/v1/x")]).toEqual([
      404, 404, 404,
    ]);
  });

  it.each([
    [["--port", "http"], "--port: expected a number from 0 to 65535"],
    [["--port", "65536"], "--port: expected a number from 0 to 65535"],
    [["--url", "alice.example"], '--url: expected an origin such as "https://alice.example"'],
    [["--allow-private-host", "127.0.0.1"], "--allow-private-host"],
    [["--rate-limit", "many"], "--rate-limit: expected a number"],
    [["here"], "expected no arguments"],
  ])("exit 2: %j", async (args, message) => {
    const { exitCode, stderr } = await command(site().folder, ["serve", ...args]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it("says what --url is for, and that pages and feed keep the URL of the site", async () => {
    const alice = site();
    const elsewhere = await serve(alice, ["--url", "http://localhost:9999"]);
    expect(elsewhere.output()).toContain(
      "Signed requests are accepted for http://localhost:9999: commands and the client need --url http://localhost:9999. Pages, feed and mentions keep https://alice.example; to change that, ",
    );
    const server = await serve(alice);
    expect(server.output()).not.toContain("Signed requests");
  });

  it("exit 2: the port is taken", async () => {
    const { port } = await feedServer({});
    const { exitCode, stderr } = await command(site().folder, ["serve", "--port", String(port)]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`Port ${port} of 127.0.0.1 is in use`)]);
  });

  it("exit 1: the folder of the site does not exist", async () => {
    const { exitCode, stderr } = await command(site().folder, ["serve", "--site", "gone"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/There is no site in \S+gone\. Build it/)]);
  });

  it("exit 1: the configuration of the bucket is incomplete", async () => {
    const { exitCode, stderr } = await command(site().folder, ["serve"], {
      environment: { TWTXT_S3_BUCKET: "alice", TWTXT_S3_REGION: "auto" },
    });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("TWTXT_S3_ENDPOINT and TWTXT_S3_ACCESS_KEY_ID and TWTXT_S3_SECRET_ACCESS_KEY"),
    ]);
  });

  it("exit 2: both a folder and a bucket are configured", async () => {
    const names = ["ENDPOINT", "BUCKET", "REGION", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY"];
    const environment = Object.fromEntries(
      names.map((name) => [`TWTXT_S3_${name}`, name === "ENDPOINT" ? "http://127.0.0.1:1" : "alice"]),
    );
    const { exitCode, stderr } = await command(site().folder, ["serve", "--store", "here"], { environment });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Leave one of them out")]);
  });

  it("exit 1: the folder of --store cannot be written", async () => {
    const { exitCode, stderr } = await command(site().folder, ["serve", "--store", "package.json"]);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^eleventy-twtxt: Data cannot be stored in \S+package\.json: it, or a folder above it, is a file\. Name/,
      ),
    ]);
  });

  it("exit 1: the site was not built", async () => {
    const { exitCode, stderr } = await command(blog({}, { "package.json": "{}" }).folder, ["serve"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Build the site")]);
  });
});
