// test/client/own-posts.test.ts: the author's posts in the web client: changes and deletes them.
import { describe, expect, it } from "vitest";
import { describeInChromium } from "../helpers/chromium.js";
import { expectAccessible, expectFits } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText, visitorOf } from "./visitor.js";
import { clientOf, fieldOf, writer } from "./writer.js";

const QUINCES = "posts/quinces.md";
const TEXT = `---
# my post
title: "Quinces"
date: 2026-10-05T18:40:02Z
tags:
  - posts # all posts
replyTo: "abcdefg https://bob.example/twtxt.txt"
---
They are ripe.
`;

async function postsOf(files: Record<string, string>) {
  const { alice } = await writer();
  for (const [file, text] of Object.entries(files)) alice.write(file, text);
  const settings = JSON.parse(alice.read(".eleventy-twtxt/settings.json"));
  settings.notes.folders = ["posts", "notes"];
  alice.write(".eleventy-twtxt/settings.json", JSON.stringify(settings));
  const client = await clientOf(alice);
  return { alice, client, visitor: await visitorOf(client, "/write") };
}

const path = (action: string, file: string) => `/write/posts/${action}?file=${encodeURIComponent(file)}`;

describe("the author's posts", () => {
  it("are listed newest first, without other files", async () => {
    const { visitor } = await postsOf({
      [QUINCES]: TEXT,
      "notes/a.md": "---\ndate: 2026-10-06T08:00:00Z\n---\nA *note*.\nMore.\n",
      "notes/b.md": "---\ndate: 2026-10-04T08:00:00Z\ntwt: deleted\n---\n",
      "notes/broken.md": "---\ndate: [\n---\n",
      "notes/notes.json": "{}",
    });
    const { text } = await visitor.get("/write/posts");
    expect(shownText(text)).toMatch(
      /A \*note\*\. 6 Oct 2026, .*Quinces 5 Oct 2026, .*notes\/b\.md deleted 4 Oct 2026, /,
    );
    expect(text).not.toContain("broken");
    expect(text.match(/>Edit</g)).toHaveLength(2);
  });

  it("are changed in their text and title alone, and lead to the commands that publish them", async () => {
    const { alice, visitor } = await postsOf({ [QUINCES]: TEXT });
    const { text: page } = await visitor.get(path("edit", QUINCES));
    expect(page).toContain("They are ripe.</textarea>");
    const fields = { file: QUINCES, version: fieldOf(page, "version") };
    const { text } = await visitor.submit("/write/posts/edit", {
      ...fields,
      title: "Ripe: quinces",
      body: "All\r\nof them. ",
    });
    expect(text).toContain(`Saved: ${QUINCES}`);
    expect(text).toContain(`git commit --only -m &#39;Ripe: quinces&#39; -- ${QUINCES}`);
    expect(alice.read(QUINCES)).toBe(
      TEXT.replace('title: "Quinces"', 'title: "Ripe: quinces"').replace("They are ripe.", "All\nof them."),
    );
  });

  it("are not changed if their file has changed since, and what was typed stays on the page", async () => {
    const { alice, visitor } = await postsOf({ [QUINCES]: TEXT });
    const { text: page } = await visitor.get(path("edit", QUINCES));
    const fields = { file: QUINCES, version: fieldOf(page, "version"), title: "Other", body: "Typed for an hour." };
    const changed = TEXT.replace("ripe", "yellow");
    alice.write(QUINCES, changed);
    for (const action of ["edit", "delete"]) {
      const { text } = await visitor.submit(`/write/posts/${action}`, fields);
      expect(text).toContain("Another program has changed the post");
      if (action === "edit") expect(text).toContain("Typed for an hour.</textarea>");
    }
    const { text: empty } = await visitor.submit("/write/posts/edit", { ...fields, body: " " });
    expect(empty).toContain("The post is empty.");
    expect(alice.read(QUINCES)).toBe(changed);
  });

  it("are deleted after a question: the text goes, and the page will say so", async () => {
    const { alice, visitor } = await postsOf({ [QUINCES]: TEXT });
    const { text: page } = await visitor.get(path("delete", QUINCES));
    expect(shownText(page)).toContain("Earlier versions stay in your git repository.");
    expect(alice.read(QUINCES)).toBe(TEXT);
    const { text } = await visitor.submit("/write/posts/delete", { file: QUINCES, version: fieldOf(page, "version") });
    expect(text).toContain("git commit --only -m &#39;Delete a post&#39;");
    const [front] = TEXT.split("---\nThey");
    expect(alice.read(QUINCES)).toBe(`${front}twt: deleted\n---\n`);
  });

  it("are no other files", async () => {
    const { alice, visitor } = await postsOf({});
    const before = alice.git("status", "--porcelain");
    for (const file of ["../package.json", "package.json", ".git/x.md", "_data/x.md/../../../x.md", "none.md"]) {
      for (const action of ["edit", "delete"]) {
        const { text } = await visitor.get(path(action, file));
        expect(shownText(text), file).toMatch(/There is no such post|There is no file/);
        await visitor.submit(`/write/posts/${action}`, { file, version: "", title: "x", body: "x" });
      }
    }
    expect(alice.git("status", "--porcelain")).toBe(before);
  });
});

describeInChromium("the author's posts, in a browser", () => {
  it("are edited and deleted with the keyboard, and the pages fit all widths", async () => {
    const { client, alice } = await postsOf({ [QUINCES]: TEXT });
    const tab = await openPage(client, "/write/posts");
    await expectAccessible(tab, "posts");
    await tab.keyboard.press("j");
    await tab.keyboard.press("e");
    await tab.getByRole("heading", { name: "Edit a post" }).waitFor();
    await expectAccessible(tab, "post-edit");
    await tab.keyboard.press("q");
    // Not its heading, which is there before the script that listens to keys.
    await tab.waitForURL(`${client.origin}/write/posts`);
    await tab.keyboard.press("j");
    await tab.keyboard.press("d");
    await tab.getByRole("heading", { name: "Delete this post?" }).waitFor();
    await expectFits(tab, "post-delete");
    await tab.keyboard.press("y");
    await tab.getByRole("heading", { name: "Publish" }).waitFor();
    expect(alice.read(QUINCES)).toContain("twt: deleted");
  });
});
