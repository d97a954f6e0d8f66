// plugin/mentions/send/circuit-breaker.ts: hosts that are not asked again in this run.

/** Answers for hosts that gave no answer or asked for a pause, so that others do not wait for them. */
export class CircuitBreaker<Verdict> {
  readonly #open = new Map<string, Verdict>();

  /** The verdict for everything at this host; `undefined` for a host that may be asked. */
  verdictOn(host: string): Verdict | undefined {
    return this.#open.get(host);
  }

  /** Asks this host no more. */
  open(host: string, verdict: Verdict): void {
    this.#open.set(host, verdict);
  }
}
