// plugin/mentions/send/circuit-breaker.ts: skips failing hosts for the rest of a run.

/** Holds a verdict for each host that did not answer or asked for a pause. */
export class CircuitBreaker<Verdict> {
  readonly #open = new Map<string, Verdict>();

  /** @returns the verdict for every request to this host; `undefined` if it may be asked */
  verdictOn(host: string): Verdict | undefined {
    return this.#open.get(host);
  }

  /** Stops requests to this host. */
  open(host: string, verdict: Verdict): void {
    this.#open.set(host, verdict);
  }
}
