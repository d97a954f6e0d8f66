// plugin/mentions/receive/pending.ts: mentions whose source gave no verdict, kept until it does.
import { createHash } from "node:crypto";
import * as v from "valibot";
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

export interface Pending {
  /**
   * Keeps a claim for later; one that waits already goes on waiting.
   *
   * @throws TwtxtError `too-many-pending` where too many wait, in all or of one host
   */
  add(claim: ReadClaim): Promise<void>;
  /** Those that wait, oldest first. */
  all(): Promise<PendingMention[]>;
  isDue(mention: PendingMention): boolean;
  /** Whether it has waited for longer than its attempts take, because its host was never asked. */
  isOver(mention: PendingMention): boolean;
  /** Notes an attempt without a verdict. @returns whether it was the last one */
  noteAttempt(mention: PendingMention): Promise<boolean>;
  /** Forgets a claim, whether it waits or not. */
  drop(claim: Pick<ReadClaim, "source" | "timestamps" | "target">): Promise<void>;
}

export function pendingMentions({ store, now, limits }: PendingOptions): Pending {
  const drop: Pending["drop"] = (claim) => store.delete(keyOf(claim));

  return {
    async add(claim) {
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
    },

    async all() {
      const keys = await store.keys(PENDING);
      const found = await Promise.all(
        keys.map(async (key) => {
          const stored = await readJson(store, key, PendingClaim);
          return stored ? [{ ...stored.value, key, id: key.slice(key.lastIndexOf("/") + 1) }] : [];
        }),
      );
      return found.flat().sort((a, b) => a.since - b.since);
    },

    isDue: ({ since, attempts }) => since + (ATTEMPTS[attempts] ?? 0) <= now(),

    isOver: ({ since }) => since + LONGEST_WAIT <= now(),

    async noteAttempt(mention) {
      const { id, key, ...claim } = mention;
      const attempts = claim.attempts + 1;
      await writeJson(store, key, { ...claim, attempts });
      return attempts >= ATTEMPTS.length;
    },

    drop,
  };
}

export interface PendingOptions {
  store: Store;
  /** Milliseconds since 1970. */
  now(): number;
  limits: { pending: number; pendingPerHost: number };
}

function folderOf(source: string): string {
  return `${PENDING}${hostKey(source)}/`;
}

function keyOf({ source, timestamps, target }: Pick<ReadClaim, "source" | "timestamps" | "target">): string {
  const text = [source, timestamps[0] ?? "", target.url].join("\n");
  return folderOf(source) + createHash("sha256").update(text).digest("hex").slice(0, 32);
}
