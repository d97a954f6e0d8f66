// test/demo/clock.ts: the clock of the programs of the demo, which no one waits for.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PRELOADED = ["./clock.mjs", "../helpers/loopback-only.mjs"].map((path) => new URL(path, import.meta.url).href);

/** The clock of the programs that start from now on. They connect only to this machine. */
export class DemoClock {
  readonly #folder = mkdtempSync(join(tmpdir(), "twtxt-demo-clock-"));
  readonly #file = join(this.#folder, "an-hour-later");

  constructor() {
    process.env.DEMO_HOUR_FILE = this.#file;
    process.env.NODE_OPTIONS = PRELOADED.map((url) => `--import=${url}`).join(" ");
  }

  /** Runs work an hour later. */
  async anHourLater(work: () => Promise<unknown>): Promise<void> {
    writeFileSync(this.#file, "");
    try {
      await work();
    } finally {
      rmSync(this.#file);
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
