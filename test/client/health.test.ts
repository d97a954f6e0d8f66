import { describe, expect, it, vi } from "vitest";
import { healthRoom } from "../../plugin/client/health.js";
import { checkedSite, sourcesOf } from "../cli/checked-site.js";
import { describeInChromium, sharedChromium } from "../helpers/chromium.js";
import { startedClient } from "./client.js";
import { expectFits } from "./looks.js";
import { shownText, type Visitor, visitorOf } from "./visitor.js";

async function pageOfCheck(visitor: Visitor): Promise<string> {
  await visitor.submit("/health");
  return vi.waitFor(async () => {
    const page = shownText((await visitor.get("/health")).text);
    expect(page).toMatch(/to fix, checked/);
    return page;
  });
}

describe("the room of health", () => {
  it("checks the site as doctor does, only when it is asked to, and says what to do", async () => {
    const site = await checkedSite({
      answers: () => ({ "/mentions.json": (_, response) => response.writeHead(500).end() }),
    });
    const { folder } = sourcesOf(site);
    const visitor = await visitorOf(
      await startedClient({ rooms: [healthRoom], folder, hosts: [site.host] }),
      "/health",
    );
    const before = shownText((await visitor.get("/health")).text);
    expect(before).toContain("Not checked since the client was started.");
    expect(before).toMatch(/Last build .* Data 0 bytes in .* eleventy-plugin-twtxt \d+\.\d+\.\d+ Node\.js 2\d\./);
    expect(site.asked).toEqual([]);

    const page = await pageOfCheck(visitor);
    expect(page).toMatch(/1 thing to fix, checked .* To fix .*mentions\.json .*What to do: .* Good /);
    expect(page).toContain(`${site.feedUrl} is a feed with 2 twts`);
  });
});

describeInChromium("the room of health, in a browser", () => {
  it("is checked by key, fits all widths, and axe finds nothing", async () => {
    const site = await checkedSite({
      answers: () => ({ "/mentions.json": (_, response) => response.writeHead(500).end() }),
    });
    const { folder } = sourcesOf(site);
    const client = await startedClient({ rooms: [healthRoom], folder, hosts: [site.host] });
    const context = await (await sharedChromium()).newContext();
    const tab = await context.newPage();
    await tab.goto(client.link);
    await tab.waitForURL(`${client.origin}/health`);
    await tab.keyboard.press("c");
    await tab.locator(".notice").getByText("Checking your site").waitFor();
    await tab.locator("#findings").getByText("to fix, checked").waitFor();
    await tab.keyboard.press("j");
    expect(await tab.locator("[data-item]:focus").innerText()).toContain("mentions.json");
    await expectFits(tab, "health");
    await context.close();
  });
});
