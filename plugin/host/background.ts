// plugin/host/background.ts: work that goes on after a request was answered.

/** Keeps track of work that no answer waits for, so that a host can wait for it before it ends. */
export class BackgroundWork {
  readonly #underWay = new Set<Promise<void>>();

  /** @param work - handles its own errors */
  readonly add = (work: Promise<void>): void => {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  };

  /** Fulfilled when all work has ended, including what is added while it waits. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }
}
