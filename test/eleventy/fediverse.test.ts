import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { post, site } from "../helpers/site.js";
import { logged, projectFile } from "./read-build.js";

const files = {
  "_includes/page.njk": "<html><head><title>x</title></head><body>{{ content | safe }}</body></html>",
  "_includes/named.njk":
    '<html><head><title>x</title><meta name="fediverse:creator" content="@a@b.example"></head>{{ content | safe }}',
  "posts/posts.json": `{ "tags": "posts", "layout": "page.njk" }`,
  "posts/quinces.md": post({ title: "Quinces", date: "2026-03-04" }),
  "posts/named.md": post({ title: "Named", date: "2026-03-05", layout: "named.njk" }),
};
const built = (fediverse: string, host: string) =>
  site({ files, options: `{ host: "${host}", fediverse: "${fediverse}", webmention: "https://alice.example/w" }` });
const ME = '<link rel="me" href="https://mastodon.example/@alice">';

describe("the option fediverse", () => {
  it("names the account in pages, unless a page names its author, and in documents for a host with files only", async () => {
    const alice = await built("@alice@mastodon.example", "static");
    const page = alice.read("posts/quinces/index.html");
    expect(page).toContain(`${ME}\n<meta name="fediverse:creator" content="@alice@mastodon.example">\n</head>`);
    const named = alice.read("posts/named/index.html");
    expect([named.includes(ME), named.match(/fediverse:creator/g)?.length]).toEqual([true, 1]);
    expect(JSON.parse(alice.read(".well-known/webfinger"))).toMatchObject({
      subject: "acct:alice@mastodon.example",
      links: [{ href: "https://mastodon.example/@alice" }, { href: "https://mastodon.example/users/alice" }, {}],
    });
    expect(alice.read(".well-known/host-meta")).toContain("https://alice.example/.well-known/webfinger?resource={uri}");
  });

  it("is answered by a function on Netlify, for the names of this site alone, and not by files", async () => {
    const alice = await built("@alice@mastodon.example", "netlify");
    expect(alice.has(".well-known/webfinger")).toBe(false);
    expect(projectFile(alice, ".netlify/v1/functions/twtxt-fediverse.mjs")).toContain(
      '"path":["/.well-known/webfinger","/.well-known/host-meta"]',
    );
  });

  it('"bridgy" names the account of the site, and says what a host with files only cannot do', async () => {
    const alice = await built("bridgy", "static");
    expect(alice.read("posts/quinces/index.html")).toContain(
      '<link rel="me" href="https://web.brid.gy/r/https://alice.example/">\n<meta name="fediverse:creator" content="@alice.example@alice.example">',
    );
    expect(alice.has(".well-known/webfinger")).toBe(false);
    expect(logged(alice).join()).toContain("This host cannot redirect.");
  });

  it('"bridgy" is a redirect by a function on Netlify, about which there is nothing to say', async () => {
    const alice = await built("bridgy", "netlify");
    expect(existsSync(join(alice.folder, ".netlify/v1/functions/twtxt-fediverse.mjs"))).toBe(true);
    expect(projectFile(alice, ".netlify/v1/functions/twtxt-host.json")).toContain('"fediverse":"bridgy"');
    expect([alice.has(".well-known/webfinger"), logged(alice).join().includes("cannot redirect")]).toEqual([
      false,
      false,
    ]);
  });

  it("costs a site without it nothing: no link, no document and no function", async () => {
    const alice = await site({ files, options: '{ host: "netlify" }' });
    expect(alice.read("posts/quinces/index.html")).not.toMatch(/rel="me"|fediverse/);
    expect(existsSync(join(alice.folder, ".netlify/v1/functions/twtxt-fediverse.mjs"))).toBe(false);
  });
});
