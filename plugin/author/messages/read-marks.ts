// plugin/author/messages/read-marks.ts: remembers which messages the author has read, for commands and clients alike.
import * as v from "valibot";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";

const KEY = "read-messages";
/** The characters of an ID that are stored. 64 bits are enough to tell the messages of an inbox apart. */
const ID_LENGTH = 16;
/** More than an inbox holds. The oldest marks are dropped. */
const MAX_MARKS = 50_000;

const ReadRecord = v.object({ ids: v.array(v.string()) });

export type IsRead = (id: string) => boolean;

/**
 * The read marks in the author's data folder, by the IDs of messages. Other processes may change them at the same time.
 * All methods throw TwtxtError `store-failed`.
 */
export class ReadMarks {
  constructor(private readonly store: Store) {}

  async current(): Promise<IsRead> {
    const known = new Set((await readJson(this.store, KEY, ReadRecord))?.value.ids);
    return (id) => known.has(toMark(id));
  }

  async add(ids: readonly string[]): Promise<void> {
    const isRead = await this.current();
    if (ids.every(isRead)) return;
    await update(this.store, KEY, ReadRecord, (old) => {
      return { ids: [...new Set([...(old?.ids ?? []), ...ids.map(toMark)])].slice(-MAX_MARKS) };
    });
  }

  async remove(ids: readonly string[]): Promise<void> {
    const removed = new Set(ids.map(toMark));
    await update(this.store, KEY, ReadRecord, (old) => {
      return old?.ids.some((id) => removed.has(id)) ? { ids: old.ids.filter((id) => !removed.has(id)) } : null;
    });
  }
}

function toMark(id: string): string {
  return id.slice(0, ID_LENGTH);
}
