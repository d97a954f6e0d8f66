import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { removeMetadata } from "../../plugin/pictures/remove-metadata.js";
import { GIT_ENVIRONMENT } from "../author/notes/git-site.js";
import { blobAuthors, sha256 } from "../cli/blob-author.js";
import { type BuiltSite, site } from "../helpers/site.js";
import { clientOfPerson } from "./client.js";
import { textsIn } from "./files-below.js";
import { type SentFile, shownText, type Visitor, visitorOf } from "./visitor.js";
import { clientOf, fieldOf, published, writer } from "./writer.js";

const FILES = new URL("../pictures/files/", import.meta.url);
/** A picture with a location in its Exif data, a thumbnail, and the word SECRET in other metadata. */
const PHONE = readFileSync(new URL("phone.jpg", FILES));
const CLEAN = Buffer.from(removeMetadata(PHONE, "phone.jpg").bytes);
const TEXT_PNG = readFileSync(new URL("text.png", FILES));
const DAY_MS = 86_400_000;
const SVG = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`);

/** Alice's client; her site is in a git repository with a remote. */
async function visited() {
  const { alice, client } = await writer();
  return { alice, client, visitor: await visitorOf(client, "/write") };
}

/** Alice, whose site has blobs, and her client. */
async function sharer(limits?: { maxMegabytes: number }) {
  const { alice } = await blobAuthors(["alice"], limits);
  const client = await clientOfPerson(alice);
  return { alice, client, visitor: await visitorOf(client, "/write") };
}

function picture(bytes: Uint8Array, name = "IMG_1.JPG", type = "image/jpeg"): SentFile {
  return { field: "picture", name, bytes, type };
}

/** The text in the composer of a page. */
function textIn(page: string): string {
  const [, text = ""] = /<textarea[^>]*>\n?([^<]*)</.exec(page) ?? [];
  return text.trim();
}

/** The fields that the composer sends. */
function fieldsOf(page: string): Record<string, string> {
  const hidden = ["id", "seen", "page", "edit"].map((name) => [name, fieldOf(page, name)]);
  return { ...Object.fromEntries(hidden), body: textIn(page) };
}

/** The name of the note that a page publishes, without its extension. */
function nameIn(page: string): string {
  return /notes\/([\d-]+)\.md/.exec(page)?.[1] ?? "";
}

/** The paths below a folder, as one text. */
function pathsBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).join("\n");
}

async function save(visitor: Visitor, page: string): Promise<string> {
  return (await visitor.submit("/write/draft", { ...fieldsOf(page), folder: "notes", next: "save" })).text;
}

/** Builds the site in a clone of its repository. */
async function builtFrom(clone: string): Promise<BuiltSite> {
  const first = await site({ files: {} });
  cpSync(clone, first.folder, { recursive: true });
  return site({
    site: first,
    files: { "notes/notes.json": `{ "tags": "posts" }` },
    now: new Date(Date.now() + DAY_MS).toISOString(),
  });
}

describe("pictures of a note, without JavaScript", () => {
  it("are added to the text of the saved draft, without their location, and are served, but no other file", async () => {
    const { alice, visitor } = await visited();
    const { text } = await visitor.upload("/write/draft", { body: "Look", description: "a [red] square" }, [
      picture(PHONE),
    ]);
    expect(textIn(text)).toBe("Look\n\n![a \\[red\\] square](picture-1.jpg)");
    expect(shownText(text)).toContain("1 picture added.");
    expect(textsIn(join(alice.folder, "data")).join()).not.toContain("SECRET");
    const shown = await visitor.get(`/write/picture/${fieldOf(text, "id")}/picture-1.jpg`);
    expect(shown.headers.get("content-type")).toBe("image/jpeg");
    expect(shown.headers.get("content-security-policy")).toContain("default-src 'none'");
    for (const name of ["list.json", "../../drafts", "picture-2.jpg", "..%2flist.json"]) {
      const { status } = await visitor.get(`/write/picture/${fieldOf(text, "id")}/${name}`);
      expect([name, status]).toEqual([name, 404]);
    }
  });

  it("have a field for a missing description, which adds it to the text unless the text has one", async () => {
    const { visitor } = await visited();
    const { text } = await visitor.upload("/write/draft", { body: "Look", next: "notified" }, [
      picture(PHONE),
      picture(TEXT_PNG),
    ]);
    expect(shownText(text)).toContain("Description of picture-1.jpg , for people who do not see it");
    const body = "Look\n\n![](picture-1.jpg)\n\n![a text](picture-2.png)";
    const descriptions = {
      "description-of-picture-1.jpg": " a [red] square ",
      "description-of-picture-2.png": "other",
    };
    const { text: described } = await visitor.submit("/write/draft", { ...fieldsOf(text), body, ...descriptions });
    expect(textIn(described)).toBe("Look\n\n![a \\[red\\] square](picture-1.jpg)\n\n![a text](picture-2.png)");
    expect(described).not.toContain("description-of-");
  });

  it("have the same link in the preview as in the build, and are published with the note", async () => {
    const { alice, visitor } = await visited();
    const { text } = await visitor.upload("/write/draft", { body: "Look", description: "a square" }, [picture(PHONE)]);
    expect(shownText(text)).toMatch(/!\[a square\]\(https:\/\/alice\.example\/notes\/(\d{8}-\d{6})\/\1-1\.jpg\)/);
    const page = await save(visitor, text);
    const name = nameIn(page);
    expect(page).toContain(`git add -- notes/${name}.md notes/${name}-1.jpg`);
    expect(pathsBelow(join(alice.folder, "data"))).not.toContain("picture-1.jpg");
    const fields = { file: fieldOf(page, "file"), shown: fieldOf(page, "shown") };
    expect(await published(visitor, fields)).toContain("is published to origin/main");

    const fresh = mkdtempSync(join(alice.folder, "data", "clone-"));
    execFileSync("git", ["clone", "--quiet", alice.remote, fresh], { env: GIT_ENVIRONMENT });
    const built = await builtFrom(fresh);
    const at = `notes/${name}/`;
    expect(built.read(`${at}index.html`)).toContain(`<img src="${name}-1.jpg" alt="a square"`);
    expect(readFileSync(join(built.folder, "_site", at, `${name}-1.jpg`))).toEqual(CLEAN);
    expect(built.texts()).toContain(`Look\u2028\u2028![a square](https://alice.example/${at}${name}-1.jpg)`);
  });

  it("are refused with a sentence if they are drawings, pages, empty or damaged, and the text is kept", async () => {
    const { alice, visitor } = await visited();
    for (const [bytes, name, sentence] of [
      [SVG, "x.jpg", "x.jpg is an SVG drawing, which may contain scripts. Save it as JPEG, PNG or WebP"],
      [Buffer.from("<!doctype html><script>alert(1)</script>"), "x.png", "x.png is not a picture"],
      [Buffer.alloc(0), "x.png", "x.png is empty."],
      [PHONE.subarray(0, 200), "x.jpg", "x.jpg is damaged or incomplete."],
    ] as const) {
      const { text } = await visitor.upload("/write/draft", { body: "Look", next: "save", folder: "notes" }, [
        picture(bytes, name),
      ]);
      expect(shownText(text)).toContain(sentence);
      expect(textIn(text), sentence).toBe("Look");
    }
    expect(alice.git("status", "--porcelain")).toBe("");
  });

  it("get their type from their bytes, and a new name", async () => {
    const { alice, visitor } = await visited();
    const { text } = await visitor.upload("/write/draft", { body: "" }, [
      picture(TEXT_PNG, "../../../evil<script>.md", "text/html"),
      picture(PHONE, "con.jpg\u202egpj.exe", "application/x-sh"),
    ]);
    expect(textIn(text)).toBe("![](picture-1.png)\n\n![](picture-2.jpg)");
    const name = nameIn(await save(visitor, text));
    const written = [`${name}-1.png`, `${name}-2.jpg`, `${name}.md`];
    expect(readdirSync(join(alice.folder, "notes")).sort()).toEqual(written);
    expect(pathsBelow(alice.folder) + textsIn(alice.folder).join()).not.toContain("evil");
  });

  it("are removed with their image or the draft, and are saved only if the text shows them", async () => {
    const { alice, visitor } = await visited();
    const files = [picture(PHONE), picture(TEXT_PNG), picture(PHONE)];
    const { text } = await visitor.upload("/write/draft", { body: "Look" }, files);
    const id = fieldOf(text, "id");
    const removed = await visitor.submit("/write/draft", { ...fieldsOf(text), remove: "picture-1.jpg" });
    expect(textIn(removed.text)).toBe("Look\n\n![](picture-2.png)\n\n![](picture-3.jpg)");
    expect((await visitor.get(`/write/picture/${id}/picture-1.jpg`)).status).toBe(404);
    const body = "Look\n\n![](picture-3.jpg)";
    const changed = await visitor.submit("/write/draft", { ...fieldsOf(removed.text), body });
    expect(shownText(changed.text)).toContain("Not in the text");
    await save(visitor, changed.text);
    expect(readdirSync(join(alice.folder, "notes"))).toHaveLength(2);
    expect(pathsBelow(join(alice.folder, "data"))).not.toContain("picture-");
  });

  it("stay with their draft when the client ends, until the draft is deleted", async () => {
    const { alice, client, visitor } = await visited();
    const { text } = await visitor.upload("/write/draft", { body: "Look" }, [picture(PHONE)]);
    const id = fieldOf(text, "id");
    await client.close();
    const again = await visitorOf(await clientOf(alice), "/write");
    const path = `/write/picture/${id}/picture-1.jpg`;
    expect((await again.get(path)).status).toBe(200);
    await again.submit("/write/delete", { id });
    expect((await again.get(path)).status).toBe(404);
    expect(existsSync(join(alice.folder, "notes"))).toBe(false);
  });

  it("are copied when a draft that another page has changed becomes a separate draft", async () => {
    const { visitor } = await visited();
    const { text: first } = await visitor.upload("/write/draft", { body: "Look" }, [picture(PHONE)]);
    await visitor.submit("/write/draft", { ...fieldsOf(first), body: "Other" });
    const { text: own } = await visitor.submit("/write/draft", { ...fieldsOf(first), page: "another" });
    expect(fieldOf(own, "id")).not.toBe(fieldOf(first, "id"));
    expect((await visitor.get(`/write/picture/${fieldOf(own, "id")}/picture-1.jpg`)).status).toBe(200);
  });
});

describe("pictures of a note as blobs", () => {
  it("become public only after the author has confirmed them, without their location; the choice is remembered", async () => {
    const { alice, client, visitor } = await sharer();
    const fields = { body: "Look", description: "a square", place: "blob" };
    const { text } = await visitor.upload("/write/draft", fields, [picture(PHONE)]);
    const key = sha256(CLEAN);
    expect(shownText(text)).toContain(`![a square](${alice.shared(key)})`);
    const question = await save(visitor, text);
    expect(shownText(question)).toContain(`stores its picture as a public blob at ${alice.host}`);
    expect(alice.methods()).not.toContain("PUT");

    const confirmed = { id: fieldOf(question, "id"), folder: "notes", shown: fieldOf(question, "shown") };
    const { text: saved } = await visitor.submit("/write/share", confirmed);
    const [, file = ""] = /Saved: ([^<]+)/.exec(saved) ?? [];
    expect(alice.machine.read(file)).toContain(`\n![a square](blob:${key})\n`);
    expect(alice.machine.list("notes")).toHaveLength(1);
    expect(await alice.listed()).toMatchObject([{ key, type: "image/jpeg", public: true }]);
    expect(Buffer.from(await (await fetch(alice.shared(key))).arrayBuffer())).toEqual(CLEAN);

    await client.close();
    const again = await visitorOf(await clientOfPerson(alice), "/write");
    expect((await again.get("/write")).text).toMatch(/value="blob" checked/);
  });

  it("do not become public unless the question showed them", async () => {
    const { alice, visitor } = await sharer();
    const { text } = await visitor.upload("/write/draft", { body: "", place: "blob" }, [picture(PHONE)]);
    const question = await save(visitor, text);
    const id = fieldOf(question, "id");
    const { text: draft } = await visitor.get(`/write?draft=${id}`);
    await visitor.upload("/write/draft", fieldsOf(draft), [picture(TEXT_PNG)]);
    for (const shown of [fieldOf(question, "shown"), ""]) {
      const { text } = await visitor.submit("/write/share", { id, folder: "notes", shown });
      expect(text).toContain("Nothing became public: the draft has changed since the page was shown.");
    }
    expect(alice.methods()).not.toContain("PUT");
  });

  it("do not become public if one is larger than the site accepts, and the error names it", async () => {
    const { alice, visitor } = await sharer({ maxMegabytes: 1 });
    const large = Buffer.concat([CLEAN.subarray(0, -2), Buffer.alloc(2 ** 20), CLEAN.subarray(-2)]);
    const { text } = await visitor.upload("/write/draft", { body: "", place: "blob" }, [
      picture(PHONE),
      picture(large),
    ]);
    const question = await save(visitor, text);
    const fields = { id: fieldOf(question, "id"), folder: "notes", shown: fieldOf(question, "shown") };
    const { text: page } = await visitor.submit("/write/share", fields);
    expect(shownText(page)).toContain("picture-2.jpg: It is larger than the 1.0 MiB that the site accepts.");
    expect(alice.methods()).not.toContain("PUT");
  });

  it("leave the draft unchanged if the site does not respond, with the reason", async () => {
    const { alice, visitor } = await sharer();
    const { text } = await visitor.upload("/write/draft", { body: "", place: "blob" }, [picture(PHONE)]);
    const question = await save(visitor, text);
    await alice.stop();
    const fields = { id: fieldOf(question, "id"), folder: "notes", shown: fieldOf(question, "shown") };
    const { text: page } = await visitor.submit("/write/share", fields);
    expect(page).toContain('class="notice failure"');
    expect(textIn(page)).toBe("![](picture-1.jpg)");
    expect(existsSync(join(alice.machine.folder, "notes"))).toBe(false);
  });

  it("have no choice of storage on a site without blobs", async () => {
    const { visitor } = await visited();
    const { text } = await visitor.upload("/write/draft", { body: "", place: "blob" }, [picture(PHONE)]);
    expect(text).not.toContain('name="place"');
    const page = await save(visitor, text);
    expect(page).toContain(`git add -- notes/${nameIn(page)}.md notes/${nameIn(page)}-1.jpg`);
  });
});
