// plugin/store/space-reserve.ts: disk space that a store gives back when the disk is full, so that values can be deleted:
// even a deletion writes to the database first.
import { randomBytes } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder, remove } from "./disk.js";

const FILE = "reserve";
/** More than a write-ahead log has before its checkpoint. */
const MIB = 6;
/** Least free space beside the reserve: without it, a full disk would look free as soon as it has its own reserve back. */
const FREE_MIB = 1;
/** Least time between two tries to get the space back, in milliseconds. */
const PAUSE_MS = 1000;

export class SpaceReserve {
  readonly #file: string;
  /** Why there is no reserve; `null` while there is one, and before it is first made. */
  #shortage: Error | null = null;
  #triedAt = Number.NEGATIVE_INFINITY;
  #restoring: Promise<void> | null = null;
  /** How much work uses the space now. */
  #users = 0;

  /** @param root - the folder of the store */
  constructor(root: string) {
    this.#file = join(root, FILE);
  }

  /** Reserves the space, unless it is reserved already. */
  async make(): Promise<void> {
    if (statSync(this.#file, { throwIfNoEntry: false })?.size !== MIB * 2 ** 20) await this.#restore();
  }

  /** Runs work with the space, which nothing takes back meanwhile. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    await this.#restoring;
    if (statSync(this.#file, { throwIfNoEntry: false }) !== undefined) {
      // Values that need more space are refused until there is space for the reserve again.
      this.#shortage = Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
      this.#triedAt = performance.now();
      rmSync(this.#file, { force: true });
    }
    this.#users += 1;
    try {
      return await work();
    } finally {
      this.#users -= 1;
    }
  }

  /** @throws Error of the file system, such as `ENOSPC`, while only changes that free space are possible */
  async checkSpace(): Promise<void> {
    if (this.#shortage && this.#users === 0 && performance.now() - this.#triedAt > PAUSE_MS) {
      this.#restoring ??= this.#restore().finally(() => {
        this.#restoring = null;
      });
    }
    // Checks at the same time wait for one result: the shortage before it would make a caller release the new reserve.
    await this.#restoring;
    if (this.#shortage) throw this.#shortage;
  }

  async #restore(): Promise<void> {
    this.#triedAt = performance.now();
    try {
      await makeFolder(dirname(this.#file));
      await remove(this.#file);
      const handle = await open(this.#file, "wx", 0o600);
      // Random, because a file system may compress. `writeFile`, because `write` may stop early on a disk that is nearly full.
      const bytes = randomBytes(2 ** 20);
      try {
        for (let written = 0; written < MIB + FREE_MIB; written += 1) await handle.writeFile(bytes);
        await handle.truncate(MIB * 2 ** 20);
        await handle.sync();
      } finally {
        await handle.close();
      }
      this.#shortage = null;
    } catch (error) {
      this.#shortage = error as Error;
      await remove(this.#file);
    }
  }
}
