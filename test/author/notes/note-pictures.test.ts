import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import {
  findDescription,
  formatImage,
  insertImage,
  withoutPicture,
} from "../../../plugin/author/notes/draft-pictures.js";
import { composeNote, writeNote } from "../../../plugin/author/notes/notes.js";
import { publishableNote } from "../../../plugin/author/notes/publish.js";
import { TwtxtError } from "../../../plugin/errors.js";
import { post, site } from "../../helpers/site.js";
import { gitSite } from "./git-site.js";

const PHONE = readFileSync(new URL("../../pictures/files/phone.jpg", import.meta.url));
const NOTES = { "notes/notes.json": `{ "tags": "posts" }` };

it("a note's pictures are named after the note, and are on its page and in the feed", async () => {
  const { folder, site: blog, machine } = await gitSite();
  const pictures = ["picture-2.jpg", "picture-1.png"].map((name) => ({ name, bytes: async () => PHONE }));
  const body = "Look:\n\n![a \\[red\\] square](picture-2.jpg)\n\n![](picture-1.png) ![](own.jpg)";
  const note = { folder: join(folder, "notes"), body, replyTo: undefined, pictures };
  const file = await writeNote(await composeNote(note, blog, machine), machine.now());
  const written = readdirSync(join(folder, "notes")).sort();
  expect(written).toEqual(["20261120-093000-1.jpg", "20261120-093000-2.png", "20261120-093000.md"]);
  expect((await publishableNote(file)).files.map((path) => basename(path))).toEqual([
    "20261120-093000.md",
    "20261120-093000-1.jpg",
    "20261120-093000-2.png",
  ]);

  const built = await site({
    files: NOTES,
    site: await withFile(filesIn(join(folder, "notes"))),
    now: "2026-11-21T00:00:00Z",
  });
  const page = "notes/20261120-093000/";
  expect(built.read(`${page}index.html`)).toContain('src="20261120-093000-1.jpg"');
  expect(built.texts()[0]).toContain(`](https://alice.example/${page}20261120-093000-1.jpg)`);
  expect(readFileSync(join(built.folder, "_site", page, "20261120-093000-1.jpg"))).toEqual(PHONE);
});

it("a note whose picture cannot be written leaves no files", async () => {
  const { folder, site, machine } = await gitSite();
  const failing = () => Promise.reject(new TwtxtError("store-failed", "The disk is damaged."));
  const pictures = [
    { name: "picture-1.jpg", bytes: async () => PHONE },
    { name: "picture-2.jpg", bytes: failing },
  ];
  const body = "![](picture-1.jpg) ![](picture-2.jpg)";
  const note = await composeNote({ folder: join(folder, "notes"), body, replyTo: undefined, pictures }, site, machine);
  await expect(writeNote(note, machine.now())).rejects.toThrow("The disk is damaged.");
  expect(readdirSync(join(folder, "notes"))).toEqual([]);
});

it.each([
  ["at the end", "Hello", 5, "Hello\n\n![](a.jpg)"],
  ["into an empty text", "", 0, "![](a.jpg)"],
  ["between paragraphs", "One\n\nTwo", 4, "One\n\n![](a.jpg)\n\nTwo"],
  ["at the start", "One", 0, "![](a.jpg)\n\nOne"],
  ["within a line", "One two", 3, "One ![](a.jpg) two"],
])("an image is inserted %s", (_, text, at, expected) => {
  const inserted = insertImage(text, at, "![](a.jpg)");
  expect(inserted.text).toBe(expected);
  expect(inserted.text.slice(0, inserted.at)).toMatch(/!\[\]\(a\.jpg\)$/);
});

it("a picture has the description in its image syntax, and is removed from the text with it", () => {
  const image = formatImage(" a [red]\nsquare \\", "a.jpg");
  expect(image).toBe("![a \\[red\\] square \\\\](a.jpg)");
  expect(findDescription("a.jpg", `One\n\n${image}`)).toBe("a [red] square \\");
  expect(findDescription("a.jpg", "One")).toBeNull();
  expect(withoutPicture(`One\n\n${image}\n\nTwo ![](b.jpg)`, "a.jpg")).toBe("One\n\nTwo ![](b.jpg)");
});

it("the build replaces its older copy of a picture, but not a newer file of the site", async () => {
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

/** The files of a folder of notes, by path in the site. */
function filesIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [`notes/${name}`, readFileSync(join(folder, name), "latin1")]),
  );
}

/** A site with these files, byte for byte. */
async function withFile(files: Record<string, string>) {
  const made = await site({ files: NOTES });
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(join(made.folder, "notes"), { recursive: true });
    writeFileSync(join(made.folder, name), bytes, "latin1");
  }
  return made;
}
