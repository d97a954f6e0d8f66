import { describe, expect, it } from "vitest";
import { parseFeed } from "../../plugin/feed/feed.js";
import { escapeHtml } from "../../plugin/site/html.js";
import { type MentionList, parseMentionList } from "../../plugin/site/mention-list.js";
import { FORGING_CHARACTER, SOME_HOSTILE_TEXTS } from "../helpers/hostile-texts.js";
import { loopbackServer } from "../helpers/loopback.js";
import { type AllowedMarkup, elementsOf, notAllowed } from "../helpers/markup.js";
import { FEED, PAGE, receiver } from "../helpers/receiver.js";
import { site } from "../helpers/site.js";

const TOKEN = "0123456789abcdef0123456789abcdef";
/** Every line terminator that some feed reader recognizes. */
const LINE_TERMINATOR = /\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/;
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const TEXT_MARKUP: AllowedMarkup = {
  ...{ html: [], head: [], body: [], p: [], a: ["href", "rel"], code: [], em: [], strong: [], br: [] },
};

const timeOf = (n: number) => new Date(Date.UTC(2026, 0, 1, 9, 0, n)).toISOString().replace(".000", "");

/** Fails on markup outside the list, and on links with schemes other than http and https. */
function expectSafe(html: string): void {
  const elements = elementsOf(html);
  expect(notAllowed(elements, TEXT_MARKUP)).toEqual([]);
  for (const { tag, attributes } of elements) if (tag === "a") expect(attributes.href).toMatch(/^https?:\/\//);
}

/** Fails on forged twts or fields, for any line terminator. */
function expectFeed(file: string, names: readonly string[]): string[] {
  const { fields, twts, skippedLines } = parseFeed(file);
  expect(Object.keys(fields)).toEqual(names);
  for (const values of Object.values(fields)) expect(values).toHaveLength(1);
  expect(skippedLines).toBe(0);
  expect(file).not.toMatch(CONTROL);
  const lines = file.split(LINE_TERMINATOR);
  expect(lines.filter((line) => line.startsWith("#"))).toHaveLength(names.length);
  expect(lines.filter((line) => /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?\t/.test(line))).toHaveLength(twts.length);
  return twts.map(({ timestamp }) => timestamp);
}

/** Bob's site, with a feed and a page for each text. */
async function bobsSite() {
  // Each twt is in a separate feed, because each mention parses the whole feed.
  const feedOf = (text: string, n: number) =>
    `# nick = bob\n\n${timeOf(n)}\t@<alice ${FEED}> ${text.replace(/[\r\n]+/g, "\u2028")}\n`;
  // Some texts are the same once they are clean: the canonical link tells their pages apart.
  const pageOf = (text: string, n: number) => `<link rel="canonical" href="/${n}">
    <title>${escapeHtml(text)}</title><article class="h-entry">
    <a class="p-author h-card" href="/">${escapeHtml(text)}</a>
    <div class="e-content">${escapeHtml(text)} <a class="u-in-reply-to" href="${PAGE}">this</a></div></article>`;
  const server = await loopbackServer((request, response) => {
    const [n, extension] = request.url?.slice(1).split(".") ?? [];
    const text = SOME_HOSTILE_TEXTS[Number(n)] ?? "";
    const isFeed = extension === "txt";
    response.setHeader("content-type", isFeed ? "text/plain" : "text/html; charset=utf-8");
    response.end(isFeed ? feedOf(text, Number(n)) : pageOf(text, Number(n)));
  });
  return Object.assign(server, {
    claims: SOME_HOSTILE_TEXTS.flatMap((text, n) => [
      // test/site/text-html.test.ts checks the markup of all twts.
      ...(FORGING_CHARACTER.test(text)
        ? [{ source: `${server.url}/${n}.txt#:~:text=${timeOf(n)}`, target: FEED }]
        : []),
      { source: `${server.url}/${n}`, target: PAGE },
    ]),
  });
}

describe("hostile texts in a feed", () => {
  it("forge no twt or field as post titles", async () => {
    const posts = SOME_HOSTILE_TEXTS.map((text, n) => {
      const data = JSON.stringify({ title: text, summary: text, date: timeOf(n), tags: "posts" });
      return [`posts/${n}.md`, `---json\n${data}\n---\nText.\n`];
    });
    const built = await site({ files: Object.fromEntries(posts), options: `{ host: "static" }` });
    const written = expectFeed(built.read("twtxt.txt"), ["nick", "url"]);
    expect(written).toEqual(SOME_HOSTILE_TEXTS.map((_, n) => timeOf(n)));
  });

  it("forge no twt or field in the private feed and the JSON as texts, names and titles of received mentions", async () => {
    const bob = await bobsSite();
    const environment = { TWTXT_MENTIONS_TOKEN: TOKEN };
    const alice = receiver({ environment, neighbours: [bob], mentions: { allow: [bob.host] }, isMetered: false });
    for (const claim of bob.claims) {
      alice.clock.time += 1000;
      expect(await alice.mentioned(claim)).toMatchObject({ status: 200 });
    }
    const get = async (path: string) => (await alice.answer(new Request(`https://alice.example${path}`))).text();
    expect(expectFeed(await get(`/mentions.txt?token=${TOKEN}`), ["nick", "url", "description"])).toHaveLength(
      bob.claims.length,
    );

    let list: MentionList = { mentions: [], next: "" };
    const mentions: MentionList["mentions"] = [];
    while (list.next !== null) {
      const after = list.next === "" ? "" : `&after=${encodeURIComponent(list.next)}`;
      list = parseMentionList(JSON.parse(await get(`/mentions.json?limit=100${after}`))) ?? {
        mentions: [],
        next: null,
      };
      mentions.push(...list.mentions);
    }
    expect(mentions).toHaveLength(bob.claims.length);
    for (const { html, author, source, text } of mentions) {
      expectSafe(html ?? "");
      expect([author.url, source].filter((url) => !url.startsWith(bob.url))).toEqual([]);
      expect(`${author.name}${text}`.replaceAll("\n", "")).not.toMatch(CONTROL);
    }
  });
});
