// plugin/client/files/verification-run.ts: verifies all blobs, and remembers what the last time found.
import { type Verification, verifyBlobs } from "../../author/blob-list.js";
import { type BlobSite, knownFolder } from "../../author/blob-site.js";
import { TwtxtError } from "../../errors.js";
import type { ClientContext } from "../room.js";

/** One at a time. */
export class VerificationRun {
  readonly #machine: ClientContext["machine"];
  verifications: Verification[] = [];
  /** Records of this machine that cannot be read, and what to do, in sentences. */
  damaged: readonly string[] = [];
  /** How many blobs there are to verify. */
  count = 0;
  /** Milliseconds since 1970; `null` before the first time. */
  startedAt: number | null = null;
  isRunning = false;
  /** Why it stopped early, in sentences. */
  fault: string | null = null;

  constructor({ machine }: Pick<ClientContext, "machine">) {
    this.#machine = machine;
  }

  /** Resolves when it has begun. @throws TwtxtError as the client of the site */
  async start(site: BlobSite): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      const { count, verifications, damaged } = await verifyBlobs(site, null);
      const advice = `It is in ${knownFolder(this.#machine)}: if you delete it, the site's version of the blob counts as the newest.`;
      Object.assign(this, { verifications: [], count, startedAt: this.#machine.now(), fault: null });
      this.damaged = damaged.map((line) => `${line} ${advice}`);
      void this.#collect(verifications);
    } catch (error) {
      this.isRunning = false;
      throw error;
    }
  }

  async #collect(verifications: AsyncGenerator<Verification>): Promise<void> {
    try {
      for await (const verification of verifications) this.verifications.push(verification);
    } catch (error) {
      this.fault = error instanceof TwtxtError ? error.message : String(error);
    } finally {
      this.isRunning = false;
    }
  }
}
