import { beforeEach, describe, expect, it } from "vitest";
import { noteBuild, rebuildIfChanged } from "../../../plugin/mentions/inform/rebuild.js";
import type { StoredMention } from "../../../plugin/mentions/mention.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { listOf, storedMention } from "../../helpers/stored-mentions.js";

const HOUR = 3600_000;
const DAY = 24 * HOUR;

let stored: StoredMention[];
let store: Store;
let time: number;
let log: string[];
let hook: { url: string; requests: string[]; methods: string[]; status: number };

beforeEach(async () => {
  stored = [];
  store = memoryStore();
  time = Date.parse("2026-01-02T10:00:00.000Z");
  log = [];
  const methods: string[] = [];
  const { url, requests } = await loopbackServer((request, response) => {
    methods.push(request.method ?? "");
    request.resume().on("end", () => response.writeHead(hook.status).end());
  });
  hook = { url: `${url}/build_hooks/secret`, requests, methods, status: 200 };
});

/** One hourly run. */
function run(change: Partial<Parameters<typeof rebuildIfChanged>[0]> = {}) {
  return rebuildIfChanged({
    list: listOf(stored),
    store,
    now: () => time,
    url: hook.url,
    perDay: 1,
    perMonth: 5,
    isMetered: false,
    log: (line) => log.push(line),
    ...change,
  });
}

function addMention(change: Partial<StoredMention> = {}) {
  stored.push(
    storedMention({ received: new Date(time).toISOString(), id: `${stored.length}`.padStart(32, "0"), ...change }),
  );
}

/** A blog whose last build contains a mention. */
async function builtBlog() {
  addMention();
  await noteBuild({ list: listOf(stored), store });
}

describe("a rebuild", () => {
  it("is requested once, by POST, for a new shown mention, and logged without a word about another host", async () => {
    await builtBlog();
    await run();
    expect(hook.requests).toEqual([]);
    addMention();
    addMention();
    await run();
    time += 2 * DAY;
    await run();
    expect(hook).toMatchObject({ requests: ["/build_hooks/secret"], methods: ["POST"] });
    expect(log).toEqual(["Started rebuild 1 of at most 5 in 31 days."]);
  });

  it("is logged with its cost on a host that charges for builds", async () => {
    await builtBlog();
    addMention();
    await run({ isMetered: true });
    expect(log).toEqual([
      "Started rebuild 1 of at most 5 in 31 days. Each costs 15 of the 300 credits that a free team has per month.",
    ]);
  });

  it.each<[string, (mention: StoredMention) => StoredMention[]]>([
    ["is removed", () => []],
    ["is rejected", (mention) => [{ ...mention, state: "rejected" }]],
    ["has a new text", (mention) => [{ ...mention, text: "changed" }]],
  ])("is requested when a shown mention %s", async (_name, change) => {
    await builtBlog();
    stored = stored.flatMap(change);
    await run();
    expect(hook.requests).toHaveLength(1);
  });

  it("is not requested for a held mention until it is shown", async () => {
    await builtBlog();
    addMention({ state: "held" });
    await run();
    expect(hook.requests).toEqual([]);
    stored = stored.map((mention) => ({ ...mention, state: "shown" }));
    await run();
    expect(hook.requests).toHaveLength(1);
  });

  it("is not requested by the first run, or after the author deploys", async () => {
    addMention();
    await run();
    expect(hook.requests).toEqual([]);
    addMention();
    await noteBuild({ list: listOf(stored), store });
    await run();
    expect(hook.requests).toEqual([]);
  });

  it("counts towards the limit even after the deploy that it caused", async () => {
    await builtBlog();
    addMention();
    await run();
    await noteBuild({ list: listOf(stored), store });
    addMention();
    await run();
    expect(hook.requests).toHaveLength(1);
    time += DAY;
    await run();
    expect(log.at(-1)).toContain("2 of at most 5");
  });

  it("is requested at most perDay times in 24 hours, and then for all new mentions", async () => {
    await builtBlog();
    for (let hour = 0; hour < 49; hour += 1) {
      addMention();
      await run({ perDay: 2, perMonth: 100 });
      time += HOUR;
    }
    // Twice on each of two days, immediately and an hour later, and once on the third day.
    expect(hook.requests).toHaveLength(5);
  });

  it("is requested at most perMonth times in 31 days", async () => {
    await builtBlog();
    for (let day = 0; day < 31; day += 1) {
      addMention();
      await run();
      time += DAY;
    }
    expect(hook.requests).toHaveLength(5);
    expect(log.at(-1)).toContain("5 of at most 5 in 31 days");
    await run();
    expect(hook.requests).toHaveLength(6);
  });

  it.each([{ perDay: 0 }, { perMonth: 0 }])("is never requested with %o", async (none) => {
    await builtBlog();
    addMention();
    await run(none);
    expect(hook.requests).toEqual([]);
  });

  it("is requested by one of two concurrent runs", async () => {
    await builtBlog();
    addMention();
    await Promise.all([run(), run(), run()]);
    expect(hook.requests).toHaveLength(1);
  });

  it("that fails counts, is logged without the hook's URL, and is retried by a later run", async () => {
    await builtBlog();
    addMention();
    hook.status = 500;
    await run();
    await run();
    expect(hook.requests).toHaveLength(1);
    expect(log).toEqual([expect.stringContaining("TWTXT_BUILD_HOOK_URL answered 500")]);
    expect(log[0]).not.toContain("secret");
    hook.status = 200;
    time += DAY;
    await run();
    time += DAY;
    await run();
    expect(hook.requests).toHaveLength(2);
    expect(log[1]).toContain("2 of at most 5");
  });

  it("is not repeated if a run ended before it received the response", async () => {
    await builtBlog();
    addMention();
    const ends = () => {
      throw new Error("the process ends");
    };
    await expect(run({ log: ends })).rejects.toThrow("the process ends");
    expect(hook.requests).toHaveLength(1);
    time += 2 * DAY;
    await run();
    expect(hook.requests).toHaveLength(1);
    addMention();
    await run();
    expect(hook.requests).toHaveLength(2);
  });
});
