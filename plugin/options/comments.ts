// plugin/options/comments.ts: the option `mentions.comments`.
import * as v from "valibot";
import { DAY } from "../clock.js";
import { COMMENT_PAGE, COMMENT_STATUS } from "./comment-words.js";
import { amount, ownWords, yesNo } from "./value-types.js";

/** The option as an object: see docs/mentions.md, Options. */
export const COMMENTS = v.strictObject(
  {
    trust: amount(0, 1000, 1),
    perDay: amount(1, 10_000, 100),
    held: amount(1, 10_000, 500),
    words: v.optional(ownWords({ ...COMMENT_PAGE, ...COMMENT_STATUS }, '{ comment: "Kommentieren" }'), {}),
    mail: v.optional(yesNo, false),
    closeAfterDays: amount(0, 36_500, 0),
  },
  "true, false, or an object such as { closeAfterDays: 90 }",
);

/** The option `mentions.comments`, complete. */
export type CommentsOptions = v.InferOutput<typeof COMMENTS>;

/** Whether a post takes no more comments because of its age. @param date - of the post, in milliseconds since 1970 */
export function isTooOld(date: number, now: number, { closeAfterDays }: CommentsOptions): boolean {
  return closeAfterDays > 0 && now > date + closeAfterDays * DAY;
}
