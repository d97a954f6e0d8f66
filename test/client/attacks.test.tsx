// test/client/attacks.test.tsx: attacks by other pages on the client, in a real Chromium.
import { pathToFileURL } from "node:url";
import { Hono } from "hono";
import type { BrowserContext } from "playwright-core";
import { expect, it } from "vitest";
import type { ClientEnv } from "../../plugin/client/client-request.js";
import { ListPage } from "../../plugin/client/mentions/mentions-room.js";
import type { CreateRoom } from "../../plugin/client/notices.js";
import { linkFile } from "../../plugin/client/open-browser.js";
import { Form } from "../../plugin/client/page-parts.js";
import type { ManagedMention } from "../../plugin/mentions/receive/managed-mention.js";
import { ENGLISH } from "../../plugin/options/words.js";
import { describeMention } from "../../plugin/site/mention-sentence.js";
import { describeInChromium, sharedChromium } from "../helpers/chromium.js";
import { HOSTILE_TEXTS } from "../helpers/hostile-texts.js";
import { loopbackServer } from "../helpers/loopback.js";
import { openTab } from "../helpers/tabs.js";
import { quietRoom, startedClient } from "./client.js";
import { noticed } from "./notice.js";

const NO_PAGES = { newer: null, older: null };
const OTHER_SITE = "http://evil.example/";

/** A client with one room that counts requests, and a browser that has opened it. */
async function openedClient() {
  const counted = { actions: 0 };
  const room: CreateRoom = ({ notices }) => {
    const routes = new Hono<ClientEnv>();
    routes.get("/", (c) =>
      c.render(
        <Form action="/count">
          <button type="submit">Count</button>
        </Form>,
        { title: "Count" },
      ),
    );
    routes.post("/", (c) =>
      notices.act(c, "/count", async () => {
        counted.actions += 1;
        return { text: `Counted ${counted.actions}.` };
      }),
    );
    return { title: "Count", path: "/count", icon: "M5 5h14", keys: [], routes };
  };
  const client = await startedClient({ rooms: [room] });
  const context = await (await sharedChromium()).newContext();
  const tab = await context.newPage();
  await tab.goto(client.link);
  await tab.waitForURL(`${client.origin}/count`);
  return { client, context, tab, counted };
}

describeInChromium("the client in a browser", () => {
  it("opens with its link, leaves no token in the address bar or the history, and performs the actions of its forms", async () => {
    const { client, context, tab, counted } = await openedClient();
    expect(await tab.evaluate("document.cookie")).toBe("");
    await tab.getByRole("button", { name: "Count" }).click();
    await noticed(tab, "Counted 1.");
    expect(counted.actions).toBe(1);
    await expect.poll(() => tab.url()).toBe(`${client.origin}/count`);
    await expect.poll(() => tab.getByRole("status").innerText()).toBe("Counted 1.");
    expect(await historyOf(context, tab)).not.toContain("token");
    await context.close();
  });

  it("opens through a file that only its owner can read", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const { target, end } = await linkFile(client.link);
    const tab = await openTab();
    await tab.goto(pathToFileURL(target).href);
    await tab.waitForURL(`${client.origin}/quiet`);
    await end();
  });

  it("opens through a link on a page of another site", async () => {
    const client = await startedClient({ rooms: [quietRoom] });
    const context = await (await sharedChromium()).newContext();
    const tab = await context.newPage();
    await showSite(context, `<a href="${client.link}">open</a>`);
    await tab.goto(OTHER_SITE);
    await tab.getByText("open").click();
    await tab.waitForURL(`${client.origin}/quiet`);
    await context.close();
  });

  it("runs no scripts from a mention, and sends no requests to other hosts", async () => {
    const mentions = HOSTILE_TEXTS.map(hostileMention);
    const room: CreateRoom = () => {
      const routes = new Hono<ClientEnv>();
      routes.get("/", (c) =>
        c.render(
          <ListPage
            {...{
              state: "held",
              mentions,
              held: mentions.length,
              pending: 0,
              blocked: [],
              pages: NO_PAGES,
              seen: null,
            }}
            describe={(mention) => describeMention(mention, "https://alice.example/twtxt.txt", ENGLISH)}
          />,
          {
            title: "Mentions",
          },
        ),
      );
      return { title: "Mentions", path: "/mentions", icon: "M5 5h14", keys: [], routes };
    };
    const client = await startedClient({ rooms: [room] });
    const tab = await openTab();
    const wrong: string[] = [];
    tab.on("request", (request) => request.url().startsWith(`${client.origin}/`) || wrong.push(request.url()));
    tab.on("dialog", (dialog) => wrong.push(dialog.message()));
    tab.on("console", (message) => wrong.push(message.text()));
    await tab.goto(client.link);
    await tab.waitForURL(`${client.origin}/mentions`);
    expect(await tab.locator("#mentions > li").count()).toBe(mentions.length);
    const inTexts = (selector: string) => tab.locator(`#mentions :is(.p-content, .mention-by) ${selector}`).count();
    expect(
      await inTexts(":not(p, a, cite, code, em, strong, br, time, bdi, .muted, input[type=checkbox][form=many])"),
    ).toBe(0);
    expect(await inTexts("a:not([href^='http://'], [href^='https://'])")).toBe(0);
    expect(await inTexts(":is([onclick], [onerror], [onmouseover], [style], [id], [src])")).toBe(0);
    expect(wrong).toEqual([]);
  });

  it("prevents pages of other ports and sites from posting forms, and from reading, framing or loading anything", async () => {
    const { client, context, counted } = await openedClient();
    const attack = await loopbackServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(attackingPage(client.origin));
    });
    await showSite(context, attackingPage(client.origin));
    for (const url of [attack.url, OTHER_SITE]) {
      const tab = await context.newPage();
      await tab.goto(url);
      expect(await tab.evaluate("attack()")).toEqual({
        reads: ["TypeError", "TypeError"],
        posts: ["TypeError", "TypeError", "TypeError"],
        image: "refused",
        script: "refused",
      });
      for (const name of ["form", "frame"]) {
        const frame = tab.frame({ name });
        expect(frame?.url() ?? "").not.toContain("/count");
      }
      await tab.evaluate("document.forms[0].submit()");
      await tab.waitForURL(`${client.origin}/count`);
      expect(await tab.locator("h1").innerText()).toBe("This did not work");
      await tab.close();
    }
    expect(counted.actions).toBe(0);
    await context.close();
  });
});

/** A mention with the same text in each field that its sender controls. */
function hostileMention(text: string, index: number): ManagedMention {
  const id = index.toString(16).padStart(32, "0");
  const source = `https://eve.example/${encodeURIComponent(text.toWellFormed())}${index % 2 ? "" : "#:~:text=x"}`;
  return {
    ...{ id, version: "0123456789abcdef", state: "held", source, text },
    target: "https://alice.example/quinces/",
    under: null,
    title: text,
    type: "mention",
    html: index % 2 ? text : null,
    author: { name: text, url: text, photo: text },
    published: null,
    received: "2026-11-20T09:00:00.000Z",
  };
}

/** Shows a page of another site, without a server. */
async function showSite(context: BrowserContext, html: string): Promise<void> {
  await context.route(OTHER_SITE, (route) => route.fulfill({ contentType: "text/html", body: html }));
}

async function historyOf(context: BrowserContext, tab: Parameters<BrowserContext["newCDPSession"]>[0]) {
  const session = await context.newCDPSession(tab);
  const { entries } = await session.send("Page.getNavigationHistory");
  return entries.map(({ url }) => url).join(" ");
}

function attackingPage(origin: string): string {
  return `<!doctype html><title>attack</title>
<form method="post" action="${origin}/count"><input name="csrf" value="guess"></form>
<iframe name="frame" src="${origin}/count"></iframe>
<script>
  const refusedBy = (error) => error.name;
  const read = (options) => fetch("${origin}/count", options).then((answer) => answer.text(), refusedBy);
  const post = (headers, mode) => fetch("${origin}/count", {
    method: "POST", mode, credentials: "include", headers, body: new URLSearchParams({ csrf: "guess" }),
  }).then((answer) => answer.text(), refusedBy);
  const load = (tag) => new Promise((resolve) => {
    const element = document.createElement(tag);
    element.onload = () => resolve("loaded");
    element.onerror = () => resolve("refused");
    element.src = tag === "img" ? "${origin}/client.svg" : "${origin}/client.js";
    document.body.append(element);
  });
  globalThis.attack = async () => ({
    reads: [await read({ credentials: "include" }), await read({ mode: "same-origin" })],
    posts: [await post({}, "no-cors"), await post({}, "cors"), await post({ "x-csrf-token": "guess" }, "cors")],
    image: await load("img"),
    script: await load("script"),
  });
</script>`;
}
