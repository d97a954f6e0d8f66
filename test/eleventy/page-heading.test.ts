import { describe, expect, it } from "vitest";
import { pageHeading, withOneHeading } from "../../plugin/eleventy/pages/page-html.js";
import { post, site } from "../helpers/site.js";

const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const FILES = {
  "posts/note.md": post({ date: "2026-01-02T03:04:05Z", tags: "posts" }, "hello"),
  "_includes/base.njk": "<!doctype html><html><title>{{ title }}</title><main>{{ content | safe }}</main></html>",
  "_includes/titled.njk": "---\nlayout: base.njk\n---\n<article><h1>{{ title }}</h1>{{ content | safe }}</article>",
  "_includes/named.njk": '---\nlayout: base.njk\n---\n<h1 class="site"><a href="/">Alice</a></h1>{{ content | safe }}',
};

function headingsOf(page: string): string[] {
  return [...page.matchAll(/<(h[1-6])\b[^>]*>(.*?)<\/\1>/gs)].map(([, tag, html]) => `${tag} ${html}`);
}

describe("the plugin's pages", () => {
  it.each([
    ["without a layout", "", ["h1 Mentions"], ["h1 Contact"]],
    ["in a layout without a heading", 'layout: "base.njk"', ["h1 Mentions"], ["h1 Contact"]],
    ["in a layout with the page's title", 'layout: "titled.njk"', ["h1 Mentions"], ["h1 Contact"]],
    [
      "in a layout with the site's name",
      'layout: "named.njk"',
      ['h1 <a href="/">Alice</a>', "h2 Mentions"],
      ['h1 <a href="/">Alice</a>', "h2 Contact"],
    ],
  ])("have one <h1>: %s", async (_name, layout, mentions, contact) => {
    const options = `{ host: "node", key: "${KEY}", mentions: { ${layout} }, inbox: { ${layout} } }`;
    const alice = await site({ files: FILES, options });

    expect(headingsOf(alice.read("mentions/index.html"))).toEqual(mentions);
    expect(headingsOf(alice.read("contact/index.html"))).toEqual(contact);
  });

  it.each([
    ["escaped differently", "Q&amp;A: &quot;me&#39;", true],
    ["in capitals, with an anchor", '<span>q&#38;A: "ME\'</span> <a href="#me">#</a>', true],
    ["with the site's name", "Q&amp;A: me – Alice", true],
    ["absent", "Alice", false],
  ])("detect their title in a layout: %s", (_name, html, isTitle) => {
    const heading = pageHeading(`Q&A: "me'`);
    const layout = (content: string) => `<h1 id=top>\n${html}\n</h1>${content}`;

    expect(withOneHeading(layout(heading))).toBe(
      layout(isTitle ? "\n" : heading.replace("<h1", "<h2").replace("</h1", "</h2")),
    );
  });

  it("keep their heading despite one in a comment, script or template", () => {
    const page = `<!-- <h1>Me</h1> --><script>"<h1>Me</h1>"</script><template><h1>Me</h1></template>${pageHeading("Me")}`;

    expect(withOneHeading(page)).toBe(page);
  });
});
