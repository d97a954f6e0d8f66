import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { notePreviewFiles, removePreviewFiles } from "../../plugin/eleventy/output/previews.js";

/** A project with these files from a preview. */
async function previewed(...names: string[]) {
  const root = mkdtempSync(join(tmpdir(), "twtxt-preview-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ["_site", "_site2", ".eleventy-twtxt"]) mkdirSync(join(root, folder));
  const files = names.map((name) => join(root, name));
  for (const file of files) {
    writeFileSync(file, "a draft");
    utimesSync(file, 1000, 1000);
  }
  await notePreviewFiles(root, files);
  return { root, has: (name: string) => existsSync(join(root, name)) };
}

describe("a file from a preview", () => {
  it("is removed by the next real build", async () => {
    const { root, has } = await previewed("_site/draft.html", "_site/other.html");
    expect(await removePreviewFiles(root, "_site", [])).toEqual(["_site/draft.html", "_site/other.html"]);
    expect([has("_site/draft.html"), has("_site/other.html")]).toEqual([false, false]);
  });

  it("stays if the build or another program has since written it, even after later builds", async () => {
    const { root, has } = await previewed("_site/index.html", "_site/own.html");
    utimesSync(join(root, "_site/own.html"), 2000, 2000);
    expect(await removePreviewFiles(root, "_site", [join(root, "_site/index.html")])).toEqual([]);
    utimesSync(join(root, "_site/own.html"), 1000, 1000);
    expect(await removePreviewFiles(root, "_site", [])).toEqual([]);
    expect([has("_site/index.html"), has("_site/own.html")]).toEqual([true, true]);
  });

  it("stays in a folder that the build does not write to, until a build does", async () => {
    const { root, has } = await previewed("_site2/draft.html");
    expect(await removePreviewFiles(root, "_site", [])).toEqual([]);
    expect(has("_site2/draft.html")).toBe(true);
    expect(await removePreviewFiles(root, "_site2", [])).toEqual(["_site2/draft.html"]);
  });

  it("stays if the list of preview files is damaged", async () => {
    const { root, has } = await previewed("_site/draft.html");
    for (const json of ["", "null", "[1]", "{"]) {
      writeFileSync(join(root, ".eleventy-twtxt/preview.json"), json);
      expect(await removePreviewFiles(root, "_site", [])).toEqual([]);
    }
    expect(has("_site/draft.html")).toBe(true);
  });
});
