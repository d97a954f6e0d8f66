import { join } from "node:path";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { ClientEnv } from "../../plugin/client/client-request.js";
import { ListPage } from "../../plugin/client/mentions/mentions-room.js";
import type { CreateRoom } from "../../plugin/client/notices.js";
import type { ManagedMention } from "../../plugin/mentions/receive/managed-mention.js";
import { ENGLISH } from "../../plugin/options/words.js";
import { describeMention } from "../../plugin/site/mention-sentence.js";
import { command } from "../cli/helpers.js";
import { FEED, PAGE, TWT } from "../helpers/receiver.js";
import { type ClientUnderTest, startedClient } from "./client.js";
import { moderatedSite } from "./moderated-site.js";

const AT = "2026-11-19T18:40:02Z";
const LATER = "2026-11-19T18:40:03Z";

/** A browser without JavaScript, which follows redirects and submits forms. */
async function browserOf(client: ClientUnderTest) {
  const cookie = await client.open();
  const ask = (path: string) => client.ask(path, { headers: { cookie } });
  const get = async (path: string) => (await ask(path)).text;
  const submit = async (page: string, button: string, changed: Record<string, string> = {}) => {
    const { action, fields } = formWith(page, button);
    const answer = await client.ask(action, {
      method: "POST",
      headers: { cookie, origin: client.origin, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ ...fields, ...changed }).toString(),
    });
    expect(answer.status).toBe(303);
    return get(answer.headers.get("location") ?? "");
  };
  return { ask, get, submit };
}

/** The first form of a page that has a button with this text. */
function formWith(page: string, button: string): { action: string; fields: Record<string, string> } {
  const forms = [...page.matchAll(/<form[^>]* action="([^"]+)"[^>]*>(.*?)<\/form>/gs)];
  const [, action = "", content = ""] = forms.find(([, , inside = ""]) => inside.includes(`>${button}<`)) ?? [];
  const inputs = content.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return { action, fields: Object.fromEntries([...inputs].map(([, name, value]) => [name, value])) };
}

function itemsIn(page: string): string[] {
  return [...page.matchAll(/<li id="mention-[^>]*>.*?<div class="p-content">(.*?)<\/div>/gs)].map(([, text = ""]) =>
    text.replace(/<[^>]+>/g, "").replace(/^@alice /, ""),
  );
}

describe("the room of mentions, without JavaScript", () => {
  it("marks the mentions that have come since the last visit, in each list", async () => {
    const { bob, client, send, setup } = await moderatedSite({ [AT]: "hello" });
    const marked = (page: string) => [...page.matchAll(/<li id="mention-\w+" class="unread".*?<\/li>/gs)].length;
    const { get, submit } = await browserOf(client);
    expect(marked(await get("/mentions?state=held"))).toBe(0);
    bob.twts[LATER] = "@<alice https://alice.example/twtxt.txt> again";
    await send(LATER);
    const later = await get("/mentions?state=held");
    expect([marked(later), itemsIn(later).length]).toEqual([1, 2]);
    expect(later).toMatch(/class="unread".*?<span class="count"> new<\/span>.*?again/s);
    expect(marked(await submit(later, "Approve"))).toBe(0);
    const next = await browserOf(await startedClient(setup));
    expect(marked(await next.get("/mentions?state=held"))).toBe(0);
  });

  it("lists held mentions, approves and rejects them, and undoes both; 400 for an unknown list, 404 for an unknown mention", async () => {
    const { bob, client, shown } = await moderatedSite({ [AT]: "**hello**", [LATER]: "again" });
    const { ask, get, submit } = await browserOf(client);
    expect((await ask("/mentions?state=secret")).status).toBe(400);
    expect((await ask("/mentions/forget?id=0")).status).toBe(404);
    const held = await get("/mentions");
    expect(itemsIn(held)).toEqual(["again", "hello"]);
    expect(held).toContain("<strong>hello</strong>");
    expect(held).toMatch(/Held<span class="count"> 2</);

    const approved = await submit(held, "Approve");
    expect(approved).toContain("Approved: the mention by bob.");
    expect(await shown()).toEqual([bob.twt(LATER)]);
    expect(itemsIn(approved)).toEqual(["hello"]);
    expect(itemsIn(await get("/mentions?state=shown"))).toEqual(["again"]);

    const undone = await submit(approved, "Undo");
    expect(undone).toContain("Held again: the mention by bob.");
    expect(await shown()).toEqual([]);

    const rejected = await submit(await get("/mentions"), "Reject");
    expect(itemsIn(rejected)).toEqual(["hello"]);
    expect(itemsIn(await get("/mentions?state=rejected"))).toEqual(["again"]);
    await submit(rejected, "Undo");
    expect(itemsIn(await get("/mentions"))).toEqual(["again", "hello"]);
  });

  it("has pages of 50 mentions, newest first, each of which links to the next", async () => {
    const { blog, client, setup } = await moderatedSite({}, false);
    const children = Array.from({ length: 51 }, (_, n) => ({
      "wm-source": `https://brid.gy/${n}`,
      "wm-target": PAGE,
      "wm-received": `2024-03-02T09:05:${String(n).padStart(2, "0")}Z`,
      content: { text: `reply ${n}.` },
    }));
    blog.write("wm.json", JSON.stringify({ children }));
    const words = ["mentions", "import", join(blog.folder, "wm.json"), "--url", setup.url ?? ""];
    expect(await command(setup.folder, words, { environment: setup.environment ?? {} })).toMatchObject({ exitCode: 0 });
    const { get } = await browserOf(client);
    const first = await get("/mentions?state=shown");
    expect(itemsIn(first)).toEqual(Array.from({ length: 50 }, (_, n) => `reply ${50 - n}.`));
    const [, older = ""] = /<a href="(\/mentions\?[^"]+)">Older mentions/.exec(first) ?? [];
    const second = await get(older.replaceAll("&amp;", "&"));
    expect(itemsIn(second)).toEqual(["reply 0."]);
    expect(second).toMatch(/<a href="\/mentions\?state=shown">Newer mentions/);
    expect(second).not.toContain("Older mentions");
  });

  it("says what each mention is about in the words of the site", async () => {
    const { bob, client, send } = await moderatedSite({ [AT]: "hello" }, false);
    bob.twts[LATER] = `(#${TWT.hashes[1]}) @<alice ${FEED}> ripe?`;
    await send(LATER);
    const { get } = await browserOf(client);
    const list = await get("/mentions");
    expect(list).toContain(`replied to <a href="${PAGE}"><cite dir="auto">Quinces</cite></a>, `);
    expect(list).toContain("mentioned you, ");
    expect(list).not.toMatch(/mentions? <a|repl\w+ to \//);
  });

  it("does not approve a mention that has changed since the page was shown", async () => {
    const { bob, client, send, shown } = await moderatedSite({ [AT]: "hello" });
    const { get, submit } = await browserOf(client);
    const page = await get("/mentions");
    bob.twts = { [AT]: `${bob.twts[AT]}, and other words` };
    await send(AT);
    const refused = await submit(page, "Approve");
    expect(refused).toContain('class="notice failure"');
    expect(refused).toContain("has changed since it was listed");
    expect(refused).toContain("and other words");
    expect(await shown()).toEqual([]);
  });

  it("shows the mentions of the last year, forgets one, blocks a host, after a confirmation, and unblocks it", async () => {
    const { bob, client, send, shown } = await moderatedSite({ [AT]: "hello", [LATER]: "again" }, false);
    const { get, submit } = await browserOf(client);
    const year = await get("/mentions/year");
    expect(year).toContain("2 mentions were received and shown in the last 12 months.");
    expect(year).toMatch(/<tr><th scope="row">\d{4}-\d\d<\/th><td>2<\/td><td>0<\/td><td>0<\/td>/);
    expect(year).toMatch(new RegExp(`<a href="${bob.feedUrl}"[^>]*>bob</a> <span class="count">2</span>`));
    const list = await get("/mentions");
    expect(itemsIn(list)).toEqual(["again", "hello"]);
    const [, forget = ""] = /href="(\/mentions\/forget[^"]+)"/.exec(list) ?? [];
    const forgotten = await submit(await get(forget.replaceAll("&amp;", "&")), "Forget it");
    expect(forgotten).toContain("Forgotten.");
    expect(itemsIn(forgotten)).toEqual(["hello"]);

    const [, block = ""] = /href="(\/mentions\/block[^"]+)"/.exec(list) ?? [];
    const question = await get(block);
    expect(question).toContain("This rejects all mentions from 127.0.0.1 that are shown or held, and refuses new ones");
    const blocked = await submit(question, "Block");
    expect(blocked).toContain("Blocked. 1 rejected.");
    expect(await shown()).toEqual([]);
    expect(await send(LATER)).toBe(400);
    expect(await submit(blocked, "Unblock")).toContain("No longer blocked.");
    expect(await send(LATER)).toBe(200);
  });

  it("approves and rejects several comments, selected or all, and undoes it", async () => {
    const { client, comment, shown } = await moderatedSite({});
    for (const name of ["Dana", "Fred", "Grace"]) expect(await comment(`I am ${name}`, name)).toBe(202);
    const { get, submit } = await browserOf(client);
    const held = await get("/mentions");
    expect(itemsIn(held)).toEqual(["I am Grace", "I am Fred", "I am Dana"]);
    expect(held).toMatch(/Dana<\/(?:a|bdi|span)>.*? \(guest\)/s);
    const boxes = [...held.matchAll(/name="(picked\.\w+)" value="(\w+)" aria-label="([^"]+)"/g)];
    expect(boxes.map(([, , , label]) => label)).toEqual(
      ["Grace", "Fred", "Dana"].map((name) => `Select the mention by ${name}`),
    );

    const [, dana = "", version = ""] = boxes[2] ?? [];
    const rejected = await submit(held, "Reject selected", { [dana]: version, decision: "rejected picked" });
    expect(rejected).toContain("Rejected: 1 mention.");
    expect(itemsIn(rejected)).toEqual(["I am Grace", "I am Fred"]);
    const approved = await submit(rejected, "Approve all 2", { decision: "shown all" });
    expect(approved).toContain("Approved: 2 mentions.");
    expect(await shown()).toHaveLength(2);
    expect(await submit(approved, "Undo")).toContain("Held again: 2 mentions.");
    expect(await shown()).toEqual([]);
    const again = await get("/mentions");
    expect(await submit(again, "Approve selected", { decision: "shown picked" })).toContain("Nothing is selected.");
    const picks = Object.fromEntries(
      [...again.matchAll(/name="(picked\.\w+)" value="(\w+)"/g)].map(([, name = "", value = ""]) => [name, value]),
    );
    const block = { ...picks, decision: "blocked picked" };
    expect(await submit(again, "Block selected", block)).toContain("Blocked. 2 rejected.");
  });

  it("rejects everything from a guest, not from the site's own host", async () => {
    const { client, comment, shown } = await moderatedSite({});
    for (const name of ["Dana", "Fred"]) await comment(`I am ${name}`, name);
    const { get, submit } = await browserOf(client);
    const held = await get("/mentions");
    const [, block = ""] = /href="(\/mentions\/block[^"]+)"/.exec(held) ?? [];
    const question = await get(block);
    expect(question).toMatch(/This rejects all mentions from https:\/\/alice\.example\/guests\/anon-[0-9a-f]{16}\.txt/);
    expect(await submit(question, "Block")).toContain("Blocked. 1 rejected.");
    expect(itemsIn(await get("/mentions?state=held"))).toEqual(["I am Dana"]);
    expect(await shown()).toEqual([]);
  });

  it("counts pending mentions, and verifies them", async () => {
    const { bob, client, send, shown } = await moderatedSite({}, false);
    const { get, submit } = await browserOf(client);
    bob.status = 500;
    bob.twts = { [AT]: "@<alice https://alice.example/twtxt.txt> hello" };
    expect(await send(AT)).toBe(202);
    const page = await get("/mentions");
    expect(page).toContain("1 mention is pending");
    bob.status = 200;
    expect(await submit(page, "Verify now")).toContain("1 verified, 0 dropped, 0 still pending.");
    expect(await shown()).toEqual([bob.twt(AT)]);
  });
});

it("a reply from another network is answered there, whatever the form of its URL", async () => {
  const mention: ManagedMention = {
    ...{ id: "1", version: "v", state: "held", source: "https://notes.example/notes/9", target: PAGE, under: null },
    ...{ copy: "https://mastodon.example/@alice/1", type: "reply", text: "hello", html: null, published: null },
    ...{
      author: { name: "Carol", url: "https://notes.example/@carol", photo: null },
      received: "2026-11-20T08:00:00Z",
    },
  };
  const shown = {
    state: "held",
    held: 2,
    pending: 0,
    blocked: [],
    seen: null,
    pages: { newer: null, older: null },
  } as const;
  const mentions = [mention, { ...mention, type: "like" as const, source: "https://notes.example/@dave#like" }];
  const room: CreateRoom = () => {
    const routes = new Hono<ClientEnv>();
    const describe = (each: ManagedMention) => describeMention(each, FEED, ENGLISH);
    routes.get("/", (c) => c.render(ListPage({ ...shown, mentions, describe }) ?? "", { title: "Mentions" }));
    return { title: "Mentions", path: "/mentions", icon: "M5 5h14", keys: [], routes };
  };
  const page = await (await browserOf(await startedClient({ rooms: [room] }))).get("/mentions");
  const links = [...page.matchAll(/href="(\/write\?[^"]*)"/g)].map(([, link]) => link);
  expect(links).toEqual([
    `/write?reply-to=${encodeURIComponent(mention.source)}&amp;on=network`,
    `/write?reply-to=${encodeURIComponent("https://notes.example/@dave#like")}`,
  ]);
});
