import { utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { healthRoom } from "../../plugin/client/health/health-room.js";
import { FileStore } from "../../plugin/store/file.js";
import { checkedSite, sourceFolder } from "../cli/checked-site.js";
import { ALICES_DATA, dataEnvironment } from "../cli/helpers.js";
import { site } from "../cli/server.js";
import { hostFile } from "../helpers/built-site.js";
import { describeInChromium } from "../helpers/chromium.js";
import { eventually } from "../helpers/eventually.js";
import { PAGES, settingsOf } from "../helpers/receiver.js";
import { openTab } from "../helpers/tabs.js";
import { neighbour, world } from "../mentions/send/outgoing.js";
import { startedClient } from "./client.js";
import { expectFits } from "./looks.js";
import { shownText, type Visitor, visitorOf } from "./visitor.js";

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
      /Last build on this machine .* Data 0 bytes in .* eleventy-plugin-twtxt \d+\.\d+\.\d+ .*Node\.js 2\d\./,
    );
    expect(site.requests).toEqual([]);

    const page = await pageOfCheck(visitor);
    expect(page).toMatch(
      /1 thing to fix, checked .* To fix .*mentions\.json .*What to do: .* Sent since .* Data and versions .* \d+ checks passed /,
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
    expect(await pageOfCheck(visitor)).not.toContain("429");
    expect((await visitor.get("/health")).text).toContain("<code>openssl rand -hex 16</code>");
    expect(await pageOfCheck(visitor)).toMatch(
      /Nothing to fix, .*refuses requests from this machine for now \(429\).*What to do: An earlier check .*Check again in \d+ seconds\./,
    );
  });

  it("shows versions, and the mentions sent before and since the last build", async () => {
    const bob = await neighbour();
    const blog = site();
    const store = new FileStore(join(blog.folder, ALICES_DATA));
    const home = await world([bob], { store });
    home.alice.twts = { "2026-11-20T08:00:00Z": bob.mention };
    await home.send();
    const settings = { ...settingsOf({}), feedUrl: home.alice.feedUrl };
    for (const [path, content] of Object.entries(hostFile({ settings, pages: PAGES }))) blog.write(path, content);
    blog.write("package.json", '{ "version": "2.3.4" }');
    blog.write("node_modules/@11ty/eleventy/package.json", '{ "version": "3.1.2" }');
    const shown = async (built: string) => {
      utimesSync(join(blog.folder, ".eleventy-twtxt/host.json"), new Date(built), new Date(built));
      const client = await startedClient({
        rooms: [healthRoom],
        folder: blog.folder,
        environment: dataEnvironment(blog.folder),
      });
      return shownText((await (await visitorOf(client, "/health")).get("/health")).text);
    };
    expect(await shown("2026-11-19T00:00:00Z")).toMatch(
      /Sent since the last build on this machine 1 sent\. @bob \S+ sent 20 Nov 2026, \d\d:00 to \S+ Data and versions/,
    );
    expect(await shown("2026-11-21T00:00:00Z")).toMatch(
      /Sent since the last build on this machine Nothing was sent\. While eleventy-twtxt serve is running, .* Before: 1 sent @bob .* Data [1-9]\S* KiB in .* Eleventy 3\.1\.2 Node\.js 2\d\S+ Your site, in package\.json 2\.3\.4/,
    );
  });

  it("shows where to find the data of a site on Netlify", async () => {
    const blog = site({ host: "netlify" });
    const client = await startedClient({
      rooms: [healthRoom],
      folder: blog.folder,
      environment: dataEnvironment(blog.folder),
    });
    const page = shownText((await (await visitorOf(client, "/health")).get("/health")).text);
    expect(page).toMatch(/the logs of its functions twtxt-deploy-succeeded and twtxt-scheduled show what was sent\./);
    expect(page).toMatch(/Data in Netlify Blobs, .* eleventy-plugin-twtxt \S+ Node\.js \S+ /);
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
    const tab = await openTab();
    await tab.goto(client.link);
    await tab.waitForURL(`${client.origin}/health`);
    await tab.keyboard.press("c");
    await tab.locator("#findings").getByText("to fix, checked").waitFor();
    expect(await tab.locator(".notice:visible").count()).toBe(0);
    await tab.keyboard.press("j");
    expect(await tab.locator("[data-item]:focus").innerText()).toContain("mentions.json");
    await expectFits(tab, "health");
    await tab.getByText("checks passed").click();
    await expectFits(tab, "health-passed");
  });

  it("shows that the client has ended, and how to continue", async () => {
    const { folder } = site();
    const client = await startedClient({ rooms: [healthRoom], folder, environment: dataEnvironment(folder) });
    const tab = await openTab();
    await tab.goto(client.link);
    await tab.waitForURL(`${client.origin}/health`);
    const notice = tab.locator("#unanswered");
    expect(await notice.isVisible()).toBe(false);
    await client.close();
    await tab.evaluate("document.dispatchEvent(new Event('twtxt:news'))");
    await notice.getByText("eleventy-twtxt client").waitFor();
    await expectFits(tab, "ended");
  });
});
