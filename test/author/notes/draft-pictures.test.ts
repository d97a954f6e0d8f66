import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DraftPictures, type PictureLimits } from "../../../plugin/author/notes/draft-pictures.js";
import { SqliteStore } from "../../../plugin/store/sqlite.js";
import { afterEach } from "../../helpers/hooks.js";

const PHONE = readFileSync(new URL("../../pictures/files/phone.jpg", import.meta.url));
const [ONE, OTHER] = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function picturesIn(limits: Partial<PictureLimits>): DraftPictures {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-drafts-"));
  folders.push(folder);
  return new DraftPictures(new SqliteStore(folder), { count: 20, bytes: 2 ** 20, ...limits });
}

it("a draft has a limited number of pictures, which the error names", async () => {
  const pictures = picturesIn({ count: 2 });
  const add = () => pictures.add(ONE, { bytes: PHONE, name: "a.jpg" });
  await add();
  await add();
  await expect(add()).rejects.toThrow("a.jpg was not added: a note has at most 2 pictures.");
  await pictures.remove(ONE, "picture-1.jpg");
  expect((await add()).name).toBe("picture-3.jpg");
});

it("the pictures of all drafts have a limited total size as stored, and deleting a draft makes room", async () => {
  const { size } = await picturesIn({}).add(ONE, { bytes: PHONE, name: "a.jpg" });
  expect(size).toBeLessThan(PHONE.length);
  const pictures = picturesIn({ bytes: size });
  await pictures.add(ONE, { bytes: PHONE, name: "a.jpg" });
  const add = () => pictures.add(OTHER, { bytes: PHONE, name: "b.jpg" });
  await expect(add()).rejects.toThrow("the limit is 1.4 KiB. Delete a draft that you do not need, then add it again.");
  expect(await pictures.of(OTHER)).toEqual([]);
  await pictures.clear(ONE);
  await add();
});

it("concurrently added pictures get different names", async () => {
  const pictures = picturesIn({});
  await Promise.all(["a", "b", "c"].map((name) => pictures.add(ONE, { bytes: PHONE, name })));
  const names = (await pictures.of(ONE)).map(({ name }) => name);
  expect(names.sort()).toEqual(["picture-1.jpg", "picture-2.jpg", "picture-3.jpg"]);
});
