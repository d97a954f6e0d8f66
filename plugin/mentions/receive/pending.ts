// plugin/mentions/receive/pending.ts: mentions whose source gave no verdict, kept until it does.
import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { ReadClaim } from "./read-claim.js";
import { hostKey } from "./slow-hosts.js";

const PENDING = "mentions/pending/";
const HOUR = 3600_000;

/** When the later attempts happen, counted from the first; after the last one the mention is dropped. PROTOCOL 2.4. */
const ATTEMPTS = [1, 3, 7, 14, 24].map((hours) => hours * HOUR);

/** What was not asked in two days, since its host or the day's allowance gave no room, makes room for others. */
const LONGEST_WAIT = 48 * HOUR;

const PendingClaim = v.object({
  source: v.string(),
  timestamps: v.array(v.string()),
  target: v.object({ url: v.string(), kind: v.picklist(["feed", "page"]) }),
  under: v.nullable(v.string()),
  /** Milliseconds since 1970. */
  since: v.number(),
  attempts: v.number(),
});

/** A mention that waits. */
export interface PendingMention extends v.InferOutput<typeof PendingClaim> {
  id: string;
  key: string;
}

export interface PendingOptions {
  store: Store;
  now: Clock;
  limits: { pending: number; pendingPerHost: number };
}

type ClaimName = Pick<ReadClaim, "source" | "timestamps" | "target">;

/** The mentions that wait for a verdict, in a store that other processes use too. */
export class PendingMentions {
  readonly #options: PendingOptions;

  constructor(options: PendingOptions) {
    this.#options = options;
  }

  /**
   * Keeps a claim for later; one that waits already goes on waiting.
   *
   * @throws TwtxtError `too-many-pending` if too many wait, in all or from one host
   */
  async add(claim: ReadClaim): Promise<void> {
    const { store, now, limits } = this.#options;
    const { source, timestamps, target, under } = claim;
    const folder = folderOf(source);
    const key = keyOf(claim);
    const keys = await store.keys(PENDING);
    if (keys.includes(key)) return;
    const ofHost = keys.filter((other) => other.startsWith(folder)).length;
    if (keys.length >= limits.pending || ofHost >= limits.pendingPerHost) {
      throw new TwtxtError("too-many-pending", "Too many mentions wait for their verification. Try again later.");
    }
    await writeJson(store, key, { source, timestamps, target, under, since: now(), attempts: 0 }, { isNew: true });
  }

  /** All, oldest first. */
  async all(): Promise<PendingMention[]> {
    const { store } = this.#options;
    const keys = await store.keys(PENDING);
    const found = await Promise.all(
      keys.map(async (key) => {
        const stored = await readJson(store, key, PendingClaim);
        return stored ? [{ ...stored.value, key, id: key.slice(key.lastIndexOf("/") + 1) }] : [];
      }),
    );
    return found.flat().sort((a, b) => a.since - b.since);
  }

  isDue({ since, attempts }: PendingMention): boolean {
    return since + (ATTEMPTS[attempts] ?? 0) <= this.#options.now();
  }

  /** Whether it has waited for longer than its attempts take, because its host was never asked. */
  isOver({ since }: PendingMention): boolean {
    return since + LONGEST_WAIT <= this.#options.now();
  }

  /** Records an attempt without a verdict. @returns whether it was the last one */
  async noteAttempt({ id, key, ...claim }: PendingMention): Promise<boolean> {
    const attempts = claim.attempts + 1;
    await writeJson(this.#options.store, key, { ...claim, attempts });
    return attempts >= ATTEMPTS.length;
  }

  /** Forgets a claim, whether it waits or not. */
  async drop(claim: ClaimName): Promise<void> {
    await this.#options.store.delete(keyOf(claim));
  }
}

function folderOf(source: string): string {
  return `${PENDING}${hostKey(source)}/`;
}

function keyOf({ source, timestamps, target }: ClaimName): string {
  const text = [source, timestamps[0] ?? "", target.url].join("\n");
  return folderOf(source) + createHash("sha256").update(text).digest("hex").slice(0, 32);
}
