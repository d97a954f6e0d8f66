// plugin/author/post-drafts.ts: drafts of notes, which survive a crash.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as v from "valibot";
import { FileStore } from "../store/file.js";
import { readJson, writeJson } from "../store/json.js";
import type { Store } from "../store/store.js";
import { dataFolder } from "./files.js";
import type { Machine } from "./machine.js";
import type { Site } from "./site.js";
import { folderName } from "./site-store.js";

const DRAFT = v.object({
  id: v.string(),
  body: v.string(),
  /** The value for the front matter; `null` for no reply. */
  replyTo: v.nullable(v.string()),
  /** When it was saved, as an ISO date. */
  saved: v.string(),
});

/** A note that is not written into a post yet. */
export type PostDraft = v.InferOutput<typeof DRAFT>;

const PREFIX = "drafts/";
const ID = /^[0-9a-f-]{36}$/;

/** The drafts of a site on this machine, in the author's data folder. All methods throw TwtxtError `store-failed`. */
export class PostDrafts {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** @param id - of a draft to replace; `null` for a new one, or an id that is not one of ours */
  async save({ id, body, replyTo }: { id: string | null; body: string; replyTo: string | null }): Promise<PostDraft> {
    const own = id !== null && ID.test(id) ? id : randomUUID();
    const draft = { id: own, body, replyTo, saved: new Date(this.#now()).toISOString() };
    await writeJson(this.#store, PREFIX + own, draft);
    return draft;
  }

  /** The newest first. */
  async list(): Promise<PostDraft[]> {
    const keys = await this.#store.keys(PREFIX);
    const drafts = await Promise.all(keys.map((key) => readJson(this.#store, key, DRAFT)));
    return drafts.flatMap((stored) => stored?.value ?? []).sort((a, b) => (a.saved < b.saved ? 1 : -1));
  }

  /** Deletes a draft if it exists. */
  async delete(id: string): Promise<void> {
    if (ID.test(id)) await this.#store.delete(PREFIX + id);
  }
}

/** The drafts of a site. Previews of a site for another address have the same, because the feed is the same. */
export function postDrafts({ settings }: Site, machine: Machine): PostDrafts {
  const folder = join(dataFolder(machine), "drafts", folderName(settings.feedUrl));
  return new PostDrafts(new FileStore(folder), machine.now);
}
