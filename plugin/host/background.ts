// plugin/host/background.ts: work that goes on after a request was answered.

/** Tracks background work, so that a host can wait for it before it exits. */
export class BackgroundWork {
  readonly #underWay = new Set<Promise<void>>();

  /** @param work - handles its own errors */
  readonly add = (work: Promise<void>): void => {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  };

  /** Resolves when all work has ended, including work added meanwhile. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }
}
