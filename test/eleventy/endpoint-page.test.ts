import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../plugin/errors.js";
import { outcomePage, refusalPage } from "../../plugin/mentions/receive/endpoint-page.js";
import { serve } from "../cli/server.js";
import { type BuiltSite, post, site } from "../helpers/site.js";

const files = {
  "_includes/base.njk": `<html lang="en"><head><title>{{ title }}</title></head><body><nav id="own"></nav>{{ content | safe }}</body></html>`,
  "posts/a.md": post({ title: "A", date: "2026-03-04", tags: "posts", layout: "base.njk" }),
};
const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const BROWSER = { accept: "text/html" };

async function answers(built: BuiltSite): Promise<string[]> {
  const { url } = await serve(built);
  const body = new URLSearchParams({ source: "not a url <b>", target: "https://alice.example/posts/a/" });
  const refusal = await fetch(`${url}/webmention`, { method: "POST", headers: BROWSER, body });
  expect(refusal.status).toBe(400);
  return [await (await fetch(`${url}/webmention`, { headers: BROWSER })).text(), await refusal.text()];
}

describe("the endpoint's answers to people", () => {
  it("are in the site's layout, with a way back, and their page is no page of the site", async () => {
    const built = await site({ files, options: `{ host: "node", layout: "base.njk" }` });
    const pages = await answers(built);

    for (const page of pages) {
      expect(page).toContain('<nav id="own"></nav><h1 class="twtxt-title">Mentions</h1>');
      expect(page).toContain('<div class="twtxt-answer" lang="en">\n<h2>');
      expect(page.match(/<h1/g)).toHaveLength(1);
    }
    expect(pages[0]).toContain('<a href="https://alice.example/">← ');
    expect(pages[1]).toContain('<a href="https://alice.example/posts/a/">← ');
    expect(pages[1]).toContain("not a url &lt;b&gt;");
    expect(built.has("twtxt-endpoint-answer")).toBe(false);
    const published = JSON.parse(built.read("../.eleventy-twtxt/host.json"));
    expect(published.pages.pages).toEqual(["https://alice.example/posts/a/", "https://alice.example/mentions/"]);
  });

  it("are in the language of the post, or else of the site", async () => {
    const french = post({ title: "A", date: "2026-03-04", tags: "posts", layout: "base.njk", lang: "fr" });
    const built = await site({
      files: { ...files, "posts/a.md": french },
      options: `{ host: "node", lang: "de-AT", key: "${KEY}", mentions: { comments: true } }`,
    });
    const [explanation = "", refusal = ""] = await answers(built);
    expect(explanation).toContain('<html lang="de-AT">');
    expect(explanation).toContain("<h1>Hier kommen Erwähnungen an</h1>");
    expect(explanation).toContain("<code>source</code> und <code>target</code> an diese URL");
    expect(explanation).toContain("<button>Senden</button>");
    expect(refusal).toContain('<html lang="fr">');
    expect(refusal).toContain("<h1>L’ajout n’a pas été possible</h1>\n<p>Indiquez l’adresse de l’une de vos propres");
    expect(refusal).toContain("<button>Envoyer</button>");
    const own = { feedUrl: "https://alice.example/twtxt.txt", findLanguage: () => "de" };
    const strange = refusalPage(new TwtxtError("bad-content-type", "Send a form."), { source: "", target: "" }, own);
    expect(strange.body).toContain('<p lang="en">Send a form.</p>');
    const thanks = outcomePage("waiting", { status: 202, target: "https://alice.example/posts/a/" }, own);
    expect(thanks.body).toContain("<h1>Danke</h1>\n<p>Deine Seite wird bald geprüft.");
  });

  it("are plain pages without a layout, and lead nowhere else", async () => {
    const built = await site({ files, options: `{ host: "node" }` });
    const { url } = await serve(built);
    const body = new URLSearchParams({ source: "x", target: "javascript:alert(1)" });
    const page = await (await fetch(`${url}/webmention`, { method: "POST", headers: BROWSER, body })).text();

    expect(page).toContain("<h1>This could not be added</h1>");
    expect(page).toContain('<a href="https://alice.example/">← ');
    expect(page).not.toContain('href="javascript:');
  });
});
