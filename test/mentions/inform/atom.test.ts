import sax from "sax";
import { beforeEach, describe, expect, it } from "vitest";
import { listAsAtom } from "../../../plugin/mentions/inform/atom.js";
import type { StoredMention } from "../../../plugin/mentions/mention.js";
import { SiteIndex } from "../../../plugin/mentions/receive/site-index.js";
import type { TwtxtOptions } from "../../../plugin/options.js";
import { builtHostSettings } from "../../helpers/built-site.js";
import { hostAt } from "../../helpers/endpoints.js";
import { HOSTILE_TEXTS } from "../../helpers/hostile-texts.js";
import { listOf, storedMention } from "../../helpers/stored-mentions.js";

const SITE = "https://alice.example";
const PAGE = `${SITE}/posts/quinces/`;

let stored: StoredMention[];
beforeEach(() => {
  stored = [];
});

async function ask(query = "", options: Partial<TwtxtOptions> = {}, init: RequestInit = {}) {
  const settings = builtHostSettings(SITE, options);
  const siteIndex = new SiteIndex({
    feeds: [settings.feedUrl],
    pages: [PAGE],
    titles: { [PAGE]: "Quinces" },
    twts: [],
  });
  const handler = listAsAtom({ list: listOf(stored), siteIndex, settings, cacheTag: "twtxt-mentions" });
  const request = new Request(`${SITE}/mentions.atom${query}`, init);
  return hostAt(SITE, { mentionsAtom: handler }, (line) => expect.fail(line))(request);
}

/** The elements of a feed with their texts, such as `["entry/title", "bob"]`; with the value of `href` for a link. */
function elements(xml: string): [name: string, text: string][] {
  const parser = sax.parser(true);
  const path: { name: string; text: string }[] = [];
  const found: [string, string][] = [];
  parser.onopentag = ({ name, attributes }) => path.push({ name, text: String(attributes.href ?? "") });
  parser.ontext = (text) => {
    const last = path.at(-1);
    if (last) last.text += text;
  };
  parser.onclosetag = () => {
    const names = path.slice(1).map(({ name }) => name);
    found.push([names.join("/"), path.pop()?.text.trim() ?? ""]);
  };
  parser.write(xml).close();
  return found;
}

const texts = (xml: string, name: string) => elements(xml).flatMap(([each, text]) => (each === name ? [text] : []));

describe("the Atom feed of mentions", () => {
  it("has the newest 50 mentions of a page, with who, what, when and where", async () => {
    stored = Array.from({ length: 60 }, (_, i) =>
      storedMention({
        received: `2026-01-02T03:05:${String(i).padStart(2, "0")}.000Z`,
        under: PAGE,
        type: "reply",
        text: `hello ${i}`,
        html: `<p>hello ${i} &amp; <em>more</em></p>`,
      }),
    );
    const response = await ask(`?target=${PAGE}`);
    expect(response.headers.get("content-type")).toBe("application/atom+xml; charset=utf-8");
    const xml = await response.text();
    expect(texts(xml, "entry/content")).toHaveLength(50);
    expect(elements(xml).slice(0, 13)).toEqual([
      ["id", `${SITE}/mentions.atom?target=${encodeURIComponent(PAGE)}`],
      ["title", "Mentions: Quinces"],
      ["updated", "2026-01-02T03:05:59.000Z"],
      ["link", `${SITE}/mentions.atom?target=${encodeURIComponent(PAGE)}`],
      ["link", PAGE],
      ["entry/id", `tag:alice.example,2026-01-02:${stored.at(-1)?.id}`],
      ["entry/title", 'bob replied to "Quinces"'],
      ["entry/link", "https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z"],
      ["entry/author/name", "bob"],
      ["entry/author/uri", "https://bob.example/twtxt.txt"],
      ["entry/author", ""],
      ["entry/published", "2026-01-02T03:04:05Z"],
      ["entry/updated", "2026-01-02T03:05:59.000Z"],
    ]);
    expect(texts(xml, "entry/content")[0]).toBe("<p>hello 59 &amp; <em>more</em></p>");
  });

  it("has the mentions of all pages without a target, and none that are held", async () => {
    stored = [storedMention(), storedMention({ received: "2026-01-02T03:05:00.000Z", state: "held" })];
    const xml = await (await ask()).text();
    expect(texts(xml, "entry/title")).toEqual(["bob mentioned you"]);
    expect([texts(xml, "title"), texts(xml, "link")]).toEqual([
      ["Mentions: alice"],
      [`${SITE}/mentions.atom`, `${SITE}/mentions/`],
    ]);
  });

  it("has the time of an edit, by which feed readers notice it", async () => {
    const changed = "2026-03-01T00:00:00.000Z";
    stored = [storedMention({ changed }), storedMention({ received: "2026-01-03T03:05:00.000Z" })];
    const xml = await (await ask()).text();
    expect(texts(xml, "entry/updated")).toEqual(["2026-01-03T03:05:00.000Z", changed]);
    expect(texts(xml, "updated")).toEqual([changed]);
  });

  it("is valid and unchanged while it is empty, so that a reader gets 304", async () => {
    const first = await ask();
    expect(texts(await first.text(), "updated")).toEqual(["1970-01-01T00:00:00Z"]);
    const etag = first.headers.get("etag") ?? "";
    expect((await ask("", {}, { headers: { "if-none-match": etag } })).status).toBe(304);
  });

  it("is in the site's language, with the author's own words", async () => {
    stored = [storedMention({ type: "reply", under: PAGE })];
    const options = { lang: "de", mentions: { words: { title: "Antworten" } } };
    const xml = await (await ask("", options)).text();
    expect([texts(xml, "title"), texts(xml, "entry/title")]).toEqual([
      ["Antworten: alice"],
      ['bob hat auf "Quinces" geantwortet'],
    ]);
  });

  it("is well-formed whatever strangers write, and says which host a name is from", async () => {
    const author = { name: '\u0007</name>"Bob" \ud800', url: "https://carol.example/?a=1&b=<2>", photo: null };
    stored = HOSTILE_TEXTS.map((text, i) =>
      storedMention({ received: `2026-01-02T03:05:06.${String(i).padStart(3, "0")}Z`, text: `${text}\u0000`, author }),
    );
    const xml = await (await ask()).text();
    expect(texts(xml, "entry/author/name")[0]).toMatch(/Bob.*, via bob\.example$/);
    expect(texts(xml, "entry/content")).toHaveLength(50);
  });

  it("400 for a target on another site, which would fill the cache", async () => {
    expect((await ask("?target=https://bob.example/")).status).toBe(400);
  });
});
