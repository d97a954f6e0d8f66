// plugin/messages/saltpack/shuffle.ts: any order, each as likely as another.
import type { Random } from "./primitives.js";

/** @param items - at most 256 */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(below(left.length, random), 1));
}

/** @returns any number below the limit; a byte beyond the last whole multiple of it would favour the small ones */
function below(limit: number, random: Random): number {
  const unbiased = 256 - (256 % limit);
  for (;;) {
    const [byte = 0] = random(1);
    if (byte < unbiased) return byte % limit;
  }
}
