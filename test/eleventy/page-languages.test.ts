import { describe, expect, it } from "vitest";
import { chooseAnswerWords } from "../../plugin/options/answer-translations.js";
import { chooseCommentWords } from "../../plugin/options/comment-translations.js";
import { chooseContactWords } from "../../plugin/options/contact-translations.js";
import { chooseEndpointWords } from "../../plugin/options/endpoint-words.js";
import { chooseHeadWords } from "../../plugin/options/head-words.js";
import { chooseWords } from "../../plugin/options/translations.js";
import { longMention } from "../helpers/long-conversation.js";
import { loopbackServer } from "../helpers/loopback.js";
import { post, site } from "../helpers/site.js";

const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const layout = (lang: string) =>
  `<!doctype html><html${lang}><head><title>x</title></head><body>{{ content | safe }}{% twtxtReply %}{% twtxtReply "REPLY:" %}{% twtxtMentions %}</body></html>`;

/** The words of a page that show its language. */
const WORDS: Record<string, string> = { en: "Replies", de: "Antworten", fr: "Réponses", es: "Respuestas", ja: "返信" };

/** The label of the shortcode `twtxtReply`. */
const LABELS: Record<string, string> = {
  de: "In einem twtxt-Client antworten mit:",
  fr: "Répondre depuis un client twtxt avec\u00a0:",
  es: "Responder desde un cliente twtxt con:",
  ja: "twtxtクライアントから返信するには:",
};

function languagesOf(page: string): string[] {
  return Object.keys(WORDS).filter((lang) => page.includes(`>${WORDS[lang]} <`));
}

/** Alice's site, where each of these pages has three replies. */
async function alice(pages: readonly string[]) {
  const server = await loopbackServer((_, response) => {
    const mentions = pages.flatMap((page) => [2, 1, 0].map((minute) => longMention(server.url + page, minute)));
    response.end(JSON.stringify({ mentions, next: null }));
  });
  return server;
}

describe("French words", () => {
  it("do not break before a colon or a question mark", () => {
    const all = [chooseWords, chooseContactWords, chooseCommentWords, chooseAnswerWords, chooseEndpointWords];
    const words = [...all, chooseHeadWords].map((choose) => choose("fr"));
    expect(JSON.stringify(words).match(/\w+ [:?!;]/g)).toBeNull();
    expect(chooseWords("fr").replyWith).toBe(LABELS.fr);
  });
});

describe("the words of mentions", () => {
  it("follow the language of each page: page.lang, or <html lang>; English ones on another page say that they are English", async () => {
    const languages = ["de", "fr", "es", "ja"];
    const { url } = await alice(["/de/quinces/", "/fr/quinces/", "/es/quinces/", "/ja/quinces/", "/plain/"]);
    const built = await site({
      files: {
        "_includes/page.njk": layout(` lang="{{ lang }}"`),
        "_includes/plain.njk": layout(""),
        "_includes/pt.njk": `<!doctype html><html lang="pt"><title>x</title>{{ content | safe }}{% twtxtSyndication %}{% twtxtReply %}</html>`,
        // Here only the data of the page has the language.
        "fr/quinces.md": post({ title: "Quinces", date: "2026-03-04", tags: "posts", layout: "plain.njk" }),
        ...Object.fromEntries(
          ["de", "es", "ja"].map((lang) => [
            `${lang}/quinces.md`,
            post({ title: "Quinces", date: "2026-03-04", tags: "posts", layout: "page.njk", lang }),
          ]),
        ),
        "pt.md": post({
          ...{ title: "Marmelos", date: "2026-03-04", tags: "posts", layout: "pt.njk" },
          syndication: "https://mastodon.example/@alice/1",
        }),
        "plain.md": post({ title: "Plain", date: "2026-03-04", tags: "posts", layout: "plain.njk" }),
      },
      options: `{ url: "${url}", host: "node", lang: "en", mentions: { perPage: 2, layout: "pt.njk" } }`,
      config: `config.addGlobalData("eleventyComputed.page.lang", () => (data) => data.page.url.startsWith("/fr/") ? "fr" : undefined);`,
    });

    for (const lang of languages) {
      const page = built.read(`${lang}/quinces/index.html`);
      expect(languagesOf(page)).toEqual([lang]);
      const labels = [...page.matchAll(/<p class="twtxt-reply">(.*?) <code>\(#\w+\) @&lt;alice [^<]*<\/code><\/p>/g)];
      expect(labels.map(([, label]) => label)).toEqual([LABELS[lang], "REPLY:"]);
    }
    expect(built.read("plain/index.html")).toContain("Reply from a twtxt client with:");
    expect(built.read("de/quinces/index.html")).toMatch(
      /<twtxt-mentions [^>]*lang="de"[^>]*data-text-replies="Antworten"/,
    );
    expect(built.read("de/quinces/index.html")).toContain("Hast du darüber geschrieben?");
    expect(built.read("plain/index.html")).toMatch(/<html><head>/);
    expect(built.read("mentions/index.html")).toContain('<nav class="twtxt-around" lang="en" aria-label="Mentions">');
    const portuguese = built.read("pt/index.html");
    expect(portuguese).toContain('<p class="twtxt-syndication" lang="en">Also on ');
    expect(portuguese).toContain('<p class="twtxt-reply" lang="en">Reply from');
  });

  it("follow <html lang> of a page that a minifier has changed, on every page of the plugin, below a path prefix", async () => {
    const { url } = await alice(["/blog/quinces/"]);
    const built = await site({
      files: {
        "_includes/base.njk": `<!doctype html><html lang="de"><head><title>{{ title }}</title></head><body>{{ content | safe }}</body></html>`,
        "_includes/post.njk":
          "---\nlayout: base.njk\n---\n{{ content | safe }}{% twtxtReply %}<p>Yours, Alice</p>{% twtxtMentions %}",
        "quinces.md": post({ title: "Quinces", date: "2026-03-04", tags: "posts", layout: "post.njk" }),
      },
      options: `{ url: "${url}", host: "node", key: "${KEY}", mentions: { perPage: 2, layout: "base.njk" }, inbox: { layout: "base.njk" } }`,
      imports: `import { HtmlBasePlugin } from "@11ty/eleventy";`,
      config: `config.addPlugin(HtmlBasePlugin);
config.addTransform("minify", (content) => content.replace(/\\n+/g, " ").replace(/ class="([\\w-]+)"/g, " class=$1").replace(/<\\/p>/g, ""));
return { pathPrefix: "/blog/" };`,
    });

    expect(languagesOf(built.read("quinces/index.html"))).toEqual(["de"]);
    expect(built.read("quinces/index.html")).toMatch(/>In einem twtxt-Client antworten mit: <code>.*<p>Yours, Alice/);
    expect(built.read("mentions/index.html")).toContain("hat geantwortet");
    expect(built.read("mentions/index.html")).toContain('<a href="/blog/mentions/2/" rel="next">Ältere</a>');
    expect(built.read("contact/index.html")).toContain('lang="de"');
  });

  it("that the author has set are those of the site's own language", async () => {
    const { url } = await alice(["/pl/", "/en/"]);
    const built = await site({
      files: {
        "_includes/page.njk": layout(` lang="{{ lang }}"`),
        "pl.md": post({ title: "Pigwa", date: "2026-03-04", tags: "posts", layout: "page.njk", lang: "pl" }),
        "en.md": post({ title: "Quince", date: "2026-03-05", tags: "posts", layout: "page.njk", lang: "en" }),
      },
      options: `{ url: "${url}", host: "node", lang: "pl", mentions: { words: { replies: "Odpowiedzi" } } }`,
    });

    expect(built.read("pl/index.html")).toContain(">Odpowiedzi <");
    expect(languagesOf(built.read("en/index.html"))).toEqual(["en"]);
  });
});

it.each(["", "head: false, "])("links in the head have titles in the language of their page: %s", async (head) => {
  const write = (lang: string, name: string) => [
    `${name}.md`,
    post({ title: name, date: "2026-03-04", tags: "posts", layout: "page.njk", lang }),
  ];
  const shortcode = head === "" ? "" : "{% twtxtHead %}";
  const built = await site({
    files: {
      "_includes/page.njk": `<!doctype html><html lang="{{ lang }}"><head>${shortcode}</head><body>{{ content | safe }}{% twtxtMentions %}</body></html>`,
      ...Object.fromEntries([
        write("de", "quitten"),
        write("fr", "coings"),
        write("de", "birnen"),
        write("pl", "pigwa"),
      ]),
    },
    options: `{ host: "node", ${head}lang: "en", key: "${KEY}", mentions: { comments: true } }`,
  });
  const list = (page: string) =>
    [...built.read(`${page}/index.html`).matchAll(/<link [^>]* title="([^"]*)"/g)].map(([, title]) => title);
  const atom = (title: string) => (head === "" ? [title] : []);
  const address = "alice@alice.example";
  const german = ["twtxt-Feed von alice", ...atom("Erwähnungen"), `Private Nachrichten an ${address}`];
  expect([list("quitten"), list("birnen")]).toEqual([german, german]);
  expect(list("coings")).toEqual(["Flux twtxt de alice", ...atom("Mentions"), `Messages privés à ${address}`]);
  expect(list("pigwa")).toEqual(["alice's twtxt feed", ...atom("Mentions"), `Private messages to ${address}`]);
  expect(built.read("coings/index.html")).toContain('aria-label="Laissez ce champ vide"');
});
