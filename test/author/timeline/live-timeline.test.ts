import { expect, it } from "vitest";
import { siteAt } from "../../../plugin/author/site.js";
import { LiveTimeline } from "../../../plugin/author/timeline/live-timeline.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { blog } from "../../cli/helpers.js";
import { builtSite } from "../../helpers/built-site.js";
import { eventually } from "../../helpers/eventually.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { loopbackServer } from "../../helpers/loopback.js";

it("a round in the background that fails says why, until one works", async () => {
  const { url } = await loopbackServer((_, response) => response.end("2026-11-18T09:00:00Z\tHello.\n"));
  const { settings } = builtSite(url);
  Object.assign(settings, { feedUrl: `${url}/twtxt.txt` });
  const machine = {
    ...blog(settings),
    environment: {},
    now: Date.now,
    say: () => {},
    ended: () => new Promise<never>(() => {}),
  };
  const store = faultyStore(memoryStore());
  const ended = new AbortController();
  const timeline = await LiveTimeline.open({
    site: await siteAt(machine),
    choice: { url: undefined, "allow-private-host": ["127.0.0.1"] },
    store,
    machine,
    ending: ended.signal,
    faultText: (error) => (error as Error).message,
  });

  store.fail({ when: "before", operation: "put", times: 1 });
  timeline.start();
  await eventually(() => expect(timeline.fault).toContain("The store was down"));
  expect(timeline.threads).toHaveLength(1);

  await timeline.refresh();
  expect(timeline.fault).toBeNull();
  ended.abort();
});
