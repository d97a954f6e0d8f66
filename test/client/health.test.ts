import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../plugin/author/doctor/check.js";
import { checkToldCopies } from "../../plugin/author/network-accounts.js";
import { healthRoom } from "../../plugin/client/health/health-room.js";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { formatIdentity } from "../../plugin/keys/identity.js";
import { formatKey } from "../../plugin/keys/key.js";
import { writeJson } from "../../plugin/store/json.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { checkedSite, sourceFolder } from "../cli/checked-site.js";
import { command, dataEnvironment, testTerminal } from "../cli/helpers.js";
import { environmentOf, KEY_FILE } from "../cli/machine.js";
import { freePort, serve, site } from "../cli/server.js";
import { hostFile } from "../helpers/built-site.js";
import { describeInChromium } from "../helpers/chromium.js";
import { eventually } from "../helpers/eventually.js";
import { PAGES, settingsOf, TWT } from "../helpers/receiver.js";
import { neighbour, world } from "../mentions/send/outgoing.js";
import { startedClient } from "./client.js";
import { expectAccessible } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText, type Visitor, visitorOf } from "./visitor.js";

function authorOf(seed: Uint8Array) {
  const key = formatKey(toSecretKey(seed).publicKey);
  return { user: "alice", address: "alice@alice.example", key, endpoint: null };
}

async function pageOfCheck(visitor: Visitor): Promise<string> {
  await visitor.submit("/health");
  return eventually(async () => {
    const page = shownText((await visitor.get("/health")).text);
    expect(page).toMatch(/to fix, checked/);
    return page;
  });
}

/** Starts the client of a site that `doctor` can check. */
function clientOf(site: Awaited<ReturnType<typeof checkedSite>>) {
  const { folder } = sourceFolder(site);
  return startedClient({ rooms: [healthRoom], folder, environment: dataEnvironment(folder), hosts: [site.host] });
}

/** A site that has sent a mention and withdrawn it, and runs on a server with a store of its own. */
async function servedElsewhere() {
  const bob = await neighbour();
  const seed = new Uint8Array(32).fill(3);
  const blog = site({ authors: [authorOf(seed)] });
  const server = { ...dataEnvironment(blog.folder), XDG_DATA_HOME: join(blog.folder, "server") };
  const store = new SqliteStore(join(blog.folder, "server/eleventy-twtxt/sites/alice.example/store"));
  const home = await world([bob], { store });
  home.alice.twts = { "2026-11-20T08:00:00Z": bob.mention };
  await home.send();
  home.alice.twts = {};
  home.clock.time += 3600_000;
  await home.send();
  const settings = { ...settingsOf({}), authors: [authorOf(seed)], feedUrl: home.alice.feedUrl };
  const threads = { "https://mastodon.example/@alice/1 page": { published: 0, read: 0, trouble: "It is gone." } };
  await writeJson(store, "networks/threads", { threads, servers: {} });
  const pages = { ...PAGES, twts: [{ ...TWT, copy: { networks: ["bluesky" as const] } }] };
  for (const [path, content] of Object.entries(hostFile({ settings, pages }))) blog.write(path, content);
  blog.write("package.json", '{ "version": "2.3.4" }');
  blog.write("node_modules/@11ty/eleventy/package.json", '{ "version": "3.1.2" }');
  blog.write(KEY_FILE, formatIdentity(seed, { address: "alice@alice.example", created: null }));
  chmodSync(join(blog.folder, KEY_FILE), 0o600);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const running = await serve(blog, ["--port", String(port), "--url", url], server);
  return { blog, url, running };
}

describe("the room of health", () => {
  it("checks the site as doctor does, only on request, and shows what to do", async () => {
    const site = await checkedSite({
      handlers: () => ({ "/mentions.json": (_, response) => response.writeHead(500).end() }),
    });
    const { folder } = sourceFolder(site);
    const visitor = await visitorOf(
      await startedClient({ rooms: [healthRoom], folder, environment: dataEnvironment(folder), hosts: [site.host] }),
      "/health",
    );
    const before = shownText((await visitor.get("/health")).text);
    expect(before).toContain("Not checked since the client was started.");
    expect(before).toMatch(
      /On this machine Last build .* Data 0 bytes in .* eleventy-plugin-twtxt \d+\.\d+\.\d+ .*Node\.js 2\d\./,
    );
    expect(site.requests).toEqual([]);

    const page = await pageOfCheck(visitor);
    expect(page).toMatch(
      /1 thing to fix, checked .* To fix .*mentions\.json .*What to do: .* Sent mentions .* On this machine .* \d+ checks passed /,
    );
    expect(page.slice(page.indexOf("checks passed"))).toContain(`${site.feedUrl} is a feed with 2 twts`);
  });

  it("shows a running check, and only without JavaScript that the page must be reloaded", async () => {
    let answered = () => {};
    const isAnswered = new Promise<void>((resolve) => (answered = resolve));
    const site = await checkedSite({
      handlers: () => ({
        "/mentions.json": (_, response) => void isAnswered.then(() => response.writeHead(500).end()),
      }),
    });
    const { folder } = sourceFolder(site);
    const visitor = await visitorOf(
      await startedClient({ rooms: [healthRoom], folder, environment: dataEnvironment(folder), hosts: [site.host] }),
      "/health",
    );
    expect((await visitor.post("/health")).headers.get("location")).toBe("/health");
    const { text } = await visitor.get("/health");
    expect(text).toMatch(/<p data-busy[^>]*>Checking… \(up to half a minute\) <span class="unscripted">Reload /);
    answered();
  });

  it("shows commands as code, and recognizes a rate limit that the previous check caused", async () => {
    const site = await checkedSite();
    const client = await clientOf(site);
    const visitor = await visitorOf(client, "/health");
    expect(await pageOfCheck(visitor)).not.toContain("(429)");
    expect((await visitor.get("/health")).text).toContain("<code>openssl rand -hex 16</code>");
    expect(await pageOfCheck(visitor)).toMatch(
      /Nothing to fix, .*refuses requests from this machine for now \(429\).*What to do: An earlier check .*Check again in \d+ seconds\./,
    );
  });

  it("asks the site what it has sent, stores and runs, and names what only this machine knows", async () => {
    const { blog, url, running } = await servedElsewhere();
    const shown = async () => {
      const client = await startedClient({
        ...{ rooms: [healthRoom], folder: blog.folder, url },
        environment: environmentOf(blog.folder),
      });
      return shownText((await (await visitorOf(client, "/health")).get("/health")).text);
    };
    const told = await shown();
    expect(told).toMatch(
      /Sent mentions 1 withdrawn\. @bob \S+ removed, told 20 Nov 2026, \d\d:00 at \S+ At alice\.example Copies on Bluesky not posted: TWTXT_BLUESKY_HANDLE and TWTXT_BLUESKY_PASSWORD are not set at the host Answers not read https:\/\/mastodon\.example\/@alice\/1: It is gone\. Messages none Files none Stored values \d+ eleventy-plugin-twtxt \d\S+ Node\.js 2\d\S+ On this machine Last build .* Eleventy 3\.1\.2 Node\.js 2\d\S+ Your site, in package\.json 2\.3\.4/,
    );
    expect(told).not.toContain("could not be asked");
    const machine = testTerminal(blog.folder, new Date().toISOString());
    const choice = { url, settings: undefined, identity: undefined };
    const findings: Finding[] = [];
    const checks = checkToldCopies(choice, { ...machine, environment: environmentOf(blog.folder) });
    for await (const finding of checks) findings.push(finding);
    expect(findings).toMatchObject([
      {
        level: "fix",
        what: expect.stringMatching(/^No copies are posted on Bluesky: .* are not set at the host\.$/),
        todo: expect.stringMatching(/^Create new secrets, .* accounts add bluesky HANDLE$/),
      },
      { level: "note", what: "Answers to https://mastodon.example/@alice/1 are not read. It is gone." },
    ]);

    const listed = await command(blog.folder, ["send", "--list", "--url", url]);
    expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("removed, told 2026-11-20T") });
    expect(listed.stderr).toBe("1 withdrawn.\n");

    await running.end();
    expect(await shown()).toMatch(
      /alice\.example could not be asked\. \S+ could not be reached: ECONNREFUSED\. .* This is what this machine knows, not what the site knows\. Nothing was sent\. .* Data 0 bytes in /,
    );
    const alone = await command(blog.folder, ["send", "--list", "--url", url]);
    expect(alone.stderr).toMatch(
      /^Your site could not be asked\. .*ECONNREFUSED.*\nThis is what this machine knows, not what your site knows:\nNo mentions were sent yet\.\n$/,
    );
  });

  it("says that only the site knows, if a site on Netlify cannot be asked", async () => {
    const blog = site({ host: "netlify" });
    const client = await startedClient({
      rooms: [healthRoom],
      folder: blog.folder,
      environment: dataEnvironment(blog.folder),
    });
    const page = shownText((await (await visitorOf(client, "/health")).get("/health")).text);
    expect(page).toMatch(/alice\.example could not be asked\. .* Only the site knows what it has sent\. /);
    expect(page).not.toMatch(/ Data /);
  });

  it("shows that the network is down, and what to do", async () => {
    const { folder } = site({ feedUrl: "http://alice.invalid/twtxt.txt" });
    const client = await startedClient({ rooms: [healthRoom], folder, environment: dataEnvironment(folder) });
    const page = await pageOfCheck(await visitorOf(client, "/health"));
    expect(page).toMatch(
      /There is no server for \S+ its name is unknown .*What to do: Check the network of this machine/,
    );
  });
});

describeInChromium("the room of health, in a browser", () => {
  it("starts a check with a key, fits all widths, and axe finds no violations", async () => {
    const site = await checkedSite({
      handlers: () => ({ "/mentions.json": (_, response) => response.writeHead(500).end() }),
    });
    const client = await clientOf(site);
    const tab = await openPage(client, "/health");
    await tab.keyboard.press("c");
    await tab.locator("#findings").getByText("to fix, checked").waitFor();
    expect(await tab.locator(".notice:visible").count()).toBe(0);
    await tab.keyboard.press("j");
    expect(await tab.locator("[data-item]:focus").innerText()).toContain("mentions.json");
    await tab.getByText("checks passed").click();
    await expectAccessible(tab, "health-passed");
  });

  it("shows what the site tells, at all widths", async () => {
    const { blog, url } = await servedElsewhere();
    const client = await startedClient({
      ...{ rooms: [healthRoom], folder: blog.folder, url },
      environment: environmentOf(blog.folder),
    });
    const tab = await openPage(client, "/health");
    await tab.getByText("removed, told").waitFor();
    await expectAccessible(tab, "health-told");
  });

  it("shows that the client has ended, and how to continue", async () => {
    const { folder } = site();
    const client = await startedClient({ rooms: [healthRoom], folder, environment: dataEnvironment(folder) });
    const tab = await openPage(client, "/health");
    const notice = tab.locator("#unanswered");
    expect(await notice.isVisible()).toBe(false);
    await client.close();
    await tab.evaluate("document.dispatchEvent(new Event('twtxt:news'))");
    await notice.getByText("eleventy-twtxt client").waitFor();
    await expectAccessible(tab, "ended");
  });
});
