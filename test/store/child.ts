// test/store/child.ts: a process that shares a store with others: what it does is its first argument.
import { writeSync } from "node:fs";
import * as v from "valibot";
import { FileStore } from "../../plugin/store/file.js";
import { update } from "../../plugin/store/json.js";
import { contentOf, keyOf } from "./steps.js";

const [task = "", folder = "", argument = ""] = process.argv.slice(2);
const store = new FileStore(folder);
const say = (line: string) => writeSync(1, `${line}\n`);

/** Goes on until it is killed, and says each step that has been answered. */
async function step(first: number): Promise<never> {
  for (let n = first; ; n += 1) {
    const value = contentOf(n);
    if (value) await store.put(keyOf(n), value);
    else await store.delete(keyOf(n));
    say(String(n));
  }
}

async function count(times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) await update(store, "count", v.number(), (old) => (old ?? 0) + 1);
}

/** @param key - of a value that is too large for what is left of the disk */
async function fill(key: string): Promise<void> {
  const large = new Uint8Array(1 << 20);
  const why = await store.put(key, large).then(
    () => "written",
    (error) => `${error.code} ${error.cause?.code}`,
  );
  say(why);
}

if (task === "step") await step(Number(argument));
if (task === "count") await count(Number(argument));
if (task === "fill") await fill(argument);
