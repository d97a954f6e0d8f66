import { beforeAll, describe, expect, it } from "vitest";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { textHtml } from "../../plugin/site/text-html.js";
import { SOME_HOSTILE_TEXTS } from "../helpers/hostile-texts.js";
import { longMention } from "../helpers/long-conversation.js";
import { loopbackServer } from "../helpers/loopback.js";
import { type AllowedMarkup, elementsOf, notAllowed, type PageElement, withDescendants } from "../helpers/markup.js";
import { FEED, receiver } from "../helpers/receiver.js";
import { type BuiltSite, post, site } from "../helpers/site.js";

const LAYOUT =
  "<!doctype html><html><head><title>x</title></head><body>{% twtxtMentions %}{% twtxtReply %}</body></html>";

/** The markup that the plugin may write into these pages. */
const ALLOWED: AllowedMarkup = {
  html: ["lang"],
  head: [],
  body: [],
  title: [],
  meta: ["charset", "name", "content"],
  style: [],
  link: ["rel", "type", "title", "href"],
  script: ["type", "src"],
  main: [],
  header: [],
  h1: ["class"],
  h2: ["class"],
  nav: ["class", "aria-label"],
  "twtxt-mentions": ["src", "target", "data-feed", "data-nick", "data-page"],
  section: ["class"],
  ol: ["class"],
  ul: ["class"],
  li: ["class", "data-source", "data-target", "data-received", "data-names", "data-parents"],
  p: ["class", "dir", "hidden"],
  span: ["class", "dir"],
  a: ["class", "href", "rel", "dir"],
  bdi: [],
  cite: ["dir"],
  time: ["class", "datetime"],
  div: ["class"],
  code: [],
  em: [],
  strong: [],
  br: [],
  details: ["class"],
  summary: [],
  form: ["class", "method", "action"],
  label: [],
  input: ["name", "type", "required", "placeholder", "value"],
  button: [],
};
/** The markup that a stranger's text may have. */
const TEXT_MARKUP: AllowedMarkup = {
  ...{ p: ["dir"], a: ["href", "rel", "dir"], code: [], em: [], strong: [], br: [] },
  ...{ details: ["class"], summary: [] },
};

/** The values that strangers control. Each is tested on a separate page with all hostile texts. */
const ROLES: Record<string, (text: string, n: number) => Partial<PublicMention>> = {
  "the text of a twt": (text) => ({ text, html: textHtml(text, "twt") }),
  "the text or title of a page": (text) => ({ text, html: textHtml(text, "page") }),
  "a text in the list of an earlier version": (text) => ({ text, html: null }),
  "HTML in the list of another server": (text) => ({ text, html: text }),
  "the name of an author": (name, n) => ({
    type: (["reply", "mention", "like", "repost"] as const)[n % 4] ?? "reply",
    author: { name, url: "https://bob.example/twtxt.txt", photo: null },
  }),
  "a URL, a hash or a date": (text, n) => ({
    source: `https://bob.example/${n}#${text}`,
    author: { name: "bob", url: text, photo: text },
    published: text,
    hash: text,
    hashV1: text,
    replyTo: text,
  }),
};
const NAMES = Object.keys(ROLES);
/** The hash of a mention to which the author's own posts reply. */
const PARENT_HASH = "abcdefg";

let built: BuiltSite;
let url: string;

const classOf = ({ attributes }: PageElement) => attributes.class?.split(" ") ?? [];
const isItem = (element: PageElement) => element.tag === "li" && classOf(element).includes("h-cite");

beforeAll(async () => {
  let count = 0;
  const mentionOf = (page: string, role: string, text: string): PublicMention => {
    count += 1;
    return longMention(page, count, { text: "hello", ...ROLES[role]?.(text, count) });
  };
  const server = await loopbackServer((request, response) => {
    const strange = NAMES.flatMap((role, n) =>
      SOME_HOSTILE_TEXTS.map((text) => mentionOf(`${server.url}/posts/${n}/`, role, text)),
    );
    const all = [...strange, { ...mentionOf(`${server.url}/own/`, "", ""), hashV1: PARENT_HASH }];
    response.end(JSON.stringify({ mentions: request.url?.startsWith("/mentions.json") ? all : [], next: null }));
  });
  url = server.url;
  const date = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
  const posts = NAMES.map((_, n) => [`posts/${n}.md`, post({ title: "Post", date: date(n), layout: "post.njk" })]);
  const replyTo = `${PARENT_HASH} https://bob.example/twtxt.txt`;
  const own = SOME_HOSTILE_TEXTS.map((text, n) => {
    const data = JSON.stringify({ title: text, date: date(100 + n), permalink: `/own/${n}/`, replyTo });
    return [`posts/own/${n}.md`, `---json\n${data}\n---\n`];
  });
  built = await site({
    files: {
      "_includes/post.njk": LAYOUT,
      "posts/posts.json": `{ "tags": "posts" }`,
      "posts/answered.md": post({ title: "Post", date: date(99), layout: "post.njk", permalink: "/own/" }),
      ...Object.fromEntries([...posts, ...own]),
    },
    options: `{ url: "${url}", host: "node", mentions: { perPage: 250 } }`,
  });
});

describe("hostile texts on static pages", () => {
  it.each(NAMES)("add no disallowed element or attribute as %s", (role) => {
    const elements = elementsOf(built.read(`posts/${NAMES.indexOf(role)}/index.html`));
    check(elements);
    expect(elements.filter(isItem)).toHaveLength(SOME_HOSTILE_TEXTS.length);
  });

  it("add no disallowed element or attribute as the title of the author's own reply", () => {
    const elements = elementsOf(built.read("own/index.html"));
    check(elements);
    expect(elements.filter(isItem).length).toBe(1 + built.texts().filter((text) => text.startsWith("(#")).length);
    expect(elements.filter(isItem).length).toBeGreaterThan(80);
  });

  it("add no disallowed element or attribute to the pages of all mentions", () => {
    const pages = ["mentions/index.html", "mentions/2/index.html", "mentions/3/index.html"];
    const all = pages.map((page) => elementsOf(built.read(page)));
    for (const elements of all) check(elements);
    expect(all.flat().filter(isItem)).toHaveLength(SOME_HOSTILE_TEXTS.length * NAMES.length + 1);
  });
});

describe("hostile texts in a form that a browser posts to the endpoint", () => {
  const PAGE_OF_ENDPOINT: AllowedMarkup = {
    ...{ html: ["lang"], head: [], meta: ["charset", "name", "content"], title: [], style: [], body: [], main: [] },
    ...{ h1: [], p: [], form: ["class", "method"], label: [], button: [], a: ["href"] },
    ...{ input: ["name", "required", "value", "placeholder"] },
  };

  it("add no disallowed element or attribute to the response", async () => {
    const alice = receiver();
    for (const text of SOME_HOSTILE_TEXTS) {
      const body = new URLSearchParams({ source: text, target: text });
      const headers = { accept: "text/html", origin: "https://alice.example" };
      const answer = await alice.answer(
        new Request(`${new URL(FEED).origin}/webmention`, { method: "POST", headers, body }),
      );
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      const elements = elementsOf(await answer.text());
      expect(notAllowed(elements, PAGE_OF_ENDPOINT)).toEqual([]);
      expect(elements.filter(({ tag }) => tag === "input")).toHaveLength(2);
      expect(elements.flatMap(({ attributes: { href } }) => href ?? [])).toEqual([
        expect.stringMatching(/^https:\/\/alice\.example\//),
      ]);
    }
  });
});

/** The feed of the page's own mentions, or of all. */
const ATOM = /^\/mentions\.atom(?:\?target=http%3A%2F%2F127\.0\.0\.1%3A\d+%2F(?:posts%2F\d+|own)%2F)?$/;

/** Fails on disallowed markup, and on a stranger's script, form or link. */
function check(elements: readonly PageElement[]): void {
  expect(notAllowed(elements, ALLOWED)).toEqual([]);
  const texts = elements.filter((element) => classOf(element).includes("p-content"));
  expect(texts.flatMap(({ children }) => notAllowed(children.flatMap(withDescendants), TEXT_MARKUP))).toEqual([]);
  const valuesOf = (tag: string, name: string) => [
    ...new Set(elements.filter((element) => element.tag === tag).map(({ attributes }) => attributes[name])),
  ];
  expect(valuesOf("script", "src")).toEqual(["/mentions/twtxt-mentions.js"]);
  for (const action of valuesOf("form", "action")) expect(action).toBe(`${url}/webmention`);
  const own = ["/twtxt.txt", `${url}/webmention`, "/mentions/twtxt.css", "/mentions/", "/mentions/2/", "/mentions/3/"];
  expect(valuesOf("link", "href").filter((href) => !own.includes(href ?? "") && !ATOM.test(href ?? ""))).toEqual([]);
  expect(valuesOf("a", "href").filter((href) => !/^(https?:\/\/|\/(?!\/))/.test(href ?? ""))).toEqual([]);
}
