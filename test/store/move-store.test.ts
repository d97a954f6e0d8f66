import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { SMALL_BYTES } from "../../plugin/store/copy.js";
import { FileStore } from "../../plugin/store/file.js";
import { finishMove, hasValues, moveStore } from "../../plugin/store/move-store.js";
import { markInUse, processesUsing } from "../../plugin/store/processes.js";

/** A folder on another file system than the temporary folder, on Linux. */
const OTHER = ["/dev/shm", "/var/tmp"].find(
  (folder) => existsSync(folder) && lstatSync(folder).dev !== lstatSync(tmpdir()).dev,
);
if (OTHER === undefined) console.error("SKIPPED: moving to another file system was not tried, since none was found.");

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

function folderIn(place: string): string {
  const folder = mkdtempSync(join(place, "twtxt-move-"));
  made.push(folder);
  return folder;
}

const LARGE = randomBytes(SMALL_BYTES + 1);

async function fill(folder: string): Promise<void> {
  const store = new FileStore(folder);
  await store.put("mentions/snapshot", Buffer.from("{}"));
  await store.put("inbox/alice/messages/1", Buffer.from("sealed"));
  await store.write(
    "blobs/contents/large",
    (async function* () {
      yield Uint8Array.from(LARGE);
    })(),
    LARGE.length,
  );
}

async function expectFilled(folder: string): Promise<void> {
  const store = new FileStore(folder);
  expect((await store.keys("")).sort()).toEqual([
    "blobs/contents/large",
    "inbox/alice/messages/1",
    "mentions/snapshot",
  ]);
  expect(Buffer.from((await store.get("inbox/alice/messages/1"))?.bytes ?? "").toString()).toBe("sealed");
  expect(LARGE.equals((await store.get("blobs/contents/large"))?.bytes ?? Buffer.alloc(0))).toBe(true);
}

describe("moving a store", () => {
  it("keeps every value, and takes the place of a folder without any", async () => {
    const home = folderIn(tmpdir());
    const [from, to] = [join(home, "from"), join(home, "a/b/to")];
    await fill(from);
    mkdirSync(join(to, "trials"), { recursive: true });
    mkdirSync(join(to, ".in-use"));
    await moveStore(from, to);
    await expectFilled(to);
    expect(existsSync(from)).toBe(false);
    expect(readdirSync(join(home, "a/b"))).toEqual(["to"]);
  });

  it.skipIf(OTHER === undefined)("copies to another file system, from where an earlier copy was cut off", async () => {
    const [home, other] = [folderIn(tmpdir()), folderIn(OTHER ?? "")];
    const [from, to] = [join(other, "store"), join(home, "store")];
    await fill(from);
    const cut = new FileStore(`${to}.copy`);
    await cut.put("inbox/alice/messages/1", Buffer.from("half"));
    await cut.put("gone/since", Buffer.from("x"));
    await moveStore(from, to);
    await expectFilled(to);
    expect([readdirSync(home), readdirSync(other)]).toEqual([["store"], []]);
  });

  it.each([
    ["before the copy had its name", true],
    ["before the old one was removed", false],
  ])("is finished by the next call where it was cut off %s", async (_, isUnnamed) => {
    const home = folderIn(tmpdir());
    const [from, to] = [join(home, "from"), join(home, "to")];
    await fill(`${from}.copied`);
    await fill(isUnnamed ? `${to}.copy` : to);
    await finishMove(from, to);
    await expectFilled(to);
    expect(readdirSync(home)).toEqual(["to"]);
  });

  it.skipIf(OTHER === undefined)("leaves the old one as it is where the copy cannot be made", async () => {
    const [home, other] = [folderIn(tmpdir()), folderIn(OTHER ?? "")];
    const from = join(other, "store");
    await fill(from);
    writeFileSync(join(home, "store.copy"), "no folder");
    await expect(moveStore(from, join(home, "store"))).rejects.toThrow();
    await expectFilled(from);
    expect(await hasValues(join(home, "store"))).toBe(false);
  });
});

describe("the processes that use a store", () => {
  it("are those of this machine that still run, and not this one", async () => {
    const folder = folderIn(tmpdir());
    const leave = await markInUse(folder);
    expect(await processesUsing(folder)).toEqual([]);
    const [own = ""] = readdirSync(join(folder, ".in-use"));
    const [machine = "", , , random = ""] = own.split(".");
    const name = (pid: number) => [machine, pid, "00000000", random].join(".");
    writeFileSync(join(folder, ".in-use", name(process.ppid)), "");
    writeFileSync(join(folder, ".in-use", name(2 ** 30)), "");
    writeFileSync(join(folder, ".in-use", ["ffffffff", process.ppid, "00000000", random].join(".")), "");
    expect(await processesUsing(folder)).toEqual([process.ppid]);

    const leaveAgain = await markInUse(folder);
    expect(readdirSync(join(folder, ".in-use"))).not.toContain(name(2 ** 30));
    await Promise.all([leave(), leaveAgain()]);
    renameSync(join(folder, ".in-use", name(process.ppid)), join(folder, "away"));
    expect(await processesUsing(folder)).toEqual([]);
    expect(await new FileStore(folder).keys("")).toEqual([]);
  });
});
