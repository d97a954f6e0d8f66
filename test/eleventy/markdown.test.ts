import { beforeAll, describe, expect, it } from "vitest";
import { findMentions } from "../../plugin/feed/mention.js";
import { type BuiltSite, site } from "../helpers/site.js";
import { quoted, textAt } from "./read-build.js";

const LS = "\u2028";
const BOB = "https://bob.example/twtxt.txt";
const CAROL = "https://carol.example/tw.txt";
/** A mention of Bob on a page and in the feed. */
const LINK = `<a href="${BOB}" class="u-mention" dir="auto">@bob</a>`;
const WIRE = `@<bob ${BOB}>`;
const FOLLOW = `{ follow: [
  { nick: "bob", url: "${BOB}" },
  { nick: "a--b", url: "https://ab.example/twtxt.txt" },
  { nick: "dotted...(c)".slice(0, 9), url: "https://dots.example/twtxt.txt" },
] }`;

interface Case {
  /** The Markdown of the post. */
  md: string;
  /** The HTML of the page. */
  html?: string;
  /** The text of the twt, with PAGE for the name of the page. */
  twt?: string;
  /** Whether the twt has no mention. */
  isPlain?: true;
}

function at(i: number): string {
  return new Date(Date.parse("2024-01-02T03:04:05Z") + i * 1000).toISOString().replace(".000", "");
}

function notes(cases: Record<string, Case>): Record<string, string> {
  return Object.fromEntries(
    Object.values(cases).map(({ md }, i) => [`n${i}.md`, quoted({ date: at(i), tags: ["posts"] }, `${md}\n`)]),
  );
}

/** Builds all cases as one site. */
function itWrites(cases: Record<string, Case>, setup: { config?: string; imports?: string; options?: string }): void {
  let built: BuiltSite;
  beforeAll(async () => {
    built = await site({ options: FOLLOW, ...setup, files: notes(cases) });
  });

  it.each(Object.keys(cases).map((name, i) => ({ name, i })))("$name", ({ name, i }) => {
    const { html, twt, isPlain } = cases[name] ?? { md: "" };
    const text = textAt(built, at(i)) ?? "";
    if (html !== undefined) expect(built.read(`n${i}/index.html`)).toBe(html);
    if (twt !== undefined) expect(text).toBe(twt.replaceAll("PAGE", `n${i}`));
    expect(text).not.toBe("");
    if (isPlain) expect(findMentions(text)).toEqual([]);
  });
}

const everywhere: Record<string, Case> = {
  "a mention in wire form": { md: `Hello ${WIRE}!`, html: `<p>Hello ${LINK}!</p>\n`, twt: `Hello ${WIRE}!` },
  "a mention by the nick of a followed feed": {
    md: "Hello @bob!",
    html: `<p>Hello ${LINK}!</p>\n`,
    twt: `Hello ${WIRE}!`,
  },
  "a mention alone": { md: "@bob", html: `<p>${LINK}</p>\n`, twt: WIRE },
  "a mention twice": { md: `@bob and ${WIRE}`, html: `<p>${LINK} and ${LINK}</p>\n`, twt: `${WIRE} and ${WIRE}` },
  "a mention on each line": { md: "@bob\n@bob", html: `<p>${LINK}\n${LINK}</p>\n`, twt: `${WIRE} ${WIRE}` },
  "a mention of a feed that is not followed": {
    md: `Hello @<carol ${CAROL}>`,
    html: `<p>Hello <a href="${CAROL}" class="u-mention" dir="auto">@carol</a></p>\n`,
    twt: `Hello @<carol ${CAROL}>`,
  },
  "a mention without a nick gets the nick from the follow list": {
    md: `@<${BOB}>`,
    html: `<p>${LINK}</p>\n`,
    twt: WIRE,
  },
  "a mention without a nick gets the host as its nick": {
    md: `@<${CAROL}>`,
    html: `<p><a href="${CAROL}" class="u-mention" dir="auto">@carol.example</a></p>\n`,
    twt: `@<carol.example ${CAROL}>`,
  },
  "a URL with a query": {
    md: "@<dave https://dave.example/feed?a=1&b=2>",
    html: `<p><a href="https://dave.example/feed?a=1&amp;b=2" class="u-mention" dir="auto">@dave</a></p>\n`,
    twt: "@<dave https://dave.example/feed?a=1&b=2>",
  },
  "a URL is unchanged byte for byte, because receivers verify it": {
    md: "@<zoë https://Zoe.example:443/~zoë/twtxt.txt>",
    html: `<p><a href="https://Zoe.example:443/~zoë/twtxt.txt" class="u-mention" dir="auto">@zoë</a></p>\n`,
    twt: "@<zoë https://Zoe.example:443/~zoë/twtxt.txt>",
  },
  "code spans are left alone": {
    md: `\`@bob\` and \`${WIRE}\``,
    html: `<p><code>@bob</code> and <code>@&lt;bob ${BOB}&gt;</code></p>\n`,
    twt: `\`@bob\` and \`${WIRE}\``,
    isPlain: true,
  },
  "code blocks are left alone": {
    md: `\`\`\`\n@bob ${WIRE}\n\`\`\``,
    html: `<pre><code>@bob @&lt;bob ${BOB}&gt;\n</code></pre>\n`,
    twt: `\`\`\`${LS}@bob ${WIRE}${LS}\`\`\``,
    isPlain: true,
  },
  "an unknown nick and a tag are plain": {
    md: "Hi @nobody, on #tag",
    html: "<p>Hi @nobody, on #tag</p>\n",
    twt: "Hi @nobody, on #tag",
  },
  "a longer name that starts with a followed nick is plain": {
    md: "@bobby @bob_ @bob2",
    html: "<p>@bobby @bob_ @bob2</p>\n",
    twt: "@bobby @bob_ @bob2",
  },
  "an address of another network is plain": {
    md: "@bob@social.example, no",
    html: "<p>@bob@social.example, no</p>\n",
    twt: "@bob@social.example, no",
  },
  "a name within a word is plain": { md: "foo@bob", html: "<p>foo@bob</p>\n", twt: "foo@bob" },
  "punctuation after a name": {
    md: "@bob, @bob; (@bob)",
    html: `<p>${LINK}, ${LINK}; (${LINK})</p>\n`,
    twt: `${WIRE}, ${WIRE}; ( ${WIRE})`,
  },
  "parentheses around a wire form": { md: `(${WIRE})`, html: `<p>(${LINK})</p>\n`, twt: `\u200b( ${WIRE})` },
};

describe("mentions in Markdown, with markdown-it and the options html, linkify and typographer", () => {
  itWrites(
    {
      ...everywhere,
      "an escaped mention is text": {
        md: `\\${WIRE}`,
        html: `<p>@&lt;bob <a href="${BOB}">${BOB}</a>&gt;</p>\n`,
        twt: `@\\<bob ${BOB}>`,
        isPlain: true,
      },
      "an escaped name is text": { md: "\\@bob", html: "<p>@bob</p>\n", isPlain: true },
      "a mention directly after a word is text": {
        md: `foo${WIRE}`,
        html: `<p>foo@&lt;bob <a href="${BOB}">${BOB}</a>&gt;</p>\n`,
        isPlain: true,
      },
      "a nick with two dashes": {
        md: "@<a--b https://ab.example/twtxt.txt> -- @a--b",
        html: `<p>${`<a href="https://ab.example/twtxt.txt" class="u-mention" dir="auto">@a--b</a> – `.repeat(2).slice(0, -3)}</p>\n`,
        twt: "@<a--b https://ab.example/twtxt.txt> – @<a--b https://ab.example/twtxt.txt>",
      },
      "a nick with three dots": {
        md: "@dotted... @<x...y https://xy.example/twtxt.txt>...",
        html: `<p><a href="https://dots.example/twtxt.txt" class="u-mention" dir="auto">@dotted...</a> <a href="https://xy.example/twtxt.txt" class="u-mention" dir="auto">@x...y</a>…</p>\n`,
        twt: "@<dotted... https://dots.example/twtxt.txt> @<x...y https://xy.example/twtxt.txt>…",
      },
      "quotes around a mention": {
        md: `"@bob" '${WIRE}'`,
        html: `<p>“${LINK}” ‘${LINK}’</p>\n`,
        twt: `“ ${WIRE}” ‘ ${WIRE}’`,
      },
      "a possessive": { md: "@bob's", html: `<p>${LINK}’s</p>\n`, twt: `${WIRE}’s` },
      "emphasis around a mention": {
        md: `*@bob* **${WIRE}**`,
        html: `<p><em>${LINK}</em> <strong>${LINK}</strong></p>\n`,
        twt: `* ${WIRE}* ** ${WIRE}**`,
      },
      "a mention in a heading, a quotation and a list": {
        md: "## @bob\n\n> @bob\n\n- @bob",
        html: `<h2>${LINK}</h2>\n<blockquote>\n<p>${LINK}</p>\n</blockquote>\n<ul>\n<li>${LINK}</li>\n</ul>\n`,
        twt: `## ${WIRE}${LS}${LS}> ${WIRE}${LS}${LS}- ${WIRE}`,
      },
      "a mention in a table": {
        md: "| a | b |\n|---|---|\n| @bob | x |",
        html: `<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>${LINK}</td>\n<td>x</td>\n</tr>\n</tbody>\n</table>\n`,
      },
      "a name in a link's text is plain": {
        md: "[@bob](https://x.example/)",
        html: `<p><a href="https://x.example/">@bob</a></p>\n`,
        twt: "[@bob](https://x.example/)",
        isPlain: true,
      },
      "a name in a URL is part of it": {
        md: "https://social.example/@bob",
        html: `<p><a href="https://social.example/@bob">https://social.example/@bob</a></p>\n`,
        twt: "https://social.example/@bob",
        isPlain: true,
      },
      "a name in a URL in angle brackets is part of it": {
        md: "<https://social.example/@bob>",
        html: `<p><a href="https://social.example/@bob">https://social.example/@bob</a></p>\n`,
        twt: "https://social.example/@bob",
        isPlain: true,
      },
      "a name in a link's destination is part of it": {
        md: "[there](https://social.example/@bob)",
        html: `<p><a href="https://social.example/@bob">there</a></p>\n`,
        twt: "[there](https://social.example/@bob)",
        isPlain: true,
      },
      "a name in an attribute is part of it": {
        md: `<b title="@bob">x</b>`,
        html: `<p><b title="@bob">x</b></p>\n`,
        twt: "**x**",
      },
      "a mention without a valid URL is text": { md: "@<bob bob/example>", twt: "@\\<bob bob/example>", isPlain: true },
      "a dangerous URL is not a link": {
        md: "@<bob javascript://x/%0aalert(1)>",
        twt: "@\\<bob javascript://x/%0aalert(1)>",
      },
      "relative links and images become absolute": {
        md: '[a](/about/) [b](../c/?d=1) [e](#f) ![g](pic.png) <img src="/h.png" alt="i">',
        twt: `[a](https://alice.example/about/) [b](https://alice.example/c/?d=1) [e](https://alice.example/PAGE/#f) ![g](https://alice.example/PAGE/pic.png) ![i](https://alice.example/h.png)`,
      },
      "a table": { md: "| a | b |\n|---|---|\n| 1 | 2 |", twt: `| a | b |${LS}| - | - |${LS}| 1 | 2 |` },
      lists: { md: "- a\n- b\n  - c\n\n1. d\n2. e", twt: `- a${LS}- b${LS}  - c${LS}${LS}1. d${LS}2. e` },
      "a code block with a language": {
        md: "```js\nlet a = `b`;\n\n\tc();\n```",
        twt: `\`\`\`js${LS}let a = \`b\`;${LS}${LS} c();${LS}\`\`\``,
      },
      "a heading, a quotation, a rule": {
        md: "## a\n\n> b\n\n---\n\nc",
        twt: `## a${LS}${LS}> b${LS}${LS}---${LS}${LS}c`,
      },
      "text that looks like Markdown is unchanged": {
        md: "snake_case 2 \\* 3 \\* 4 [x] a_b_c \\_d\\_ ~ 1. #",
        twt: "snake_case 2 * 3 * 4 [x] a_b_c _d_ ~ 1. #",
      },
      "entities are decoded once": { md: "&lt;b&gt; &amp;amp; AT&amp;T", twt: "<b> &amp; AT&T" },
      footnotes: {
        md: `Text<sup class="footnote-ref"><a href="#fn1" id="fnref1">[1]</a></sup>\n\n<section class="footnotes"><ol><li id="fn1" class="footnote-item"><p>Note of @bob <a href="#fnref1" class="footnote-backref">↩︎</a></p></li></ol></section>`,
      },
      "scripts and styles are omitted": {
        md: `Before\n\n<script>document.write("@<bob ${BOB}>")</script>\n\n<style>p { color: red }</style>\n\nafter`,
        twt: `Before${LS}${LS}after`,
      },
      "comments are omitted": {
        md: "Before <!-- hidden @bob -->\n\n<!-- more -->\n\nafter",
        twt: `Before${LS}${LS}after`,
        isPlain: true,
      },
      "a link whose text is its URL": {
        md: "https://x.example/a_b <https://y.example/> [z.example](https://z.example/) a@b.example",
        twt: "https://x.example/a_b https://y.example/ https://z.example/ a@b.example",
      },
      "a link's title is omitted": { md: `[a](https://x.example/ "@bob")`, twt: "[a](https://x.example/)" },
    },
    {
      imports: `import markdownIt from "markdown-it";`,
      config: `config.setLibrary("md", markdownIt({ html: true, linkify: true, typographer: true }));`,
    },
  );
});

describe("mentions in Markdown, with Eleventy's own markdown-it", () => {
  itWrites(
    {
      ...everywhere,
      "an escaped mention is text": {
        md: `\\${WIRE}`,
        html: `<p>@&lt;bob ${BOB}&gt;</p>\n`,
        twt: `@\\<bob ${BOB}>`,
        isPlain: true,
      },
      "a name in a URL is part of it": {
        md: "https://social.example/@bob",
        html: "<p>https://social.example/@bob</p>\n",
        twt: "https://social.example/@bob",
        isPlain: true,
      },
      "a link written by hand": {
        md: `<a class="h-card u-mention" href="${BOB}"><b>@bob</b></a> <a href="${CAROL}" class="u-mention" dir="auto">Carol C.</a> <a class="u-mention" dir="auto">x</a>`,
        twt: `${WIRE} @<carol.example ${CAROL}> x`,
      },
    },
    {},
  );
});

describe("mentions in Markdown, with another library that escapes HTML", () => {
  itWrites(everywhere, {
    config: `
      const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
      const render = (text) => {
        const block = /^\`\`\`\\n([^]*)\`\`\`\\n?$/.exec(text);
        if (block) return "<pre><code>" + escape(block[1]) + "</code></pre>\\n";
        return "<p>" + escape(text.trim()).replace(/\`([^\`]*)\`/g, "<code>$1</code>") + "</p>\\n";
      };
      config.setLibrary("md", { render });`,
  });
});

describe("mentions in Markdown, with another library that does not escape HTML", () => {
  itWrites(everywhere, {
    config: `
      const escape = (text) => text.replace(/</g, "&lt;").replace(/>/g, "&gt;");
      const render = (text) => {
        const block = /^\`\`\`\\n([^]*)\`\`\`\\n?$/.exec(text);
        if (block) return "<pre><code>" + escape(block[1]) + "</code></pre>\\n";
        return "<p>" + text.trim().replace(/\`([^\`]*)\`/g, (_, code) => "<code>" + escape(code) + "</code>") + "</p>\\n";
      };
      config.setLibrary("md", { render });`,
  });
});

describe("another Markdown library", () => {
  it("links mentions in the text of a page, but not in its head, code, links and attributes", async () => {
    const built = await site({
      options: FOLLOW,
      config: `config.setLibrary("md", { render: (text) => text });`,
      files: {
        "_includes/page.njk": `<html><head><title>@bob</title><meta name="x" content="@bob"></head><body><!-- @bob -->{{ content | safe }}<script>"@bob"</script><textarea>@bob</textarea></body></html>`,
        "a.md": quoted(
          { layout: "page.njk", title: "T", tags: ["posts"], date: at(0) },
          `<p title="@bob">@bob <a href="/@bob">@bob</a> <kbd>@bob</kbd></p>`,
        ),
        "b.html": quoted({}, "<p>foo@bob.example @nobody</p>"),
      },
    });
    const head = `<link rel="alternate" type="text/plain" title="alice's twtxt feed" href="/twtxt.txt">\n`;
    expect(built.read("a/index.html")).toBe(
      `<html><head><title>@bob</title><meta name="x" content="@bob">${head}</head><body><!-- @bob --><p title="@bob">${LINK} <a href="/@bob">@bob</a> <kbd>${LINK}</kbd></p><script>"@bob"</script><textarea>@bob</textarea></body></html>`,
    );
    expect(built.read("b/index.html")).toBe("<p>foo@bob.example @nobody</p>");
    expect(textAt(built, at(0))).toBe(`T: https://alice.example/a/ ${WIRE}`);
  });
});

describe("the body of a titled post", () => {
  it("adds each of its mentions to the text once", async () => {
    const body = `@bob and ${WIRE} and @<carol ${CAROL}>, \`@<dave https://dave.example/twtxt.txt>\``;
    const built = await site({
      options: FOLLOW,
      files: {
        "a.md": quoted({ title: "T", tags: ["posts"], date: at(0) }, body),
        "b.md": quoted({ title: "T for @bob", tags: ["posts"], date: at(1) }, body),
        "c.md": quoted({ title: "T", twt: `Said to ${WIRE}`, tags: ["posts"], date: at(2) }, body),
        "d.md": quoted({ title: "T", twt: "full", tags: ["posts"], date: at(3) }, "@bob"),
        "e.md": quoted({ title: "T", replyTo: `abcdefg ${CAROL}`, tags: ["posts"], date: at(4) }, body),
        "f.md": quoted({ title: "T", twt: false, tags: ["posts"], date: at(5) }, body),
      },
    });
    const carol = `@<carol ${CAROL}>`;
    expect([0, 1, 2, 3, 4, 5].map((i) => textAt(built, at(i)))).toEqual([
      `T: https://alice.example/a/ ${WIRE} ${carol}`,
      `T for ${WIRE}: https://alice.example/b/ ${carol}`,
      `Said to ${WIRE} ${carol}`,
      WIRE,
      `(#abcdefg) T: https://alice.example/e/ ${WIRE} ${carol}`,
      null,
    ]);
  });

  it("also adds mentions from Nunjucks or an include", async () => {
    const built = await site({
      options: FOLLOW,
      files: {
        "_includes/bob.md": WIRE,
        "a.njk": quoted(
          { title: "T", tags: ["posts"], date: at(0) },
          `<p><a href="${BOB}" class="u-mention" dir="auto">@bob</a></p>`,
        ),
        "b.md": quoted({ title: "T", tags: ["posts"], date: at(1) }, `{% include "bob.md" %}`),
      },
    });
    expect([0, 1].map((i) => textAt(built, at(i)))).toEqual([
      `T: https://alice.example/a/ ${WIRE}`,
      `T: https://alice.example/b/ ${WIRE}`,
    ]);
  });
});

describe("a mention that is only in the rendered body", () => {
  it("is also in the feed", async () => {
    const built = await site({
      files: { "a.md": quoted({ tags: "posts", title: "A", date: at(1) }, "See ~bob~.\n") },
      config: `config.amendLibrary("md", (md) => {
        md.core.ruler.push("tilde_bob", (state) => {
          for (const { children } of state.tokens) {
            for (const token of children ?? []) {
              if (!token.content.includes("~bob~")) continue;
              token.type = "html_inline";
              token.content = token.content.replace("~bob~", '<a class="u-mention" href="https://bob.example/twtxt.txt">bob</a>');
            }
          }
        });
      });`,
    });
    expect(textAt(built, at(1))).toBe("A: https://alice.example/a/ @<bob https://bob.example/twtxt.txt>");
  });
});
