import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { saveNotePicture } from "../../plugin/author/note-pictures.js";
import { post, site } from "../helpers/site.js";

const PHONE = readFileSync(new URL("../pictures/files/phone.jpg", import.meta.url));
const NOTES = { "notes/notes.json": `{ "tags": "posts" }` };

it("a picture beside a note is saved without its location, and the build shows it on the page and in the feed", async () => {
  const { folder } = await site({ files: NOTES });
  const note = join(folder, "notes/20261119-093000.md");
  const { file, markdown } = await saveNotePicture(note, { bytes: PHONE, name: "IMG_1.JPG", alt: "a [red]\nsquare" });
  expect(markdown).toBe("![a \\[red\\] square](20261119-093000-1.jpg)");
  expect(readFileSync(file).includes("SECRET")).toBe(false);

  const body = { "notes/20261119-093000.md": post({ date: "2026-11-19T09:30:00Z" }, `Look:\n\n${markdown}`) };
  const picture = { "notes/20261119-093000-1.jpg": readFileSync(file, "latin1") };
  const built = await site({ files: { ...NOTES, ...body }, site: await withFile(picture) });
  const page = "notes/20261119-093000/";
  expect(built.read(`${page}index.html`)).toContain('src="20261119-093000-1.jpg"');
  expect(built.texts()[0]).toContain(`](https://alice.example/${page}20261119-093000-1.jpg)`);
  expect(readFileSync(join(built.folder, "_site", page, "20261119-093000-1.jpg"))).toEqual(readFileSync(file));
});

it("a second picture of a note gets the next number, and another kind of file is refused", async () => {
  const { folder } = await site({ files: NOTES });
  const note = join(folder, "notes/x.md");
  const save = (bytes: Buffer) => saveNotePicture(note, { bytes, name: "photo", alt: "" });
  expect((await save(PHONE)).markdown).toBe("![](x-1.jpg)");
  expect((await save(PHONE)).markdown).toBe("![](x-2.jpg)");
  await expect(save(Buffer.from("<svg/>"))).rejects.toThrow("photo is an SVG drawing");
});

it("a newer picture replaces its copy, and one that the site has put there stays", async () => {
  const first = await withFile({ "notes/x.png": "first" });
  const files = {
    ...NOTES,
    "notes/a.md": post({ date: "2026-11-19T09:30:00Z" }, "![](x.png) ![](missing.png) ![](../y.png)"),
  };
  const built = await site({ files, site: first });
  expect(built.read("notes/a/x.png")).toBe("first");
  writeFileSync(join(built.folder, "_site/notes/a/x.png"), "optimized");
  await site({ files, site: built });
  expect(built.read("notes/a/x.png")).toBe("optimized");
  writeFileSync(join(built.folder, "notes/x.png"), "second");
  utimesSync(join(built.folder, "notes/x.png"), new Date(), new Date(Date.now() + 60_000));
  await site({ files, site: built });
  expect(built.read("notes/a/x.png")).toBe("second");
  expect(built.has("notes/a/missing.png")).toBe(false);
});

/** A site with these files, as they are. */
async function withFile(files: Record<string, string>) {
  const made = await site({ files: NOTES });
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(join(made.folder, "notes"), { recursive: true });
    writeFileSync(join(made.folder, name), bytes, "latin1");
  }
  return made;
}
