// test/store/steps.ts: what the process that is killed does, step by step, so that others know it too.

/** The key of a step: five keys take turns. */
export function keyOf(step: number): string {
  return `box/k${step % 5}`;
}

/** The value that a step writes, of one number again and again, so that a torn one shows; `null` where it deletes. */
export function contentOf(step: number): Uint8Array | null {
  if (step % 4 === 0) return null;
  return new Uint8Array(new Uint32Array(1 + ((step * 7919) % 60_000)).fill(step).buffer);
}
