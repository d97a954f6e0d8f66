// plugin/store/write-queue.ts: writes that wait at the same time share one transaction, and its sync.
import { randomUUID } from "node:crypto";
import { firstWithin } from "../groups.js";
import type { SpaceReserve } from "./space-reserve.js";
import { systemCode } from "./sqlite-driver.js";
import type { Step, StepResult } from "./sqlite-rows.js";
import { type Condition, parseEntry } from "./store.js";

/** The most that one transaction writes, in bytes of values. */
const MAX_BYTES = 4 * 2 ** 20;
/** Size of a mark, in bytes: nonces and times of deletions have less. */
const MARK_BYTES = 32;

const FIND_FORMER = "SELECT size, file FROM entries WHERE key = ?";
const INSERT =
  "INSERT INTO entries (etag, size, value, file, key, folder_end, id_at, number) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
const RETURN = "RETURNING etag";
const CREATE = `${INSERT} ON CONFLICT (key) DO NOTHING ${RETURN}`;
const REPLACE = `UPDATE entries SET etag = ?, size = ?, value = ?, file = ? WHERE key = ? AND etag = ? ${RETURN}`;
const WRITE = `${INSERT} ON CONFLICT (key) DO UPDATE SET etag = excluded.etag, size = excluded.size, value = excluded.value, file = excluded.file ${RETURN}`;
const DELETE = `DELETE FROM entries WHERE key = ? ${RETURN}`;

export interface NewValue {
  bytes: Uint8Array | null;
  file: string | null;
  /** In bytes. */
  size: number;
}

export interface Change {
  key: string;
  /** `null` deletes the key. */
  value: NewValue | null;
  condition?: Condition | undefined;
}

interface Outcome {
  /** `null` if the condition was not met, and for a deletion. */
  etag: string | null;
  /** The file of the former value, which no row names any more; `null` for none. */
  formerFile: string | null;
}

interface Pending {
  change: Change;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/** Runs a transaction, durable when it returns. @returns the row of each step */
export type Commit = (steps: readonly Step[]) => Promise<StepResult[]>;

export class WriteQueue {
  readonly #pending: Pending[] = [];
  #isRunning = false;

  constructor(
    private readonly commit: Commit,
    private readonly reserve: SpaceReserve,
  ) {}

  /** Makes a change, durable when it returns. */
  add(change: Change): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ change, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#pending.length > 0) {
      // Requests that have arrived meanwhile join.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#takeBatch();
      try {
        await this.reserve.checkSpace();
        const outcomes = await this.#write(batch.map(({ change }) => change));
        batch.forEach(({ resolve }, at) => void resolve(outcomes[at] as Outcome));
      } catch (error) {
        if (systemCode(error) === "ENOSPC") await this.reserve.lend(() => this.#writeToFullDisk(batch, error));
        else for (const { reject } of batch) reject(error);
      }
    }
    this.#isRunning = false;
  }

  /** Makes the changes that need no additional space, with the reserve. Each has its own transaction, so that it may fail alone. */
  async #writeToFullDisk(batch: readonly Pending[], error: unknown): Promise<void> {
    for (const { change, resolve, reject } of batch) {
      try {
        if (await this.#needsSpace(change)) throw error;
        const [outcome] = await this.#write([change]);
        resolve(outcome as Outcome);
      } catch (failure) {
        reject(failure);
      }
    }
  }

  /** Whether a change stores more than before. Marks, such as those of deletions and nonces, count as nothing. */
  async #needsSpace({ key, value }: Change): Promise<boolean> {
    if (value === null || value.size <= MARK_BYTES) return false;
    const [former] = await this.commit([[FIND_FORMER, key]]);
    return value.size > Number(former?.size ?? 0);
  }

  async #write(changes: readonly Change[]): Promise<Outcome[]> {
    const parts = changes.map(toSteps);
    const results = await this.commit(parts.flat());
    let at = 0;
    return parts.map((steps) => {
      const rows = results.slice(at, at + steps.length);
      at += steps.length;
      return toOutcome(rows);
    });
  }

  #takeBatch(): Pending[] {
    const batch = firstWithin(this.#pending, MAX_BYTES, ({ change }) => change.value?.bytes?.length ?? 0);
    return this.#pending.splice(0, batch.length);
  }
}

/** The change itself comes last. A new key has no former value. */
function toSteps({ key, value, condition }: Change): Step[] {
  const former: Step = [FIND_FORMER, key];
  if (value === null) return [former, [DELETE, key]];
  // Node.js keeps random bytes for 128 UUIDs; each call of randomBytes asks the system.
  const row = [randomUUID(), value.size, value.bytes, value.file, key] as const;
  if (condition && "etag" in condition) return [former, [REPLACE, ...row, condition.etag]];
  const entry = parseEntry(key);
  const places = entry ? [entry.folder.length, key.indexOf(entry.id) + 1, entry.number] : [null, null, null];
  return condition ? [[CREATE, ...row, ...places]] : [former, [WRITE, ...row, ...places]];
}

function toOutcome(results: readonly StepResult[]): Outcome {
  const written = results.at(-1);
  const former = results.length > 1 ? results[0] : undefined;
  const etag = written?.etag;
  return {
    etag: typeof etag === "string" ? etag : null,
    formerFile: written && typeof former?.file === "string" ? former.file : null,
  };
}
