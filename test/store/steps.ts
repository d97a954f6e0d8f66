// test/store/steps.ts: the steps of a process that a test kills, for the process and the test.

/** The key of a step, one of five in turn. */
export function keyOf(step: number): string {
  return `box/k${step % 5}`;
}

/** The value that a step writes, one number repeated, so that a mix of two values shows. `null` if the step deletes. */
export function contentOf(step: number): Uint8Array | null {
  if (step % 4 === 0) return null;
  return new Uint8Array(new Uint32Array(1 + ((step * 7919) % 60_000)).fill(step).buffer);
}
