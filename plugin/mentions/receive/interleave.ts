// plugin/mentions/receive/interleave.ts: an order in which groups take turns.
import { groupBy } from "../../groups.js";

/**
 * Orders items so that their groups take turns: first the first item of each group. Groups are in the order of their first items.
 *
 * @param arrange - orders the items of a group; default: as they are
 * @example interleaveGroups(["a1", "a2", "b1"], ([name = ""]) => name) // ["a1", "b1", "a2"]
 */
export function interleaveGroups<T>(
  items: readonly T[],
  group: (item: T) => string,
  arrange = (ofGroup: readonly T[]): readonly T[] => ofGroup,
): T[] {
  const groups = [...groupBy(items, group).values()].map(arrange);
  const rounds = Math.max(0, ...groups.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    groups.flatMap((ofGroup) => ofGroup.slice(round, round + 1)),
  ).flat();
}
