import { describe, expect, it } from "vitest";
import { loopbackServer } from "../../helpers/loopback.js";
import { FEED, feedServer, type ReceiverOptions, receiver } from "../../helpers/receiver.js";

const TIMES = ["2026-11-19T18:40:02Z", "2026-11-19T18:41:02Z"] as const;
const SECRET = "0123456789abcdef0123456789abcdef";
const DAY = 86_400_000;

/** Alice's site with held mentions of Bob, and the links that her phone got. */
async function notified({ count = 1, ...options }: ReceiverOptions & { count?: number } = {}) {
  const notes: { message: string; click: string }[] = [];
  const phone = await loopbackServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    notes.push(JSON.parse(body));
    response.end("{}");
  });
  const times = TIMES.slice(0, count);
  const bob = await feedServer(Object.fromEntries(times.map((time) => [time, `@<alice ${FEED}> <b>hello</b>`])));
  const alice = receiver({
    neighbours: [bob],
    mentions: { moderate: true },
    environment: { TWTXT_MODERATION_SECRET: SECRET, TWTXT_NTFY_URL: `${phone.url}/topic` },
    ...options,
  });
  for (const time of times) await alice.mentioned({ source: bob.twt(time), target: FEED });
  await alice.settled();
  const open = async (url: string, decision?: string) => {
    const body = decision === undefined ? null : new URLSearchParams({ decision }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const response = await alice.answer(new Request(url, body === null ? {} : { method: "POST", headers, body }));
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { alice, bob, notes, open, link: notes[0]?.click ?? "" };
}

const state = (text: string) => /<h1>(.*?)<\/h1>/.exec(text)?.[1];

describe("the link in a notification about a held mention", () => {
  it("shows the mention and changes nothing; its buttons approve and reject, and the page says how to change that", async () => {
    const { alice, open, link } = await notified();
    expect(link).toMatch(/^https:\/\/alice\.example\/moderate\/[0-9a-f]{32}\?k=[\w-]{43}$/);
    for (let again = 0; again < 2; again += 1) {
      const { status, headers, text } = await open(link);
      expect([status, state(text)]).toEqual([200, "bob mentioned you"]);
      expect(text).toContain("<p>@alice &lt;b&gt;hello&lt;/b&gt;</p>");
      expect(["cache-control", "referrer-policy", "x-robots-tag"].map((name) => headers.get(name))).toEqual([
        "private, no-store",
        "no-referrer",
        "noindex",
      ]);
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
    }
    expect(await alice.mentions()).toEqual([]);

    const { status, headers } = await open(link, "shown");
    expect([status, headers.get("location")]).toEqual([303, new URL(link).pathname + new URL(link).search]);
    expect(await alice.mentions()).toHaveLength(1);
    const { text } = await open(link);
    expect([state(text), text]).toEqual([
      "Approved",
      expect.stringMatching(/<code>npx eleventy-twtxt mentions reject [0-9a-f]{8}\.[0-9a-f]{8}<\/code>/),
    ]);
    // What is decided is changed with the key only.
    expect([(await open(link, "rejected")).status, (await alice.mentions()).length]).toEqual([200, 1]);
  });

  it("blocks a source for good: what is there is rejected, and new mentions are refused", async () => {
    const { alice, bob, notes, open, link } = await notified({ count: 2 });
    alice.clock.time += DAY;
    await alice.services.runScheduled();
    const second = notes[1]?.click ?? "";
    expect(state((await open(second)).text)).toBe("bob mentioned you");
    expect((await open(link)).text).toContain(`value="block">Block ${bob.feedUrl}</button>`);
    await open(link, "block");
    const { text } = await open(second);
    expect(state(text)).toBe("Rejected");
    expect(text).toContain(`<code>npx eleventy-twtxt mentions unblock ${bob.feedUrl}</code>`);
    const again = { source: bob.twt(TIMES[0]), target: FEED };
    expect(await alice.mentioned(again)).toMatchObject({ status: 400, code: "blocked" });
  });

  it("is no longer valid after seven days", async () => {
    const { alice, open, link } = await notified();
    alice.clock.time += 7 * DAY;
    expect((await open(link)).status).toBe(200);
    alice.clock.time += DAY;
    expect([(await open(link)).status, (await open(link, "shown")).status]).toEqual([410, 410]);
    expect(await alice.mentions()).toEqual([]);
  });

  it("is valid for one version of one mention", async () => {
    const { alice, bob, open, link } = await notified({ count: 2 });
    const other = link.replace(/moderate\/[0-9a-f]{32}/, `moderate/${"0".repeat(32)}`);
    expect((await open(other)).status).toBe(404);
    for (const key of ["", "?k=", "?k=AAAA", `?k=${"A".repeat(43)}`]) {
      expect([key, (await open(link.replace(/\?.*/, key))).status]).toEqual([key, 410]);
    }
    expect((await open(link)).status).toBe(200);
    bob.twts = { [TIMES[0]]: `@<alice ${FEED}> buy this` };
    await alice.mentioned({ source: bob.twt(TIMES[0]), target: FEED });
    expect((await open(link, "shown")).status).toBe(410);
    expect(await alice.mentions()).toEqual([]);
  });

  it("is off without a strong secret, which is logged", async () => {
    const { alice, link } = await notified({ environment: { TWTXT_MODERATION_SECRET: "secret" } });
    expect([link, alice.log]).toEqual([
      "",
      expect.arrayContaining([expect.stringMatching(/^TWTXT_MODERATION_SECRET: expected/)]),
    ]);
    const request = new Request(`https://alice.example/moderate/${"0".repeat(32)}?k=`);
    expect((await alice.answer(request)).status).toBe(404);
  });
});
