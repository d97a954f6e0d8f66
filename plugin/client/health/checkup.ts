// plugin/client/health/checkup.ts: checks the author's site in the background, one check at a time.
import type { Finding } from "../../author/doctor/check.js";
import { checksOf } from "../../author/doctor/examine.js";
import { TwtxtError } from "../../errors.js";
import type { ClientContext } from "../room.js";

/** The findings of the last check, which may be under way. */
export class Checkup {
  readonly #context: Pick<ClientContext, "choice" | "machine" | "ending">;
  findings: Finding[] = [];
  /** `null` before the first one. */
  startedAt: number | null = null;
  isRunning = false;
  /** Why it stopped early. */
  fault: string | null = null;

  constructor(context: Pick<ClientContext, "choice" | "machine" | "ending">) {
    this.#context = context;
  }

  /** Resolves when it has begun. @throws TwtxtError `no-settings` */
  async start(): Promise<void> {
    if (this.isRunning) return;
    const { choice, machine } = this.#context;
    const checks = await checksOf(null, { ...choice, address: undefined, flood: false }, machine);
    if (checks === null) throw new TwtxtError("no-settings", "There is no built site in this folder.");
    Object.assign(this, { findings: [], startedAt: machine.now(), isRunning: true, fault: null });
    void this.#collect(checks);
  }

  async #collect(checks: AsyncGenerator<Finding>): Promise<void> {
    try {
      for await (const finding of checks) {
        this.findings.push(finding);
        if (this.#context.ending.aborted) return;
      }
    } catch (error) {
      this.fault = error instanceof TwtxtError ? error.message : String(error);
    } finally {
      this.isRunning = false;
    }
  }
}
