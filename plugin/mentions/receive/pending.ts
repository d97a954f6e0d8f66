// plugin/mentions/receive/pending.ts: mentions that wait for verification.
//
// The key of a record is `mentions/pending/<host>/<id>-<sender>`, so that a listing of keys counts hosts and senders. Two
// senders of the same mention at once make two records.
import { hash } from "node:crypto";
import * as v from "valibot";
import { type Clock, countedSince, HOUR, isAhead } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Log } from "../../http/respond.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { type Claim, PostedClaim } from "../mention.js";
import { hostKey, listShares, type Requester } from "./allowance.js";

const PENDING = "mentions/pending/";

/** Retry times after the first attempt. After the last one the mention is dropped. PROTOCOL 2.4. */
const ATTEMPTS = [1, 3, 7, 14, 24].map((hours) => hours * HOUR);

/** Mentions whose source was not asked within two days, because of the limits, are dropped. */
const LONGEST_WAIT = 48 * HOUR;

const PendingClaim = v.object({
  ...PostedClaim.entries,
  /** Milliseconds since 1970. */
  since: v.number(),
  attempts: v.number(),
});

export interface PendingMention extends v.InferOutput<typeof PendingClaim> {
  id: string;
  key: string;
  sender: Requester;
}

interface PendingOptions {
  store: Store;
  now: Clock;
  limits: { pending: number; pendingPerHost: number };
  /** Gets one line for each damaged record. */
  log: Log;
}

/** Pending mentions in a store that several processes share. */
export class PendingMentions {
  /** Keys of damaged records that were logged. */
  readonly #logged = new Set<string>();

  constructor(readonly options: PendingOptions) {}

  /**
   * Stores a claim for later, unless it is pending already. It replaces a damaged record.
   *
   * @throws TwtxtError `too-many-pending` if too many are pending, in total, from one host or from one sender
   */
  async add(claim: PostedClaim, sender: Requester): Promise<void> {
    const { store, now } = this.options;
    const start = keyStart(claim);
    const keys = await store.keys(PENDING);
    const same = keys.filter((key) => key.startsWith(start));
    for (const key of same) if (await this.#read(key)) return;
    const others = keys.filter((key) => !key.startsWith(start));
    this.#checkLimits(others, toFolder(claim.source), sender);
    const key = `${start}-${sender}`;
    const condition = same.includes(key) ? undefined : ({ isNew: true } as const);
    await writeJson(store, key, { ...claim, since: now(), attempts: 0 }, condition);
    for (const damaged of same) if (damaged !== key) await store.delete(damaged);
  }

  #checkLimits(others: readonly string[], folder: string, sender: Requester): void {
    const { pending, pendingPerHost } = this.options.limits;
    const ofHost = others.filter((key) => key.startsWith(folder)).length;
    const wait = "are waiting for verification. Try again later.";
    if (others.length >= pending) throw new TwtxtError("too-many-pending", `Too many mentions ${wait}`);
    if (ofHost >= pendingPerHost) throw new TwtxtError("too-many-pending", `Too many mentions from this host ${wait}`);
    for (const { group, share } of listShares(sender)) {
      const ofGroup = others.filter((key) => parseEnd(key).sender.split(".").includes(group)).length;
      if (ofGroup < Math.max(1, Math.floor(pending * share))) continue;
      throw new TwtxtError("too-many-pending", `Too many mentions from your network address ${wait}`);
    }
  }

  /** All pending mentions, oldest first. Damaged records are left out. */
  async all(): Promise<PendingMention[]> {
    const keys = await this.options.store.keys(PENDING);
    const found = await Promise.all(keys.map((key) => this.#read(key)));
    return found.filter((mention) => mention !== null).sort((a, b) => a.since - b.since);
  }

  /** @returns `null` for a missing record, and for a damaged one, which is logged. */
  async #read(key: string): Promise<PendingMention | null> {
    const { store, log } = this.options;
    const stored = await readJson(store, key, PendingClaim, ({ message }) => {
      if (!this.#logged.has(key))
        log(`${message} This pending mention was skipped. Delete the record.`, { level: "error" });
      this.#logged.add(key);
    });
    return stored && { ...stored.value, key, ...parseEnd(key) };
  }

  isDue({ since, attempts }: PendingMention): boolean {
    const pause = ATTEMPTS[attempts] ?? 0;
    return !isAhead(since + pause, this.options.now(), pause);
  }

  /** Whether it has waited too long without its source being asked. @param steadySince - when the clock last jumped */
  isOver({ since }: PendingMention, steadySince: number): boolean {
    return countedSince(since, steadySince) + LONGEST_WAIT <= this.options.now();
  }

  /** Records an attempt without a verdict. @returns whether it was the last one */
  async noteAttempt({ id, key, sender, ...claim }: PendingMention): Promise<boolean> {
    const attempts = claim.attempts + 1;
    await writeJson(this.options.store, key, { ...claim, attempts });
    return attempts >= ATTEMPTS.length;
  }

  async drop(claim: Claim): Promise<void> {
    const { store } = this.options;
    for (const key of await store.keys(keyStart(claim))) await store.delete(key);
  }
}

function toFolder(source: string): string {
  return `${PENDING}${hostKey(source)}/`;
}

function parseEnd(key: string): Pick<PendingMention, "id" | "sender"> {
  const [id = "", sender = ""] = key.slice(key.lastIndexOf("/") + 1).split("-");
  return { id, sender };
}

/** The key up to its sender. */
function keyStart({ source, timestamps, target }: Claim): string {
  const text = [source, timestamps[0] ?? "", target.url].join("\n");
  return `${toFolder(source)}${hash("sha256", text).slice(0, 32)}`;
}
