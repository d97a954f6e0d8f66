// plugin/options/mentions.ts: the option `mentions`.
import * as v from "valibot";
import { COMMENTS } from "./comments.js";
import { amount, layout, mentionUrl, onOr, ownWords, pagePath, sitePath, sources, yesNo } from "./value-types.js";
import { ENGLISH } from "./words.js";

const WORD = 'a text such as "Erwähnungen"';

/** See docs/mentions.md, Options. */
export const MENTIONS = v.strictObject(
  {
    path: v.optional(sitePath("/webmention"), "/webmention"),
    pages: v.optional(pagePath("/mentions/"), "/mentions/"),
    layout: v.optional(layout),
    perPage: amount(1, 500, 100),
    words: v.optional(ownWords(ENGLISH, '{ title: "Erwähnungen" }', v.pipe(v.string(WORD), v.nonEmpty(WORD))), {}),
    headingLevel: amount(1, 6, 2),
    form: v.optional(yesNo, true),
    comments: v.optional(onOr(COMMENTS)),
    avatars: v.optional(yesNo, false),
    links: v.optional(yesNo, true),
    unlisted: v.optional(yesNo, false),
    aliases: v.optional(
      v.array(mentionUrl, 'a list such as ["https://old.example", "https://alice.example/old.txt"]'),
      [],
    ),
    moderate: v.optional(yesNo, false),
    allow: v.optional(sources, []),
    block: v.optional(sources, []),
    digestHours: amount(1, 720, 24),
    everyHours: amount(1, 24, 1),
    rebuild: v.optional(
      v.strictObject(
        {
          perDay: amount(0, 24, 1),
          perMonth: amount(0, 500, 5),
        },
        "an object such as { perDay: 1 }",
      ),
      {},
    ),
    limits: v.optional(
      v.strictObject(
        {
          slowHostPause: amount(0, 86_400, 3600),
          verificationSeconds: amount(1, 86_400, 1000),
          pending: amount(1, 10_000, 500),
          pendingPerHost: amount(1, 1000, 20),
          shownPerHost: amount(0, 10_000, 10),
        },
        "an object such as { pending: 500 }",
      ),
      {},
    ),
  },
  'false, or an object such as { moderate: true, block: ["spam.example"] }',
);

export type MentionsOptions = v.InferOutput<typeof MENTIONS>;

/** The option `mentions`, complete; the defaults for a site that receives none. */
export function mentionsOptions({ mentions }: { mentions: false | MentionsOptions }): MentionsOptions {
  return mentions || v.parse(MENTIONS, {});
}

/** Whether links in posts are sent as mentions. */
export function sendsLinks({ mentions }: { mentions: false | MentionsOptions }): boolean {
  return mentions !== false && mentions.links;
}
