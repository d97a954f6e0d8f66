// plugin/mentions/inform/inbox-news.ts: new sealed messages, and inboxes that are nearly full.
import * as v from "valibot";

/** An inbox that is fuller than this is news. PROTOCOL 3.3 */
const NEARLY_FULL = 0.8;

/** The contents of one inbox. */
export interface InboxState {
  user: string;
  /** Oldest first; `created` is `YYYY-MM-DDThh:mm:ss.sssZ`. */
  messages: readonly { created: string }[];
  /** From 0 to 1. */
  fullness: number;
}

/** Of each user: when the newest message came that was told of, and whether it was told that there is little room. */
export const InboxesTold = v.record(v.string(), v.object({ newest: v.string(), isFull: v.boolean() }));

/**
 * Finds news since the last telling.
 *
 * @returns `fresh`: the times of new messages; `earlier`: those of the others; `filling`: users whose inboxes have become
 *   nearly full; `after`: what counts as told once this is
 */
export function inboxNews(inboxes: readonly InboxState[], told: v.InferOutput<typeof InboxesTold>) {
  const now = inboxes.map(({ user, messages, fullness }) => {
    const { newest = "", isFull: wasFull = false } = told[user] ?? {};
    const isFull = fullness >= NEARLY_FULL;
    const times = messages.map(({ created }) => created);
    const last = times.at(-1) ?? "";
    return {
      fresh: times.filter((time) => time > newest),
      // The newest that was told, although it may be deleted by now.
      earlier: [...times, newest].filter((time) => time !== "" && time <= newest),
      filling: isFull && !wasFull ? [user] : [],
      after: [user, { newest: last > newest ? last : newest, isFull }] as const,
    };
  });
  return {
    fresh: now.flatMap(({ fresh }) => fresh),
    earlier: now.flatMap(({ earlier }) => earlier),
    filling: now.flatMap(({ filling }) => filling),
    after: Object.fromEntries(now.map(({ after }) => after)),
  };
}
