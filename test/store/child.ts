// test/store/child.ts: a process that shares a store with others. Its first argument is its task.
import { writeSync } from "node:fs";
import * as v from "valibot";
import { update } from "../../plugin/store/json.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { systemCode } from "../../plugin/store/sqlite-driver.js";
import { contentOf, keyOf } from "./steps.js";

const [task = "", folder = "", argument = ""] = process.argv.slice(2);
const store = new SqliteStore(folder);
const print = (line: string) => writeSync(1, `${line}\n`);

/** Writes and deletes until the process is killed, and prints each acknowledged step. */
async function step(first: number): Promise<never> {
  for (let n = first; ; n += 1) {
    const value = contentOf(n);
    if (value) await store.put(keyOf(n), value);
    else await store.delete(keyOf(n));
    print(String(n));
  }
}

async function count(times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) await update(store, "count", v.number(), (old) => (old ?? 0) + 1);
}

/** Four writers in one process, with and without a thread. Prints each acknowledged step of each. */
async function write(isThreaded: boolean): Promise<void> {
  if (isThreaded) await store.prepareForServer();
  const writer = async (name: string) => {
    for (let n = 1; n <= 24; n += 1) {
      const value = contentOf(n);
      if (value) await store.put(`${name}/${n % 5}`, value);
      else await store.delete(`${name}/${n % 5}`);
      print(`${name} ${n}`);
    }
  };
  await Promise.all(["a", "b", "c", "d"].map(writer));
  store.close();
}

/** @param key - gets a value that is too large for the remaining disk space */
async function fill(key: string): Promise<void> {
  const large = new Uint8Array(1 << 20);
  const result = await store.put(key, large).then(
    () => "written",
    (error) => `${error.code} ${systemCode(error.cause)}`,
  );
  print(result);
}

if (task === "step") await step(Number(argument));
if (task === "write") await write(argument === "thread");
if (task === "count") await count(Number(argument));
if (task === "fill") await fill(argument);
if (task === "large") await store.put("large", new Uint8Array(1 << 20));
