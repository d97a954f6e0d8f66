// test/site/conversation.test.ts: mentions as a tree of replies.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Entry, type Thread, toThreads } from "../../plugin/site/conversation.js";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString().slice(0, 19).concat("Z");

/** An entry at a minute, with its key as its name. */
function entry(key: string, minute: number, ...parents: string[]): Entry {
  return { key, names: [key], parents, at: at(minute) };
}

/** The keys, replies in parentheses: `a(b c(d))`. */
function outline(threads: readonly Thread<Entry>[]): string {
  return threads
    .map(({ entry: { key }, replies }) => (replies.length > 0 ? `${key}(${outline(replies)})` : key))
    .join(" ");
}

describe("threads", () => {
  test("a reply is under its parent, oldest first", () => {
    const entries = [
      entry("late", 9, "a"),
      entry("a", 1),
      entry("early", 2, "a"),
      entry("deep", 5, "late"),
      entry("b", 0),
    ];
    expect(outline(toThreads(entries))).toBe("b a(early late(deep))");
  });

  test("a reply can name its parent by either hash or by its URL", () => {
    const parent = { ...entry("parent", 0), names: ["7chars7", "12characters", "https://bob.example/1"] };
    const replies = parent.names.map((name, index) => entry(`r${index}`, index + 1, name));
    expect(outline(toThreads([...replies, parent]))).toBe("parent(r0 r1 r2)");
  });

  test("a reply with an unknown parent is under its next known ancestor, or at the top", () => {
    const entries = [entry("post", 0), entry("reply", 1, "unknown", "post"), entry("lost", 2, "unknown")];
    expect(outline(toThreads(entries))).toBe("post(reply) lost");
  });

  test("a reply can be older than its parent", () => {
    expect(outline(toThreads([entry("parent", 5), entry("reply", 1, "parent")]))).toBe("parent(reply)");
  });

  test("the fifth level and deeper ones are flat, in the order of their dates", () => {
    const chain = ["a", "b", "c", "d", "e", "f", "g"].map((key, index, keys) =>
      entry(key, index, keys[index - 1] ?? "none"),
    );
    expect(outline(toThreads([...chain, entry("h", 9, "d")]))).toBe("a(b(c(d e f g h)))");
  });

  test("the oldest entry of a cycle is at the top", () => {
    const cycle = [
      entry("a", 3, "b"),
      entry("b", 1, "c"),
      entry("c", 2, "a"),
      entry("outside", 0, "a"),
      entry("self", 4, "self"),
    ];
    expect(outline(toThreads(cycle))).toBe("b(a(outside c)) self");
  });

  test("a cycle or a chain of 20,000 replies is no deeper than any other", () => {
    const replies = (first: string) =>
      Array.from({ length: 20_000 }, (_, index) => entry(`e${index}`, index, index > 0 ? `e${index - 1}` : first));
    for (const first of ["e19999", "unknown"]) {
      const text = outline(toThreads(replies(first)));
      expect(text).toMatch(/^e0\(e1\(e2\(e3 e4 e5 .* e19999\)\)\)$/);
    }
  });
});

describe("any set of entries", () => {
  const names = fc.constantFrom(..."abcdefghij");
  const entries = fc.array(
    fc.record({
      key: names,
      names: fc.array(names, { maxLength: 2 }),
      parents: fc.array(names, { maxLength: 2 }),
      at: fc.nat(5).map(at),
    }),
    { maxLength: 30 },
  );

  test("is in the tree with each key once, however the entries reply to each other", () => {
    fc.assert(
      fc.property(entries, (given) => {
        const keys: string[] = [];
        const walk = (threads: readonly Thread<Entry>[], level: number) => {
          expect(threads.length === 0 || level <= 4).toBe(true);
          for (const { entry, replies } of threads) {
            keys.push(entry.key);
            walk(replies, level + 1);
          }
        };
        walk(toThreads(given), 1);
        expect(keys.sort()).toEqual([...new Set(given.map(({ key }) => key))].sort());
      }),
    );
  });

  test("has the same tree in any order of arrival", () => {
    const distinct = entries.map((given) => [...new Map(given.map((one) => [one.key, one])).values()]);
    const shuffled = distinct.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length, maxLength: given.length })),
    );
    fc.assert(
      fc.property(shuffled, ([given, other]) => {
        expect(toThreads(other)).toEqual(toThreads(given));
      }),
    );
  });
});
