import { beforeAll, describe, expect, it } from "vitest";
import { type BuiltSite, buildSite, site } from "../helpers/site.js";
import { buildError, HEADER, lines, logged, quoted, textAt } from "./read-build.js";

const LS = "\u2028";
const WHAT_TO_DO =
  "Add a title, a text or a picture (photo), or set twt: false in the front matter to turn off this note.";

/** A titled post at this minute. */
function titled(minute: number, title: string, data: Record<string, unknown> = {}): string {
  return quoted({ title, date: at(minute), tags: ["posts"], ...data }, "Body\n");
}

function at(minute: number): string {
  return `2024-01-02T${two(Math.floor(minute / 60))}:${two(minute % 60)}:07Z`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

function lineOf(minute: number, title: string, slug = title.toLowerCase()): string {
  return `${at(minute)}\t${title}: https://alice.example/${slug}/`;
}

describe("the posts of the feed", () => {
  const three = {
    "a.md": titled(1, "A"),
    "b.md": titled(2, "B", { tags: ["posts", "notes"] }),
    "c.md": titled(3, "C", { tags: ["notes"] }),
    "page.md": quoted({ title: "Page", date: at(4) }, "No post.\n"),
  };

  it("are those with the tag posts by default", async () => {
    const built = await site({ files: three });
    expect(built.read("twtxt.txt")).toBe(`${HEADER}${lineOf(1, "A")}\n${lineOf(2, "B")}\n`);
    expect(logged(built)).toEqual(["Wrote /twtxt.txt (2 twts)."]);
  });

  it("are those of the collection in the option", async () => {
    const built = await site({ files: three, options: `{ collection: "notes" }` });
    expect(lines(built)).toEqual([lineOf(2, "B"), lineOf(3, "C")]);
  });

  it("are those of several collections, each once", async () => {
    const built = await site({ files: three, options: `{ collection: ["notes", "posts"] }` });
    expect(lines(built)).toEqual([lineOf(1, "A"), lineOf(2, "B"), lineOf(3, "C")]);
  });

  it("are those that a function selects from all pages", async () => {
    const built = await site({
      files: three,
      options: `{ collection: (post) => post.data.title === "Page" || post.inputPath.endsWith("c.md") }`,
    });
    expect(lines(built)).toEqual([lineOf(3, "C"), lineOf(4, "Page")]);
    expect(logged(built)).toEqual(["Wrote /twtxt.txt (2 twts)."]);
  });

  it("are ordered by time, then by permalink, regardless of the order of the collection", async () => {
    const built = await site({
      files: {
        "z.md": titled(1, "Z", { tags: ["blog"] }),
        "y.md": titled(3, "Y", { tags: ["blog"] }),
        "x.md": titled(3, "X", { tags: ["blog"] }),
        "w.md": titled(2, "W", { tags: ["blog"] }),
      },
      options: `{ collection: "mine" }`,
      config: `config.addCollection("mine", (api) => api.getFilteredByTag("blog").reverse());`,
    });
    expect(lines(built)).toEqual([
      lineOf(1, "Z"),
      lineOf(2, "W"),
      lineOf(3, "X"),
      "2024-01-02T00:03:08Z\tY: https://alice.example/y/",
    ]);
  });

  it("omit drafts that the site's own preprocessor omits", async () => {
    const built = await site({
      files: { "a.md": titled(1, "A"), "draft.md": titled(2, "Draft", { draft: true }) },
      config: `config.addPreprocessor("drafts", "*", (data) => (data.draft ? false : undefined));`,
    });
    expect(lines(built)).toEqual([lineOf(1, "A")]);
    expect(logged(built)).toEqual(["Wrote /twtxt.txt (1 twt)."]);
  });

  it("omit posts that the site's own collection omits", async () => {
    const built = await site({
      files: { "a.md": titled(1, "A"), "hidden.md": titled(2, "Hidden", { hidden: true }) },
      options: `{ collection: "shown" }`,
      config: `config.addCollection("shown", (api) => api.getFilteredByTag("posts").filter(({ data }) => !data.hidden));`,
    });
    expect(lines(built)).toEqual([lineOf(1, "A")]);
  });

  it("omit posts with eleventyExcludeFromCollections", async () => {
    const built = await site({
      files: { "a.md": titled(1, "A"), "out.md": titled(2, "Out", { eleventyExcludeFromCollections: true }) },
    });
    expect(lines(built)).toEqual([lineOf(1, "A")]);
  });
});

describe("a title", () => {
  it.each([
    ["The <dialog> element & <em>you</em>", "The <dialog> element & you: PAGE"],
    ["Use `<dialog>` and `<em>` now", "Use `<dialog>` and `<em>` now: PAGE"],
    ["Using <details> and <summary>", "Using <details> and <summary>: PAGE"],
    ["a < b && c > d", "a < b && c > d: PAGE"],
    ["Is it so?", "Is it so? PAGE"],
    ['He said "no."', 'He said "no." PAGE'],
    ["Escaped @&lt;eve https://eve.example/t.txt&gt;", "Escaped @\\<eve https://eve.example/t.txt>: PAGE"],
    ["<em>With</em> @<bob https://bob.example/twtxt.txt>", "With @<bob https://bob.example/twtxt.txt>: PAGE"],
    ["See @<eve https://e.example/a(b)>", "See @\\<eve https://e.example/a(b)>: PAGE"],
    ["See @<https://[2001:db8::1]/t>", "See @<2001-db8-1 https://[2001:db8::1]/t>: PAGE"],
    ["See @<eve javascript://x/%0aalert(1)>", "See @\\<eve javascript://x/%0aalert(1)>: PAGE"],
  ])("%s", async (title, text) => {
    const built = await site({ files: { "a.md": quoted({ tags: "posts", date: at(1), title }, "Body\n") } });
    expect(textAt(built, at(1))).toBe(text.replace("PAGE", "https://alice.example/a/"));
  });
});

describe("text in the front matter", () => {
  it("keeps escaped mentions, and causes a warning for an unknown mention", async () => {
    const built = await site({
      files: {
        "a.md": quoted({ tags: "posts", date: at(1), twt: "to @bob, not \\@bob nor \\@<bob https://b.example/t>" }),
        "b.md": quoted({ tags: "posts", date: at(2) }, "Half @<bob bob.example> a mention\n"),
      },
      options: `{ follow: [{ nick: "bob", url: "https://bob.example/twtxt.txt" }] }`,
    });
    expect(textAt(built, at(1))).toBe(
      "to @<bob https://bob.example/twtxt.txt>, not @bob nor @\\<bob https://b.example/t>",
    );
    expect(textAt(built, at(2))).toBe("Half @\\<bob bob.example> a mention");
    expect(built.read("b/index.html")).toContain("Half @&lt;bob bob.example&gt; a mention");
  });

  it.each([
    ["twt: [a, b]", /a\.md: expected twt: "a text", twt: full, twt: false or twt: deleted, got \["a","b"\]\./],
    ["twt: { a: b }", /a\.md: expected twt: "a text", twt: full, twt: false or twt: deleted, got \{"a":"b"\}\./],
  ])("stops the build if it is not a string: %s", async (line, message) => {
    const built = await buildSite({ files: { "a.md": `---\ntags: posts\ndate: ${at(1)}\n${line}\n---\nBody\n` } });
    expect(built.exitCode).toBe(1);
    expect(built.log).toMatch(message);
  });
});

describe("a function in the options", () => {
  const files = { "a.md": quoted({ tags: "posts", date: at(1), title: "A" }, "Body\n") };

  it.each([
    [
      "{ collection: async () => false }",
      /options\.collection: expected a synchronous function, got one that returns a promise\./,
    ],
    [
      "{ text: async () => 'mine' }",
      /options\.text: expected a text, or undefined for the default text, got \{\} for \.\/a\.md\./,
    ],
    ["{ text: () => 42 }", /options\.text: expected a text, or undefined for the default text, got 42 for \.\/a\.md\./],
  ])("that returns an invalid value stops the build: %s", async (options, message) => {
    const built = await buildSite({ files, options });
    expect(built.exitCode).toBe(1);
    expect(built.log).toMatch(message);
    expect(built.has("twtxt.txt")).toBe(false);
  });

  it("that selects nothing causes a warning", async () => {
    const built = await site({ files, options: "{ collection: () => false }" });
    expect(logged(built)).toEqual([
      'The function in the option "collection" selects none of the 1 pages in collections.all.',
      "Wrote /twtxt.txt (0 twts).",
    ]);
  });
});

describe("a post nested too deeply", () => {
  const deep = "<div>".repeat(5000);

  it("stops the build with its file name and a fix", async () => {
    const built = await buildSite({ files: { "a.html": `---\ntags: posts\ndate: ${at(1)}\n---\n${deep}` } });
    expect(built.exitCode).toBe(1);
    expect(built.log).toContain(
      './a.html: its HTML is nested too deeply to be read. Nest fewer elements, or leave the post out of the feed with "twt: false" in its front matter.',
    );
  });

  it("does not stop the build with twt: false", async () => {
    const built = await buildSite({
      files: { "a.html": `---\ntags: posts\ntwt: false\ndate: ${at(1)}\n---\n${deep}` },
    });
    expect([built.exitCode, built.log]).toEqual([0, expect.stringContaining("Wrote /twtxt.txt (0 twts).")]);
  });
});

describe("a title that YAML parses as a date", () => {
  it("is that date", async () => {
    const built = await site({
      files: { "a.md": "---\ntitle: 2024-01-02\ntags: posts\ndate: 2024-01-03T00:00:01Z\n---\nBody\n" },
    });
    expect(lines(built)).toEqual(["2024-01-03T00:00:01Z\t2024-01-02: https://alice.example/a/"]);
  });
});

describe("an empty collection", () => {
  it("causes a warning that lists the collections", async () => {
    const built = await site({
      files: {
        "a.md": titled(1, "A", { tags: ["articles", "notes"] }),
        "b.md": titled(2, "B", { tags: ["articles"] }),
      },
    });
    expect(built.read("twtxt.txt")).toBe(HEADER);
    const [warning = "", ...others] = logged(built);
    expect(warning).toMatch(
      /^The collection "posts" is empty or missing\. Collections: (.*)\. Set the option "collection" to the right one\.$/,
    );
    const listed = /Collections: (.*)\. Set/.exec(warning)?.[1]?.split(", ") ?? [];
    expect(listed).toEqual(["articles (2)", "notes (1)", "all (2)"]);
    expect(others).toEqual(["Wrote /twtxt.txt (0 twts)."]);
  });

  it("causes a list of the ten likeliest: large ones first, and configured ones before tags", async () => {
    const tags = Array.from({ length: 12 }, (_, i) => `tag${i}`);
    const built = await site({
      files: {
        "a.md": titled(1, "A", { tags }),
        "b.md": titled(2, "B", { tags: ["big", "tag7"] }),
        "c.md": titled(3, "C", { tags: ["big"] }),
        "d.md": titled(4, "D", { tags: ["big"] }),
      },
      config: `
        config.addCollection("few", (api) => api.getAll().slice(0, 1));
        config.addCollection("blog", (api) => api.getAll().slice(0, 2));
        config.addCollection("tagList", () => ["tag0", "tag1"]);
        config.addCollection("byYear", () => ({ 2024: [] }));`,
    });
    const [warning = ""] = logged(built);
    expect(/Collections: (.*)\. Set/.exec(warning)?.[1]).toMatch(
      /^blog \(2\), few \(1\), big \(3\), tag7 \(2\)(, tag\d+ \(1\)){6} and 8 more$/,
    );
  });

  it("causes a warning even alongside a collection with posts", async () => {
    const built = await site({
      files: { "a.md": titled(1, "A") },
      options: `{ collection: ["posts", "nothing", "missing"] }`,
      config: `config.addCollection("nothing", () => []);`,
    });
    expect(lines(built)).toEqual([lineOf(1, "A")]);
    expect(logged(built).map((sentence) => sentence.split(". ")[0])).toEqual([
      'The collection "nothing" is empty or missing',
      'The collection "missing" is empty or missing',
      "Wrote /twtxt.txt (1 twt).",
    ]);
    expect(logged(built)[0]).toContain("nothing (0)");
  });

  it("results in a feed with only a header on a site without posts", async () => {
    const built = await site({ files: { "index.md": quoted({ title: "Home" }, "Welcome\n") } });
    expect(built.read("twtxt.txt")).toBe(HEADER);
    expect(logged(built)).toEqual([
      'The collection "posts" is empty or missing. Collections: all (1). Set the option "collection" to the right one.',
      "Wrote /twtxt.txt (0 twts).",
    ]);
  });

  it("causes a warning even on a site without pages or collections", async () => {
    const built = await site({ files: {} });
    expect(built.read("twtxt.txt")).toBe(HEADER);
    expect(logged(built)[0]).toMatch(/^The collection "posts" is empty or missing\. /);
    expect(logged(built)[0]).not.toContain("Collections: .");
  });
});

describe("the text of a post", () => {
  const HTTPS = "https://alice.example";
  const BOB = "https://bob.example/twtxt.txt";
  /** Name, front matter, body and expected text; `null` for no twt. */
  const cases: [name: string, data: Record<string, unknown>, body: string, text: string | null][] = [
    ["title-alone", { title: "Title" }, "Body", `Title: ${HTTPS}/title-alone/`],
    ["title-and-summary", { title: "Title", summary: "Short." }, "Body", `Title: Short. ${HTTPS}/title-and-summary/`],
    ["no-description", { title: "Title", description: "Boilerplate" }, "Body", `Title: ${HTTPS}/no-description/`],
    ["title-without-body", { title: "Title" }, "", `Title: ${HTTPS}/title-without-body/`],
    ["twt-false", { title: "Title", twt: false }, "Body", null],
    ["twt-text", { title: "Title", summary: "Short.", twt: "My own words" }, "Body", "My own words"],
    ["twt-text-of-lines", { title: "Title", twt: "One\nTwo\r\n\tThree \n" }, "Body", `One${LS}Two${LS} Three`],
    ["twt-text-of-html", { twt: "One &amp; <b>two</b>" }, "Body", "One & two"],
    ["twt-number", { title: "Title", twt: 42 }, "Body", "42"],
    [
      "twt-full",
      { title: "Title", summary: "Short.", twt: "full" },
      "One *two*.\n\nThree.",
      `One *two*.${LS}${LS}Three.`,
    ],
    ["twt-full-without-body", { title: "Title", twt: "full" }, "", null],
    ["twt-true", { title: "Title", twt: true }, "Body", `Title: ${HTTPS}/twt-true/`],
    ["twt-empty", { title: "Title", twt: "" }, "Body", `Title: ${HTTPS}/twt-empty/`],
    ["number-title", { title: 1984, summary: 2 }, "Body", `1984: 2 ${HTTPS}/number-title/`],
    ["no-page", { title: "Title", permalink: false }, "Body", "Title"],
    ["zero-title", { title: 0 }, "Body", `0: ${HTTPS}/zero-title/`],
    [
      "html-title",
      { title: "On <em>really</em> <code>&lt;b&gt;</code>", summary: "A <b>b</b>" },
      "Body",
      `On really <b>: A b ${HTTPS}/html-title/`,
    ],
    [
      "entity-title",
      { title: "Fish &amp; chips &#8212; caf&eacute;", summary: "&quot;Yes&quot;" },
      "Body",
      `Fish & chips — café: "Yes" ${HTTPS}/entity-title/`,
    ],
    [
      "twice-escaped",
      { title: "&amp;lt;b&amp;gt; &amp;amp;", summary: "&amp;lt;" },
      "Body",
      `&lt;b&gt; &amp;: &lt; ${HTTPS}/twice-escaped/`,
    ],
    [
      "ampersands",
      { title: "AT&T, R&D & more &c", summary: "a < b > c" },
      "Body",
      `AT&T, R&D & more &c: a < b > c ${HTTPS}/ampersands/`,
    ],
    [
      "white-space",
      { title: " A\tB\n C\u2028D  E ", summary: "\tF\r\n\r\nG " },
      "Body",
      `A B C D E: F G ${HTTPS}/white-space/`,
    ],
    ["controls", { title: "A\u0007B\u0000C", summary: "D\u0085E" }, "Body", `ABC: D E ${HTTPS}/controls/`],
    [
      "forged",
      { title: "A\n2024-01-01T00:00:00Z\tB", twt: "C\n2024-01-01T00:00:00Z\tD" },
      "Body",
      `C${LS}2024-01-01T00:00:00Z D`,
    ],
    ["empty-title", { title: "", summary: "Short." }, "Body", "Body"],
    ["blank-title", { title: " \t", summary: "Short." }, "Body", "Body"],
    ["note", {}, "One *two* `three`.\nFour.\n\nFive.", `One *two* \`three\`. Four.${LS}${LS}Five.`],
    ["note-of-lines", {}, "One,  \ntwo.", `One,${LS}two.`],
    ["note-with-summary", { summary: "Short." }, "Body", "Body"],
    ["note-without-body", { summary: " Short\n&amp; sweet. " }, "\n \n", "Short & sweet."],
    ["note-of-a-comment", { summary: "Short." }, "<!-- nothing -->\n", "Short."],
    ["note-with-nothing", {}, "\n", null],
    ["short-word", { title: "Title", twt: "fully" }, "Body", "fully"],
    ["mention-in-title", { title: `With @<bob ${BOB}>` }, "Body", `With @<bob ${BOB}>: ${HTTPS}/mention-in-title/`],
    [
      "mention-in-html-title",
      { title: `<b>With</b> @<bob ${BOB}>` },
      "Body",
      `With @<bob ${BOB}>: ${HTTPS}/mention-in-html-title/`,
    ],
    ["mention-in-twt", { title: "Title", twt: `Hello, (@<bob ${BOB}>)` }, "Body", `Hello, ( @<bob ${BOB}>)`],
    ["link-without-nick", { twt: `Hello @<${BOB}>` }, "Body", `Hello @<bob.example ${BOB}>`],
    ["reply", { replyTo: `abcdefg ${BOB}` }, "Yes", `(#abcdefg) @<bob.example ${BOB}> Yes`],
    ["reply-to-long-hash", { replyTo: `abcdefg23456 ${BOB}` }, "Yes", `(#abcdefg23456) @<bob.example ${BOB}> Yes`],
    ["reply-to-mentioned", { replyTo: `abcdefg ${BOB}` }, `Yes @<bob ${BOB}>`, `(#abcdefg) Yes @<bob ${BOB}>`],
    [
      "reply-with-title",
      { title: "Title", replyTo: `abcdefg ${BOB}` },
      "Yes",
      `(#abcdefg) @<bob.example ${BOB}> Title: ${HTTPS}/reply-with-title/`,
    ],
    ["reply-with-twt", { replyTo: `abcdefg ${BOB}`, twt: "No" }, "Yes", `(#abcdefg) @<bob.example ${BOB}> No`],
    ["reply-with-nick", { replyTo: `#abcdefg robert ${BOB}` }, "Yes", `(#abcdefg) @<robert ${BOB}> Yes`],
    [
      "reply-to-oneself",
      { replyTo: `abcdefg ${HTTPS}/twtxt.txt` },
      "Yes",
      `(#abcdefg) @<alice ${HTTPS}/twtxt.txt> Yes`,
    ],
    ["reply-with-nothing", { replyTo: `abcdefg ${BOB}` }, "", null],
    ["reply-to-nobody", { replyTo: "abcdefg" }, "Yes", "(#abcdefg) Yes"],
    ["reply-to-nobody-again", { replyTo: "(#abcdefg23456)" }, "Yes", "(#abcdefg23456) Yes"],
    ["reply-to-digits", { replyTo: 2345672 }, "Yes", "(#2345672) Yes"],
    ["reply-empty", { replyTo: "" }, "Yes", "Yes"],
  ];
  let built: BuiltSite;

  beforeAll(async () => {
    const files = cases.map(([name, data, body], minute) => [
      `${name}.md`,
      quoted({ ...data, date: at(minute), tags: ["posts"] }, body),
    ]);
    built = await site({ files: Object.fromEntries(files) });
  });

  it.each(cases.map(([name, , , text], minute) => ({ name, minute, text })))("$name", ({ minute, text }) => {
    expect(textAt(built, at(minute))).toBe(text);
  });

  it("adds only these lines to the feed", () => {
    expect(lines(built)).toHaveLength(cases.filter(([, , , text]) => text !== null).length);
  });

  it("is reported as missing if empty, but not with twt: false", () => {
    expect(logged(built).at(-1)).toBe(
      `Wrote /twtxt.txt (${lines(built).length} twts). 3 posts without content left out: ./twt-full-without-body.md, ./note-with-nothing.md, ./reply-with-nothing.md. ${WHAT_TO_DO}`,
    );
  });

  it("is reported as missing for the first three posts, with a fix", async () => {
    const empty = Array.from({ length: 61 }, (_, i) => [`${two(i)}.md`, quoted({ date: at(i), tags: ["posts"] })]);
    const silent = await site({ files: Object.fromEntries(empty) });
    expect(logged(silent)).toEqual([
      `Wrote /twtxt.txt (0 twts). 61 posts without content left out: ./00.md, ./01.md, ./02.md and 58 more. ${WHAT_TO_DO}`,
    ]);
  });

  it("causes a warning with the file name for a reply without a feed", () => {
    const [warning, ...others] = logged(built).filter((line) => line.includes("replyTo"));
    expect(warning).toMatch(
      /^3 posts with a replyTo without the URL of a feed, so the author is not notified: .*\. Write replyTo: "<hash> <feed url>"\.$/,
    );
    for (const file of ["./reply-to-nobody.md", "./reply-to-nobody-again.md", "./reply-to-digits.md"])
      expect(warning).toContain(file);
    expect(others).toEqual([]);
  });
});

describe("the option text", () => {
  it("sets the text of each post from its collection item, or keeps the default for undefined", async () => {
    const built = await site({
      files: {
        "words.md": titled(1, "Words"),
        "default.md": titled(2, "Default"),
        "null.md": titled(3, "Null"),
        "empty.md": titled(4, "Empty"),
        "never.md": titled(5, "Never", { twt: false }),
        "reply.md": titled(6, "Reply", { replyTo: "abcdefg https://bob.example/twtxt.txt" }),
        "forged.md": titled(7, "Forged"),
      },
      options: `{ text({ url, date, data: { title }, templateContent }) {
        if (title === "Default") return undefined;
        if (title === "Null") return null;
        if (title === "Empty") return " ";
        if (title === "Forged") return "a\\n2024-01-01T00:00:00Z\\tb";
        return [title, url, date.getUTCFullYear(), templateContent.trim()].join(" | ");
      } }`,
    });
    expect(lines(built)).toEqual([
      `${at(1)}\tWords | /words/ | 2024 | <p>Body</p>`,
      lineOf(2, "Default"),
      lineOf(3, "Null"),
      `${at(6)}\t(#abcdefg) @<bob.example https://bob.example/twtxt.txt> Reply | /reply/ | 2024 | <p>Body</p>`,
      `${at(7)}\ta${LS}2024-01-01T00:00:00Z b`,
    ]);
    expect(logged(built)).toEqual([
      `Wrote /twtxt.txt (5 twts). 1 post without content left out: ./empty.md. ${WHAT_TO_DO}`,
    ]);
  });

  it("receives the default text, which it can return unchanged, and the page's URL", async () => {
    const bob = "https://bob.example/twtxt.txt";
    const built = await site({
      files: {
        "a.md": titled(1, "A", { summary: "Of @bob." }),
        "b.md": quoted({ date: at(2), tags: ["posts"] }, "Hi @bob, \\@bob and `@bob`: *yes*\n"),
        "c.md": quoted({ date: at(3), tags: ["posts"], twt: "to \\@bob and @bob", replyTo: `abcdefg ${bob}` }, "Body"),
        "d.md": titled(4, "D", { permalink: false }),
        "e.md": titled(5, "E", { twt: "full" }),
      },
      options: `{
        follow: [{ nick: "bob", url: "${bob}" }],
        text: ({ data: { title } }, { text, permalink }) => (title ? \`\${permalink} says \${text}\` : text),
      }`,
    });
    expect(lines(built)).toEqual([
      `${at(1)}\thttps://alice.example/a/ says A: Of @<bob ${bob}>. https://alice.example/a/`,
      `${at(2)}\tHi @<bob ${bob}>, @bob and \`@bob\`: *yes*`,
      `${at(3)}\t(#abcdefg) to @bob and @<bob ${bob}>`,
      `${at(4)}\tnull says D`,
      `${at(5)}\thttps://alice.example/e/ says Body`,
    ]);
  });

  it("warns about a note without visible characters", async () => {
    const built = await site({
      files: {
        "a.md": quoted({ date: at(1), tags: ["posts"] }, "&#8203;&#8288;"),
        "b.md": quoted({ date: at(2), tags: ["posts"], twt: "\u2800 \u00ad\ufeff\u200b" }, "Body"),
        "c.md": quoted({ date: at(3), tags: ["posts"] }, "\u200b."),
      },
    });
    expect(logged(built)).toEqual([
      "2 posts without a visible character: ./a.md, ./b.md. Readers see an empty twt. Add some text, or leave the post out with twt: false.",
      "Wrote /twtxt.txt (3 twts).",
    ]);
  });

  it("stops the build with the error it throws", async () => {
    const built = await buildSite({
      files: { "a.md": titled(1, "A") },
      options: `{ text() { throw new Error("of the author"); } }`,
    });
    expect(built.exitCode).toBe(1);
    expect(built.log).toContain("of the author");
    expect(built.has("twtxt.txt")).toBe(false);
  });
});

describe("the option follow", () => {
  it("adds the nick to a reply, and the feed to short mentions", async () => {
    const built = await site({
      files: {
        "reply.md": quoted({ date: at(1), tags: ["posts"], replyTo: "abcdefg https://bob.example/twtxt.txt" }, "Yes"),
        "short.md": titled(2, "Like @bob", { summary: "and @carol" }),
        "twt.md": titled(3, "T", { twt: "(@bob) `@bob` foo@bob @bobby" }),
      },
      options: `{ follow: [{ nick: "bob", url: "https://bob.example/twtxt.txt" }] }`,
    });
    expect(lines(built)).toEqual([
      `${at(1)}\t(#abcdefg) @<bob https://bob.example/twtxt.txt> Yes`,
      `${at(2)}\tLike @<bob https://bob.example/twtxt.txt>: and @carol https://alice.example/short/`,
      `${at(3)}\t\u200b( @<bob https://bob.example/twtxt.txt>) \`@bob\` foo@bob @bobby`,
    ]);
  });
});

describe("an invalid replyTo", () => {
  it.each<{ replyTo: unknown }>([
    { replyTo: "abcdef https://bob.example/twtxt.txt" },
    { replyTo: "https://bob.example/twtxt.txt" },
    { replyTo: "abcdefg bob.example/twtxt.txt" },
    { replyTo: "1BCDEFG https://bob.example/twtxt.txt" },
    { replyTo: ["abcdefg", "https://bob.example/twtxt.txt"] },
  ])("stops the build with the file name: $replyTo", async ({ replyTo }) => {
    const built = await buildSite({
      files: { "notes/yes.md": quoted({ date: at(1), tags: ["posts"], replyTo }, "Yes") },
    });
    expect(built.exitCode).toBe(1);
    expect(buildError(built)).toBe(
      `./notes/yes.md: expected replyTo: "<hash> <feed url>", such as "abcdefg https://bob.example/twtxt.txt", got ${JSON.stringify(replyTo)}.`,
    );
    expect(built.has("twtxt.txt")).toBe(false);
  });
});
