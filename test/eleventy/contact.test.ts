import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildSite, post, site } from "../helpers/site.js";

const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const OTHER = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";
const DOCUMENT =
  '<link rel="describedby" type="application/json" title="Private messages to alice@alice.example" href="https://alice.example/.well-known/msg/alice.json">';

const files = {
  "posts/note.md": post({ date: "2026-01-02T03:04:05Z", tags: "posts", layout: "base.njk" }, "hello"),
  "_includes/base.njk":
    "<!doctype html><html><head><title>{{ title }}</title></head><body>{{ content | safe }}</body></html>",
};
const paths = [".well-known/msg/alice.json", ".well-known/salty/alice.json"];

describe("a site with a key", () => {
  it("has discovery documents for its inbox, and a contact page", async () => {
    const alice = await site({ files, options: `{ host: "node", key: "${KEY}" }` });
    for (const path of paths) {
      expect(JSON.parse(alice.read(path))).toEqual({ endpoint: "https://alice.example/inbox/alice", key: KEY });
    }
    const page = alice.read("contact/index.html");
    expect(page).toContain('<strong class="twtxt-address">alice@alice.example</strong>');
    expect(page).toContain("eleventy-twtxt message send alice@alice.example");
    expect(page).toContain(`<code class="twtxt-key">${KEY}</code>`);
    expect(page).toContain(DOCUMENT);
    expect(alice.read("posts/note/index.html")).toContain(DOCUMENT);
  });

  it("gives the host and the commands its own inboxes, and no others", async () => {
    const alice = await site({
      files,
      options: `{ host: "node", address: "me@alice.example", key: "${KEY}", authors: [{ user: "bob", key: "${OTHER}", endpoint: "https://inbox.example/bob" }], inbox: { path: "/letters/", messages: 10, retentionDays: 30, subscribe: false } }`,
    });
    const json = (path: string) => JSON.parse(readFileSync(join(alice.folder, ".eleventy-twtxt", path), "utf8"));
    const authors = [
      { user: "me", address: "me@alice.example", key: KEY, endpoint: "https://alice.example/letters/me" },
      { user: "bob", address: "bob@alice.example", key: OTHER, endpoint: "https://inbox.example/bob" },
    ];
    expect(json("settings.json").authors).toEqual(authors);
    expect(json("host.json").settings).toMatchObject({
      authors,
      urls: { inbox: "https://alice.example/letters" },
      inbox: { users: ["me"], messages: 10, megabytes: 64, retentionDays: 30, subscribe: false },
    });
    expect(JSON.parse(alice.read(".well-known/msg/bob.json")).endpoint).toBe("https://inbox.example/bob");
    expect(alice.read("contact/index.html").match(/twtxt-address/g)).toHaveLength(2);
  });

  it("uses the site's layout for the page, and provides its content as data and as a shortcode", async () => {
    const template = "---\npermalink: /about/\n---\n{% twtxtContact %}\n{{ twtxt.authors[0].address }}!";
    const alice = await site({
      files: { ...files, "about.njk": template },
      options: `{ host: "node", key: "${KEY}", inbox: { page: "/write/", layout: "base.njk" } }`,
    });
    expect(alice.read("write/index.html")).toContain("<title>Contact</title>");
    expect(alice.read("write/index.html")).toContain(
      '<twtxt-contact class="twtxt-contact" data-address="alice@alice.example"',
    );
    expect(alice.read("about/index.html")).toContain(
      '<twtxt-contact class="twtxt-contact" data-address="alice@alice.example"',
    );
    expect(alice.read("about/index.html")).toContain("alice@alice.example!");
  });

  it("keeps its own contact page, and logs how to show the form there", async () => {
    const alice = await site({
      files: { ...files, "contact.md": "My telephone" },
      options: `{ host: "node", key: "${KEY}" }`,
    });
    expect(alice.read("contact/index.html")).toContain("My telephone");
    expect(alice.read("contact/index.html")).not.toContain("twtxt-contact");
    expect(alice.log).toContain(
      '/contact/ is a page of your site, so the plugin\'s contact page is left out. To show its content there, use {% twtxtContact %}; to build it elsewhere, set the option "inbox.page" to another path.',
    );
  });

  it("logs nothing about its own contact page if the plugin has none", async () => {
    const own = { ...files, "contact.md": "My telephone" };
    const alice = await site({ files: own, options: `{ host: "node", key: "${KEY}", inbox: { page: false } }` });
    const onlyFiles = await site({ files: own, options: `{ host: "static", key: "${KEY}" }` });
    expect([alice.log, onlyFiles.log].join()).not.toContain("is a page of your site");
  });

  it("stops the build with both solutions if its own page is known too late", async () => {
    const built = await buildSite({
      files: {
        ...files,
        "contact.njk": "---\npagination: { data: collections.posts, size: 9 }\npermalink: /contact/\n---\nMine",
      },
      options: `{ host: "node", key: "${KEY}" }`,
    });
    expect(built.exitCode).not.toBe(0);
    expect(built.log).toContain("contact.njk is already written to /contact/");
    expect(built.log).toContain('the option "inbox.page"');
  });
});

describe("a site without an inbox", () => {
  it.each([
    ["it has no key", `{ host: "node" }`, false],
    ["its host has no functions", `{ host: "static", key: "${KEY}" }`, true],
    ["its functions are off", `{ host: "netlify", functions: false, key: "${KEY}" }`, true],
    ["its inbox is off", `{ host: "node", key: "${KEY}", inbox: false }`, false],
  ])("has neither discovery documents nor a contact page: %s", async (_, options, isLogged) => {
    const alice = await site({ files, options });
    expect([...paths, "contact/index.html"].filter((path) => alice.has(path))).toEqual([]);
    expect(alice.read("posts/note/index.html")).not.toContain("describedby");
    expect(alice.log.includes("No inbox for alice@alice.example")).toBe(isLogged);
  });
});
