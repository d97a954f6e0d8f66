import { expect, it } from "vitest";
import { loadSite } from "../../../plugin/author/site.js";
import { LiveTimeline } from "../../../plugin/author/timeline/live-timeline.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { blog } from "../../cli/helpers.js";
import { builtSite } from "../../helpers/built-site.js";
import { eventually } from "../../helpers/eventually.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { loopbackServer } from "../../helpers/loopback.js";

async function openTimeline(now = Date.now) {
  const feed = await loopbackServer((_, response) => response.end("2026-11-18T09:00:00Z\tHello.\n"));
  const { url } = feed;
  const { settings } = builtSite(url);
  Object.assign(settings, { feedUrl: `${url}/twtxt.txt` });
  const machine = {
    ...blog(settings),
    environment: {},
    now,
    say: () => {},
    ended: () => new Promise<never>(() => {}),
  };
  const store = faultyStore(memoryStore());
  const ended = new AbortController();
  const timeline = await LiveTimeline.open({
    site: await loadSite(machine),
    choice: { url: undefined, "allow-private-host": ["127.0.0.1"] },
    store,
    machine,
    ending: ended.signal,
    faultText: (error) => (error as Error).message,
  });
  const reads = () => feed.requests.filter((path) => path === "/twtxt.txt").length;
  return { timeline, store, reads, end: () => ended.abort() };
}

it("an error in the background is reported until a refresh succeeds", async () => {
  const { timeline, store, end } = await openTimeline();
  store.fail({ when: "before", operation: "put", times: 1 });
  timeline.refreshIfDue();
  await eventually(() => expect(timeline.fault).toContain("The store was down"));
  expect(timeline.threads).toHaveLength(1);

  await timeline.refresh();
  expect(timeline.fault).toBeNull();
  end();
});

it("the feeds are read at most every five minutes, for any number of pages, and never after shutdown", async () => {
  const clock = { time: Date.now() };
  const { timeline, reads, end } = await openTimeline(() => clock.time);
  const show = async () => {
    for (let page = 0; page < 3; page += 1) timeline.refreshIfDue();
    await eventually(() => expect(timeline.isReading).toBe(false));
  };
  await show();
  await show();
  expect(reads()).toBe(1);
  clock.time += 5 * 60_000;
  await show();
  expect(reads()).toBe(2);
  end();
  clock.time += 5 * 60_000;
  await show();
  expect(reads()).toBe(2);
});
