// plugin/options/comments.ts: the option `mentions.comments`.
import * as v from "valibot";
import { COMMENT_PAGE, COMMENT_STATUS } from "./comment-words.js";
import { amount, optionalOr, wordOptions, yesNo } from "./value-types.js";

/** The option as an object. */
const COMMENTS = v.strictObject(
  {
    trust: amount("Approved comments after which a reader's others are shown at once; 0 for never.", 0, 1000, 1),
    perDay: amount("Comments a day, besides those of trusted readers; a tenth from one address.", 1, 10_000, 100),
    held: amount("Comments that may wait for your approval.", 1, 10_000, 500),
    words: v.optional(
      v.strictObject(
        wordOptions({ ...COMMENT_PAGE, ...COMMENT_STATUS }),
        'an object such as { comment: "Kommentieren" }',
      ),
      {},
    ),
    mail: optionalOr(
      "Whether readers can be told of answers by mail, through the server of `TWTXT_SMTP_URL`. Each address is confirmed first.",
      yesNo,
      false,
    ),
    closeAfterDays: amount("Days after which a post takes no more comments; 0 for never.", 0, 36_500, 0),
  },
  "true, false, or an object such as { closeAfterDays: 90 }",
);

/** The option `mentions.comments`, complete. */
export type CommentsOptions = v.InferOutput<typeof COMMENTS>;

/** `true` stands for the defaults. */
const SWITCH = v.pipe(
  v.boolean(),
  v.transform((isOn): false | CommentsOptions => isOn && v.parse(COMMENTS, {})),
);

export const COMMENTS_OPTION = v.lazy((input) => (typeof input === "boolean" ? SWITCH : COMMENTS)) as v.GenericSchema<
  boolean | v.InferInput<typeof COMMENTS>,
  false | CommentsOptions
>;

const DAY_MS = 86_400_000;

/** Whether a post takes no more comments because of its age. @param date - of the post, in milliseconds since 1970 */
export function isTooOld(date: number, now: number, { closeAfterDays }: CommentsOptions): boolean {
  return closeAfterDays > 0 && now > date + closeAfterDays * DAY_MS;
}
