// test/helpers/stored-mentions.ts: stored mentions, and a list of them in memory.
import { createHash } from "node:crypto";
import type { ListMentions, StoredMention } from "../../plugin/mentions/mention.js";
import type { NewMention } from "../../plugin/mentions/receive/event.js";

/** Bob's mention of Alice, with the values of a test. Mentions received at different times have different ids. */
export function storedMention(change: Partial<StoredMention> = {}): StoredMention {
  const identity = change.identity ?? "https://bob.example/twtxt.txt";
  const received = change.received ?? "2026-01-02T03:04:06.000Z";
  return {
    id: createHash("sha256").update(`${identity} ${received}`).digest("hex").slice(0, 32),
    identity,
    isDeclared: false,
    given: identity,
    timestamp: "2026-01-02T03:04:05Z",
    instant: "2026-01-02T03:04:05Z",
    type: "mention",
    author: { name: "bob", url: identity, photo: null },
    text: "hello @<alice https://alice.example/twtxt.txt>",
    html: null,
    hash: null,
    hashV1: null,
    published: "2026-01-02T03:04:05Z",
    subject: null,
    about: null,
    target: "https://alice.example/twtxt.txt",
    under: null,
    state: "shown",
    received,
    ...change,
  };
}

/** A verified mention by the host number `n`. */
export function newMention(n: number, change: Partial<NewMention> = {}): NewMention {
  const identity = `https://host${n}.example/twtxt.txt`;
  return {
    identity,
    isDeclared: false,
    given: identity,
    timestamp: "2026-01-02T03:04:05Z",
    instant: "2026-01-02T03:04:05Z",
    type: "mention",
    author: { name: `nick${n}`, url: identity, photo: null },
    text: `hello ${n}`,
    html: null,
    hash: null,
    hashV1: null,
    published: "2026-01-02T03:04:05Z",
    subject: null,
    about: null,
    target: "https://alice.example/twtxt.txt",
    under: null,
    hold: "when many",
    ...change,
  };
}

/** Lists the mentions that the array has at the time of each call. */
export function listOf(mentions: readonly StoredMention[]): ListMentions {
  return async ({ state, target, after, since = "", limit }) => {
    const wanted = mentions
      .filter((mention) => state === undefined || mention.state === state)
      .filter(({ received }) => received >= since)
      .filter((mention) => target === undefined || mention.target === target || mention.under === target)
      .sort((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1))
      .filter((mention) => after === undefined || placeOf(mention) < after);
    const page = wanted.slice(0, limit);
    const last = page.at(-1);
    return { mentions: page, next: last && wanted.length > limit ? placeOf(last) : null };
  };
}

function placeOf({ received, id }: StoredMention): string {
  return `${received}_${id}`;
}
