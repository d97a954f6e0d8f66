import { Hono } from "hono";
import { raw } from "hono/html";
import { describe, expect, it } from "vitest";
import { BackgroundCount } from "../../plugin/client/background-run.js";
import type { ClientEnv } from "../../plugin/client/client-request.js";
import type { CreateRoom, News, Room } from "../../plugin/client/notices.js";
import { describeInChromium } from "../helpers/chromium.js";
import { eventually } from "../helpers/eventually.js";
import { openTab } from "../helpers/tabs.js";
import { startedClient } from "./client.js";
import { expectFits } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText } from "./visitor.js";

const TITLES = ["Timeline", "Write", "Mentions", "Messages", "Files", "Health"];

/** Six rooms. */
function rooms(given: Partial<Record<string, Partial<Room>>> = {}): CreateRoom[] {
  return TITLES.map((title) => () => {
    const routes = new Hono<ClientEnv>();
    routes.get("/", (c) => c.render("Nothing here.", { title }));
    const keys = [
      { key: "a", does: "approves" },
      { key: "x", does: "rejects" },
    ];
    return { title, path: `/${title.toLowerCase()}`, icon: "M5 5h14", keys, routes, ...given[title] };
  });
}

describe("the navigation", () => {
  it("shows the number of new items in each room, with a label for screen readers, and no number for zero", async () => {
    const news = (count: number, what: string) => ({ news: (): News => ({ count, what }) });
    const client = await startedClient({
      rooms: rooms({ Timeline: news(120, "new"), Mentions: news(3, "held"), Messages: news(0, "unread") }),
    });
    const { text } = await client.ask("/files", { headers: { cookie: await client.open() } });
    expect(shownText(text)).toContain("Timeline 99+ new Write Mentions 3 held Messages Files Health");
  });

  it("does not wait for a number of new items, and shows it once it is known", async () => {
    const reads: ((count: number) => void)[] = [];
    const ending = new AbortController();
    const read = () => new Promise<number>((resolve) => reads.push(resolve));
    const count = new BackgroundCount(read, { machine: { now: Date.now }, ending: ending.signal });
    expect([count.current, count.current]).toEqual([0, 0]);
    expect(reads).toHaveLength(1);
    reads[0]?.(4);
    await eventually(() => expect(count.current).toBe(4));
    count.set(3);
    expect(count.current).toBe(3);
    expect(reads).toHaveLength(1);
  });
});

describeInChromium("the frame of the client, in a browser", () => {
  it("has six rooms in one row at 320 pixels, with targets of 44 pixels", async () => {
    const news = () => ({ count: 12, what: "new" });
    const client = await startedClient({ rooms: rooms({ Timeline: { news }, Messages: { news } }) });
    const tab = await openPage(client, "/timeline", openTab({ viewport: { width: 320, height: 700 } }));
    const links = tab.locator("#rooms a");
    const boxes = await Promise.all((await links.all()).map((link) => link.boundingBox()));
    expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
    for (const box of boxes) {
      expect(box?.height).toBeGreaterThanOrEqual(44);
      expect(box?.width).toBeGreaterThanOrEqual(30);
    }
    const last = boxes.at(-1);
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual(320);
    await expectFits(tab, "frame");
  });

  it("lists the keys that have an effect on the page", async () => {
    const routes = new Hono<ClientEnv>();
    const item = '<ul><li data-item tabindex="-1"><button data-key="a">Approve</button></li></ul>';
    routes.get("/", (c) => c.render("", { title: "Mentions" }));
    routes.get("/held", (c) => c.render(raw(item), { title: "Held" }));
    const client = await startedClient({ rooms: rooms({ Mentions: { routes } }) });
    const tab = await openPage(client, "/mentions");
    const listed = async () => {
      await tab.keyboard.press("?");
      return tab.getByRole("dialog").locator("kbd:visible").allInnerTexts();
    };
    expect(await listed()).toEqual(["?"]);
    await tab.goto(`${client.origin}/mentions/held`);
    expect(await listed()).toEqual(["j", "k", "?", "a"]);
  });
});
