import { describe, expect, it } from "vitest";
import type { CreateRoom } from "../../plugin/client/notices.js";
import { timelineRoom } from "../../plugin/client/timeline/timeline-room.js";
import { writeRoom } from "../../plugin/client/write/write-room.js";
import type { Clock } from "../../plugin/clock.js";
import { twtHash } from "../../plugin/feed/hash.js";
import { formatTimestamp } from "../../plugin/feed/timestamp.js";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { hostSettings } from "../../plugin/site/site.js";
import { blog } from "../cli/helpers.js";
import { environmentOf } from "../cli/machine.js";
import { builtSite, hostFile } from "../helpers/built-site.js";
import { describeInChromium } from "../helpers/chromium.js";
import { eventually } from "../helpers/eventually.js";
import { loopbackServer } from "../helpers/loopback.js";
import { openTab } from "../helpers/tabs.js";
import { type ClientUnderTest, type Got, startedClient } from "./client.js";
import { expectAccessible } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText, visitorOf } from "./visitor.js";

const HOSTILE =
  '<script>document.title = "run"</script> <img src=x onerror=alert(1)> https://evil.example/"onmouseover=alert(1)';

/** Alice, who follows Bob. Both feeds and the list of her site's mentions are on one server. */
async function reader() {
  const feeds: Record<string, string | null> = {};
  const server = await loopbackServer((request, response) => {
    const feed = feeds[request.url ?? ""];
    if (typeof feed === "string") response.end(feed);
    else response.writeHead(feed === null ? 503 : 404).end();
  });
  const url = (name: string) => `${server.url}/${name}.txt`;
  const bobs = { timestamp: "2026-11-18T08:00:00Z", text: "The **first** frost." };
  const hash = twtHash(url("bob"), bobs);
  feeds["/bob.txt"] =
    `# nick = bob\n# url = ${url("bob")}\n${bobs.timestamp}\t${bobs.text}\n2026-11-19T08:00:00Z\t${HOSTILE}\n`;
  const alices = { timestamp: "2026-11-18T09:00:00Z", text: `(#${hash}) Here, too.` };
  feeds["/alice.txt"] = `# nick = alice\n# url = ${url("alice")}\n${alices.timestamp}\t${alices.text}\n`;
  const page = `${server.url}/notes/frost/`;
  const mentions = (all: PublicMention[]) => {
    feeds["/mentions.json?limit=100"] = JSON.stringify({ mentions: all, next: null });
  };
  mentions([]);
  const file = "_data/follow.json";
  const { settings } = builtSite(server.url);
  Object.assign(settings, { feedUrl: url("alice"), followed: { file, option: [] } });
  const ownTwt = { timestamp: alices.timestamp, hashes: [twtHash(url("alice"), alices)], page, replyTo: hash };
  const pages = { feeds: [url("alice")], pages: [page], twts: [ownTwt] };
  const machine = blog(settings, {
    [file]: JSON.stringify([{ nick: "bob", url: url("bob") }]),
    ...hostFile({ settings: hostSettings(settings), pages }),
  });
  const { folder } = machine;
  const startedWith = (rooms: CreateRoom[], now = Date.now) =>
    startedClient({ rooms, folder, environment: environmentOf(folder), now });
  const started = (now?: Clock) => startedWith([timelineRoom], now);
  return { feeds, url, bobs: { ...bobs, hash }, page, mentions, machine, file, started, startedWith };
}

/** A mention from a page of Carol's. */
function received(mention: Partial<PublicMention> & Pick<PublicMention, "target">): PublicMention {
  return {
    ...{
      source: "https://carol.example/on-frost",
      under: null,
      type: "mention",
      text: "Frost at Alice's.",
      html: null,
    },
    ...{ hash: null, hashV1: null, replyTo: null, published: null, received: "2026-11-18T10:00:00.123Z" },
    author: { name: "Carol", url: "https://carol.example/", photo: null },
    ...mention,
  };
}

function dayOf(day: number): string {
  return formatTimestamp(Date.parse("2026-09-01T00:00:00Z") + day * 86_400_000).slice(0, 10);
}

async function whenRead(client: ClientUnderTest) {
  const visitor = await visitorOf(client, "/timeline");
  await eventually(async () => expect((await visitor.get("/timeline")).text).toMatch(/Read \d/));
  return visitor;
}

describe("the room of the timeline", () => {
  it("shows followed feeds and the author's twts as conversations, and marks new ones", async () => {
    const { feeds, url, started } = await reader();
    const visitor = await whenRead(await started());
    const { text } = await visitor.get("/timeline");
    expect(shownText(text)).toMatch(/bob .*first frost\. Reply to bob You .*Here, too\./);
    expect(text).toContain("The <strong>first</strong> frost.");
    expect(text).not.toContain("<script>document");

    feeds["/bob.txt"] = `${feeds["/bob.txt"]}${new Date().toISOString().slice(0, 19)}Z\tJust now.\n`;
    const again = await visitor.submit("/timeline");
    expect(shownText(again.text)).toMatch(/bob .* new Just now\./);
    expect(again.text.match(/>new</g)).toHaveLength(1);
    expect(again.text).toContain(url("bob"));
  });

  it("shows received mentions in their conversations, and a mention that is also a twt of a followed feed once", async () => {
    const { url, bobs, page, mentions, started } = await reader();
    const feed = { target: url("alice"), source: `${url("bob")}#:~:text=${bobs.timestamp}`, text: bobs.text };
    mentions([
      received({ target: page, title: "Frost & fog", type: "reply", text: "Here it is warm." }),
      received({
        target: page,
        type: "like",
        text: "",
        source: "https://dave.example/likes",
        received: new Date().toISOString(),
      }),
      received({ ...feed, hash: bobs.hash, author: { name: "bob", url: url("bob"), photo: null } }),
    ]);
    const visitor = await whenRead(await started());
    const { text } = await visitor.get("/timeline");
    expect(text.match(/first<\/strong> frost/g)).toHaveLength(1);
    expect(shownText(text)).toMatch(
      /first frost\. Reply to bob You replied 18 Nov .*Here, too\. Reply to your twt Carol replied to Frost &amp; fog 18 Nov .* Here it is warm\. Reply to Carol Carol , via dave\.example likes \/notes\/frost\//,
    );
    expect(text).toContain(`replied to <a href="${page}"><cite dir="auto">Frost &amp; fog</cite></a>`);
    expect(text).toMatch(new RegExp(`<a href="${page}"[^>]*><time datetime="2026-11-18T09:00:00Z"`));
  });

  it("shows a mention by a page as the site does, also one whose text is that of a twt", async () => {
    const { url, bobs, page, mentions, started } = await reader();
    const words = {
      text: `(#${bobs.hash}) @<alice ${url("alice")}> Here *too*.`,
      html: "<p>@alice Here <em>too</em>.</p>",
    };
    mentions([received({ target: page, type: "reply", hash: "abcdefghijkl", ...words })]);
    const { text } = await (await whenRead(await started())).get("/timeline");
    expect(text).toContain("@alice Here <em>too</em>.");
    expect(shownText(text)).not.toContain(`(#${bobs.hash})`);
  });

  it("has pages, newest conversations first, each of which links to the next, for any number of a page", async () => {
    const { feeds, url, started } = await reader();
    const twts = Array.from({ length: 100 }, (_, n) => `${dayOf(n)}T08:00:00Z\ttwt ${n}.`);
    feeds["/bob.txt"] = `# nick = bob\n# url = ${url("bob")}\n${twts.join("\n")}\n`;
    const visitor = await whenRead(await started(() => Date.parse("2027-01-01T00:00:00Z")));
    const seen: string[] = [];
    for (let path: string | null = "/timeline"; path !== null; ) {
      const { text }: { text: string } = await visitor.get(path);
      seen.push(...[...text.matchAll(/>(twt \d+)\./g)].map(([, twt = ""]) => twt));
      expect((text.match(/<a href="([^"]*)">Newer conversations/)?.[1] ?? null) === null).toBe(path === "/timeline");
      path = text.match(/<a href="([^"]*)">Older conversations/)?.[1]?.replaceAll("&amp;", "&") ?? null;
    }
    expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => `twt ${99 - n}`));
    for (const wrong of ["0", "-1", "x", "1e9", "NaN"]) {
      expect((await visitor.get(`/timeline?page=${wrong}`)).status).toBe(200);
    }
    expect((await visitor.get("/timeline?page=2&notice=x")).text).toContain('<a href="/timeline">Newer conversations');
  });

  it("opens the composer with the subject and the mention of a root, a reply and a received mention", async () => {
    const { url, page, bobs, mentions, startedWith } = await reader();
    const carol = {
      author: { name: "Carol Smith", url: url("carol"), photo: null },
      hash: "abcdefg",
    };
    mentions([
      received({ target: page, type: "reply", ...carol, source: `${carol.author.url}#:~:text=2026-11-18T10:00:00Z` }),
      received({ target: page, type: "reply", source: "https://dave.example/frost" }),
    ]);
    const visitor = await whenRead(await startedWith([timelineRoom, writeRoom]));
    const { text } = await visitor.get("/timeline");
    const links = [...text.matchAll(/href="(\/write\?reply-to=[^"]+)"/g)].map(([, link = ""]) => link);
    const composers = await Promise.all(links.map(async (link) => (await visitor.get(link)).text));
    const names = composers.map((composer) => /name="replyTo"[^>]* value="([^"]*)"/.exec(composer)?.[1]);
    expect(names).toEqual(
      expect.arrayContaining([
        `${bobs.hash} bob ${url("bob")}`,
        expect.stringMatching(/^[a-z2-7]{12} alice http.*alice\.txt$/),
        `abcdefg ${url("carol")}`,
      ]),
    );
    // A page has no hash, so a reply is a note with its link.
    expect(composers.filter((composer) => composer.includes(">https://dave.example/frost"))).toHaveLength(1);
  });

  it("keeps the last known mentions while the site is down, and shows why", async () => {
    const { feeds, page, mentions, started } = await reader();
    mentions([received({ target: page, type: "reply", text: "Here it is warm." })]);
    await whenRead(await started());
    feeds["/mentions.json?limit=100"] = null;
    const again = await whenRead(await started());
    const shown = shownText((await again.get("/timeline")).text);
    expect(shown).toMatch(/mentions of your site could not be read.*answers 503/);
    expect(shown).toMatch(/first frost\. .*Here it is warm\./);
  });

  it("marks new twts until the next visit, equally in all tabs, and counts those that no page has shown yet", async () => {
    const { feeds, started } = await reader();
    const clock = { time: Date.now() };
    const client = await started(() => clock.time);
    const visitor = await whenRead(client);
    const marks = (page: Got) => page.text.match(/>new</g)?.length ?? 0;
    const isCounted = (page: Got) => shownText(page.text).includes("Timeline 1 new");
    feeds["/bob.txt"] += `${formatTimestamp(clock.time)}\tJust now.\n`;
    expect((await visitor.post("/timeline")).status).toBe(303);
    expect(isCounted(await visitor.get("/timeline/following"))).toBe(true);

    const refreshed = await visitor.get("/timeline", { "sec-fetch-dest": "empty" });
    expect([marks(refreshed), isCounted(refreshed)]).toEqual([1, true]);
    for (const tab of [await visitor.get("/timeline"), await visitor.get("/timeline")]) {
      expect([marks(tab), isCounted(tab)]).toEqual([1, false]);
    }
    clock.time += 11 * 60_000;
    expect(marks(await visitor.get("/timeline"))).toBe(0);

    await client.close();
    feeds["/bob.txt"] += `${formatTimestamp(clock.time)}\tLater.\n`;
    const nextDay = await whenRead(await started(() => clock.time));
    const page = await nextDay.get("/timeline");
    expect(marks(page)).toBe(1);
    expect(shownText(page.text)).toMatch(/bob .* new Later\./);
  });

  it("shows the last known twts of feeds that do not respond, and names these feeds", async () => {
    const { feeds, started } = await reader();
    await whenRead(await started());
    feeds["/bob.txt"] = null;
    const visitor = await whenRead(await started());
    const page = shownText((await visitor.get("/timeline")).text);
    expect(page).toMatch(/1 feed could not be read @bob answers with an error; last read .*first frost\./);
  });

  it("follows and unfollows only in the file, not in the configuration", async () => {
    const { feeds, url, machine, file, started } = await reader();
    feeds["/carol.txt"] = "# nick = carol\n2026-11-17T08:00:00Z\tHello from carol.\n";
    const visitor = await whenRead(await started());
    const followed = await visitor.submit("/timeline/following", { url: url("carol") });
    expect(shownText(followed.text)).toContain(
      `Following @carol, ${url("carol")}. Your next build adds it. The page Publish includes _data/follow.json with your next post`,
    );
    expect(JSON.parse(machine.read(file))).toHaveLength(2);
    await eventually(async () => expect((await visitor.get("/timeline")).text).toContain("Hello from carol."));

    const unfollowed = await visitor.submit("/timeline/following/remove", { url: url("bob") });
    expect(shownText(unfollowed.text)).toContain("No longer following @bob, ");
    expect(JSON.parse(machine.read(file))).toEqual([{ nick: "carol", url: url("carol") }]);
    expect(shownText((await visitor.undo(unfollowed)).text)).toContain(`Following @bob, ${url("bob")}.`);
    expect(JSON.parse(machine.read(file))).toHaveLength(2);
    const wrong = await visitor.submit("/timeline/following", { url: url("alice") });
    expect(shownText(wrong.text)).toContain("is your own feed");
    const nick = await visitor.submit("/timeline/following", { url: "bob" });
    expect(shownText(nick.text)).toContain("is not the URL of a feed. Expected one such as");
    expect(nick.text, "what was typed is kept").toContain('name="url" type="url" value="bob"');
  });

  it("follows each of several concurrently followed feeds once, and unfollows all", async () => {
    const { feeds, url, machine, file, started } = await reader();
    const names = ["carol", "dave", "erin", "frank"];
    for (const name of names) feeds[`/${name}.txt`] = `# nick = ${name}\n`;
    const visitor = await visitorOf(await started(), "/timeline/following");
    const post = (path: string, name: string) => visitor.post(`/timeline/following${path}`, { url: url(name) });
    const nicks = () => JSON.parse(machine.read(file)).map(({ nick }: { nick: string }) => nick);
    await Promise.all([...names, ...names].map((name) => post("", name)));
    expect(nicks().sort()).toEqual(["bob", ...names]);
    await Promise.all(names.map((name) => post("/remove", name)));
    expect(nicks()).toEqual(["bob"]);
  });
});

describeInChromium("the room of the timeline, in a browser", () => {
  it("shows new twts without a reload, and keeps the scroll position and the focus", async () => {
    const { feeds, url, started } = await reader();
    feeds["/bob.txt"] += Array.from({ length: 40 }, (_, day) => `${dayOf(day)}T08:00:00Z\tDay ${day}.\n`).join("");
    const client = await started();
    const tab = await openPage(client, "/timeline", openTab({ viewport: { width: 390, height: 700 } }));
    const read = tab.locator("[data-item]", { hasText: "Day 20." });
    await read.waitFor();
    await tab.getByText(/^Read \d/).waitFor();
    await read.focus();
    await tab.evaluate("document.activeElement.scrollIntoView({ block: 'start' })");
    const place = async () => (await read.boundingBox())?.y ?? Number.NaN;
    const before = await place();
    // Browsers scroll by whole pixels.
    const moved = async () => Math.abs((await place()) - before);

    const news = async (text: string, subject = "") => {
      feeds["/bob.txt"] += `${formatTimestamp(Date.now())}\t${subject}${text}\n`;
      await tab.evaluate(`fetch("/timeline", { method: "POST", redirect: "manual",
        body: new URLSearchParams(new FormData(document.querySelector("form"))) })`);
      await tab.evaluate('document.dispatchEvent(new Event("twtxt:news"))');
      await tab.getByText(text).waitFor({ state: "attached" });
    };
    await news("Just now.");
    expect(await moved()).toBeLessThan(2);
    expect(await tab.locator("[data-item]:focus").innerText()).toContain("Day 20.");
    const hash = twtHash(url("bob"), { timestamp: `${dayOf(20)}T08:00:00Z`, text: "Day 20." });
    await news("A reply to what has the focus.", `(#${hash}) `);
    expect(await read.locator("[data-item]").innerText()).toContain("A reply to what has the focus.");
    expect(await moved()).toBeLessThan(2);
    expect(await tab.locator("[data-item]:focus").innerText()).toContain("Day 20.");
    await tab.evaluate("document.activeElement.blur()");
    await news("A moment later.");
    expect(await moved()).toBeLessThan(2);
  });

  it("fits all widths, axe finds no violations, no text runs scripts, and no request goes to another host", async () => {
    const { page, mentions, startedWith } = await reader();
    mentions([
      received({ target: page, type: "reply", text: HOSTILE }),
      received({ target: page, type: "like", text: "", source: `https://${"long.".repeat(20)}example/` }),
    ]);
    const client = await startedWith([timelineRoom, writeRoom]);
    const tab = await openPage(client, "/timeline");
    const left: string[] = [];
    tab.on("request", (request) => request.url().startsWith(client.origin) || left.push(request.url()));
    tab.on("dialog", (dialog) => left.push(dialog.message()));
    await expect
      .poll(async () => {
        await tab.reload();
        return tab.locator("#read").innerText();
      })
      .toMatch(/Read \d/);
    await tab.keyboard.press("j");
    expect(await tab.locator("[data-item]:focus").count()).toBe(1);
    await expectAccessible(tab, "timeline");
    await tab.keyboard.press("r");
    await tab.waitForURL(`${client.origin}/write?reply-to=*`);
    await tab.keyboard.type("Typed at once.");
    expect(await tab.getByLabel("Your note").inputValue()).toBe("Typed at once.");
    expect(await tab.locator('[name="replyTo"]').inputValue()).toMatch(/^[a-z2-7]{7,12} bob http/);
    await tab.goto(`${client.origin}/timeline`);
    expect(await tab.title()).not.toBe("run");
    await tab.goto(`${client.origin}/timeline/following`);
    await expectAccessible(tab, "following");
    expect(left).toEqual([]);
  });
});
