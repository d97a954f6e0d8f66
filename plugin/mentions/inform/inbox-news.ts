// plugin/mentions/inform/inbox-news.ts: new sealed messages, and inboxes that are nearly full.
import * as v from "valibot";

/** The author is notified once an inbox is this full. PROTOCOL 3.3 */
const NEARLY_FULL = 0.8;

/** The contents of one inbox. */
export interface InboxState {
  user: string;
  /** Oldest first; `created` is `YYYY-MM-DDThh:mm:ss.sssZ`. */
  messages: readonly { created: string }[];
  /** From 0 to 1. */
  fullness: number;
}

/** By user: when the newest reported message arrived, and whether a nearly full inbox was reported. */
export const ReportedInboxes = v.record(v.string(), v.object({ newest: v.string(), isFull: v.boolean() }));

/**
 * Finds news since the last notification.
 *
 * @returns `fresh`: times of new messages; `earlier`: times of the others; `filling`: users whose inboxes became nearly
 *   full; `after`: the state to store once this is reported
 */
export function inboxNews(inboxes: readonly InboxState[], reported: v.InferOutput<typeof ReportedInboxes>) {
  const now = inboxes.map(({ user, messages, fullness }) => {
    const { newest = "", isFull: wasFull = false } = reported[user] ?? {};
    const isFull = fullness >= NEARLY_FULL;
    const times = messages.map(({ created }) => created);
    const last = times.at(-1) ?? "";
    return {
      fresh: times.filter((time) => time > newest),
      // Includes the newest reported message, which may be deleted by now.
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
