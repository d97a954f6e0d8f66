import { describe, expect, it, vi } from "vitest";
import { timelineRoom } from "../../plugin/client/timeline/timeline-room.js";
import { twtHash } from "../../plugin/feed/hash.js";
import { blog } from "../cli/helpers.js";
import { environmentOf } from "../cli/machine.js";
import { describeInChromium, sharedChromium } from "../helpers/chromium.js";
import { loopbackServer } from "../helpers/loopback.js";
import { type ClientUnderTest, startedClient } from "./client.js";
import { expectFits } from "./looks.js";
import { shownText, visitorOf } from "./visitor.js";

const HOSTILE =
  '<script>document.title = "run"</script> <img src=x onerror=alert(1)> https://evil.example/"onmouseover=alert(1)';

/** Alice, who follows Bob; both feeds are on one server. */
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
  feeds["/alice.txt"] = `# nick = alice\n# url = ${url("alice")}\n2026-11-18T09:00:00Z\t(#${hash}) Here, too.\n`;
  const file = "_data/follow.json";
  const machine = blog(
    { url: server.url, feedUrl: url("alice"), nick: "alice", followed: { file, option: [] } },
    { [file]: JSON.stringify([{ nick: "bob", url: url("bob") }]) },
  );
  const started = () =>
    startedClient({ rooms: [timelineRoom], folder: machine.folder, environment: environmentOf(machine.folder) });
  return { feeds, url, machine, file, started };
}

async function whenRead(client: ClientUnderTest) {
  const visitor = await visitorOf(client, "/timeline");
  await vi.waitFor(async () => expect((await visitor.get("/timeline")).text).toMatch(/Read \d/));
  return visitor;
}

describe("the room of the timeline", () => {
  it("shows followed feeds and own twts as conversations, and marks what is new", async () => {
    const { feeds, url, started } = await reader();
    const visitor = await whenRead(await started());
    const { text } = await visitor.get("/timeline");
    expect(shownText(text)).toMatch(/bob .*first frost\. You .*Here, too\./);
    expect(text).toContain("The <strong>first</strong> frost.");
    expect(text).not.toContain("<script>document");

    feeds["/bob.txt"] = `${feeds["/bob.txt"]}${new Date().toISOString().slice(0, 19)}Z\tJust now.\n`;
    const again = await visitor.submit("/timeline");
    expect(shownText(again.text)).toMatch(/bob new .*Just now\./);
    expect(again.text.match(/>new</g)).toHaveLength(1);
    expect(again.text).toContain(url("bob"));
  });

  it("shows what it read last time if feeds do not answer, and says which", async () => {
    const { feeds, started } = await reader();
    await whenRead(await started());
    feeds["/bob.txt"] = null;
    const visitor = await whenRead(await started());
    const page = shownText((await visitor.get("/timeline")).text);
    expect(page).toMatch(/1 feed could not be read @bob answers with an error; last read .*first frost\./);
  });

  it("follows and unfollows in the file, and never in the configuration", async () => {
    const { feeds, url, machine, file, started } = await reader();
    feeds["/carol.txt"] = "# nick = carol\n2026-11-17T08:00:00Z\tHello from carol.\n";
    const visitor = await whenRead(await started());
    const followed = await visitor.submit("/timeline/following", { url: url("carol") });
    expect(shownText(followed.text)).toContain("Following @carol. Commit _data/follow.json: your next build adds it.");
    expect(JSON.parse(machine.read(file))).toHaveLength(2);
    await vi.waitFor(async () => expect((await visitor.get("/timeline")).text).toContain("Hello from carol."));

    const unfollowed = await visitor.submit("/timeline/following/remove", { url: url("bob") });
    expect(shownText(unfollowed.text)).toContain("No longer following @bob.");
    expect(JSON.parse(machine.read(file))).toEqual([{ nick: "carol", url: url("carol") }]);
    const wrong = await visitor.submit("/timeline/following", { url: url("alice") });
    expect(shownText(wrong.text)).toContain("is your own feed");
  });
});

describeInChromium("the room of the timeline, in a browser", () => {
  it("fits all widths, axe finds nothing, no text runs, and nothing is requested elsewhere", async () => {
    const { started } = await reader();
    const client = await started();
    const context = await (await sharedChromium()).newContext();
    const tab = await context.newPage();
    const left: string[] = [];
    tab.on("request", (request) => request.url().startsWith(client.origin) || left.push(request.url()));
    tab.on("dialog", (dialog) => left.push(dialog.message()));
    await tab.goto(client.link);
    await tab.waitForURL(`${client.origin}/timeline`);
    await expect
      .poll(async () => {
        await tab.reload();
        return tab.locator("#read").innerText();
      })
      .toMatch(/Read \d/);
    await tab.keyboard.press("j");
    expect(await tab.locator("[data-item]:focus").count()).toBe(1);
    await expectFits(tab, "timeline");
    expect(await tab.title()).not.toBe("run");
    await tab.goto(`${client.origin}/timeline/following`);
    await expectFits(tab, "following");
    expect(left).toEqual([]);
    await context.close();
  });
});
