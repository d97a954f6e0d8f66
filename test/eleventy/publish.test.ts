import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { publish } from "../../plugin/eleventy/output/publish.js";
import { PAGES, settingsOf } from "../helpers/receiver.js";

const folders: string[] = [];
const handover = { settings: settingsOf({}), pages: PAGES };

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-publish-"));
  folders.push(folder);
  return folder;
}

it("a build replaces the published files, and removes former archives and documents", async () => {
  const root = newFolder();
  const published = join(root, ".eleventy-twtxt/published");
  const names = () => readdirSync(published, { recursive: true }).sort();
  await publish(root, handover, [
    { path: "/twtxt.txt", content: "old" },
    { path: "/twtxt-2019.txt", content: "archive" },
    { path: "/.well-known/msg/alice.json", content: "{}" },
  ]);
  expect(names()).toEqual([
    ".well-known",
    join(".well-known", "msg"),
    join(".well-known", "msg", "alice.json"),
    "twtxt-2019.txt",
    "twtxt.txt",
  ]);

  // A leftover of a build that was killed while writing.
  writeFileSync(join(published, "twtxt.txt.0123456789ab.tmp"), "ne");
  await publish(root, handover, [{ path: "/twtxt.txt", content: "new" }]);
  expect(names().filter((name) => String(name).includes("twtxt") || String(name).includes("json"))).toEqual([
    "twtxt.txt",
  ]);
  expect(readFileSync(join(published, "twtxt.txt"), "utf8")).toBe("new");
  expect(JSON.parse(readFileSync(join(root, ".eleventy-twtxt/host.json"), "utf8"))).toEqual(handover);
  expect(readdirSync(join(root, ".eleventy-twtxt")).sort()).toEqual(["host.json", "published"]);
});
