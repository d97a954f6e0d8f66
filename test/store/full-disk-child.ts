// test/store/full-disk-child.ts: a process whose store is on a small disk of its own, which it fills. Prints what it could do.
import { appendFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SpaceReserve } from "../../plugin/store/space-reserve.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { systemCode } from "../../plugin/store/sqlite-driver.js";

const [disk = ""] = process.argv.slice(2);
const store = new SqliteStore(join(disk, "store"));
const junk = join(disk, "junk");
/** The space that a store has for deletions. Making the reserve again takes more. */
const RESERVE_BYTES = 6 * 2 ** 20;
const results: Record<string, unknown> = {};

async function note(name: string, work: () => Promise<unknown>): Promise<void> {
  results[name] = await work().then(
    () => "done",
    (error) => `${error.code} ${systemCode(error.cause)}`.trim(),
  );
}

function fill(): void {
  for (const size of [65_536, 4096, 1]) {
    try {
      for (;;) appendFileSync(junk, Buffer.alloc(size));
    } catch {}
  }
}

/** Leaves this number of free bytes: a checkpoint of the database frees more at any time. */
function leave(bytes: number): void {
  const { bavail, bsize } = statfsSync(disk);
  appendFileSync(junk, Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
}

await store.prepareForServer();
const value = Buffer.alloc(2000, 7);
for (let i = 0; i < 500; i += 1) await store.put(`many/${i}`, value);
await store.put("replaced", value);
await store.put("file", Buffer.alloc(1 << 20));
fill();
await note("new value", async () => {
  for (let i = 0; i < 5000; i += 1) await store.put(`more/${i}`, value);
});
await note("large value", () => store.put("large", Buffer.alloc(1 << 20)));
await sleep(1100);
leave(RESERVE_BYTES);
await note("check of writes", () => store.checkWritable());
results["stored value"] = Buffer.from((await store.get("many/1"))?.bytes ?? []).equals(value) ? "same" : "lost";
await note("shorter value", () => store.put("replaced", value.subarray(1)));
await note("mark", () => store.put("deleted-mark", Buffer.alloc(24), { isNew: true }));
for (const key of await store.keys("more/")) await store.delete(key);
await note("500 deletions", async () => {
  for (let i = 0; i < 500; i += 1) await store.delete(`many/${i}`);
});
await note("deletion of a file", () => store.delete("file"));
rmSync(junk);
await sleep(1100);
await note("value once there is space", async () => {
  await store.put("new", value);
  await store.put("large", Buffer.alloc(1 << 20));
  await store.checkWritable();
});
const room = join(disk, "room");
writeFileSync(room, Buffer.alloc(5.5 * 2 ** 20));
fill();
rmSync(room);
const reserve = new SpaceReserve(join(disk, "other"));
await note("reserve of more space than there is", async () => {
  await reserve.make();
  await reserve.checkSpace();
});
results.left = (await store.keys("")).sort();
store.close();
console.log(JSON.stringify(results));
