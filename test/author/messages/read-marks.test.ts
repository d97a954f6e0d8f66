import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ReadMarks } from "../../../plugin/author/messages/read-marks.js";
import { SqliteStore } from "../../../plugin/store/sqlite.js";
import { afterEach } from "../../helpers/hooks.js";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function idOf(number: number): string {
  return number.toString(16).padStart(16, "0").padEnd(64, "f");
}

describe("read marks", () => {
  it("are all stored if several processes write concurrently", async () => {
    const folder = mkdtempSync(join(tmpdir(), "twtxt-marks-"));
    folders.push(folder);
    const processes = [1, 2, 3].map(() => new ReadMarks(new SqliteStore(folder)));
    const ids = Array.from({ length: 30 }, (_, number) => idOf(number));
    await Promise.all(
      processes.map(async (marks, at) => {
        for (const id of ids.filter((_, number) => number % processes.length === at)) await marks.add([id]);
      }),
    );
    const isRead = await new ReadMarks(new SqliteStore(folder)).current();
    expect(ids.filter((id) => !isRead(id))).toEqual([]);
    expect(isRead(idOf(30))).toBe(false);

    await processes[0]?.remove([idOf(3), idOf(4)]);
    const afterwards = await processes[1]?.current();
    expect(ids.filter((id) => afterwards?.(id) === false)).toEqual([idOf(3), idOf(4)]);
  });
});
