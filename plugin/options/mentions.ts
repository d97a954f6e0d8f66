// plugin/options/mentions.ts: the option `mentions`.
import * as v from "valibot";
import { about, amount, layout, mentionUrl, sitePath, sources, yesNo } from "./forms.js";
import { VERBS } from "./verbs.js";

const FORM = 'false, or an object such as { moderate: true, block: ["spam.example"] }';
const REBUILD_FORM = "an object such as { perDay: 1 }";
const LIMITS_FORM = "an object such as { pending: 500 }";
const WORDS_FORM = 'an object such as { title: "Erwähnungen" }';
const WORDS = 'a text such as "Erwähnungen"';
const words = (description: string, standard: string) =>
  v.optional(about(description, v.pipe(v.string(WORDS), v.nonEmpty(WORDS))), standard);

/** The option `mentions` as an object. */
export const MENTIONS = v.strictObject(
  {
    path: v.optional(about("The path that receives mentions.", sitePath("/webmention")), "/webmention"),
    pages: v.optional(
      about(
        "The path of the pages that list all mentions; `false` for no such pages.",
        v.union([v.literal(false), sitePath("/mentions/")], 'false, or a path such as "/mentions/"'),
      ),
      "/mentions/",
    ),
    layout: v.optional(
      about(
        "The layout of these pages, such as `base.njk`. Without it, they are plain pages with a style of their own.",
        layout(),
      ),
    ),
    perPage: about("Mentions per page.", amount(1, 500, 50)),
    words: v.optional(
      v.strictObject(
        {
          title: words("The title of these pages.", "Mentions"),
          newer: words("The link to the previous page.", "Newer"),
          older: words("The link to the next page.", "Older"),
          none: words("The text of an empty list.", "No mentions yet."),
          mention: words("The verb after the author of a mention.", VERBS.mention),
          reply: words("The verb of a reply.", VERBS.reply),
          like: words("The verb of a like.", VERBS.like),
          repost: words("The verb of a repost.", VERBS.repost),
          bookmark: words("The verb of a bookmark.", VERBS.bookmark),
        },
        WORDS_FORM,
      ),
      {},
    ),
    avatars: v.optional(
      about("Whether the build downloads the pictures of authors and publishes them with the site.", yesNo()),
      false,
    ),
    aliases: about(
      "Other URLs of your feed, such as an earlier one. Mentions of them count, too.",
      v.optional(v.array(mentionUrl, 'a list such as ["https://old.example/twtxt.txt"]'), []),
    ),
    moderate: v.optional(
      about("Whether mentions wait for your approval, except from sources in `allow`.", yesNo()),
      false,
    ),
    allow: about("Sources whose mentions are always shown.", sources),
    block: about("Sources whose mentions are refused.", sources),
    digestHours: about(
      "Minimum hours between two digests by mail. The first mention or message after a quiet hour is mailed at once.",
      amount(1, 720, 24),
    ),
    everyHours: about("Hours between two runs of the scheduled work.", amount(1, 24, 1)),
    rebuild: v.optional(
      v.strictObject(
        {
          perDay: about("Rebuilds in 24 hours at most, if you set a build hook.", amount(0, 24, 1)),
          perMonth: about("Rebuilds in 31 days at most. On Netlify, each costs 15 credits.", amount(0, 500, 5)),
        },
        REBUILD_FORM,
      ),
      {},
    ),
    limits: v.optional(
      v.strictObject(
        {
          slowHostPause: about("Seconds before a host that was too slow is requested again.", amount(0, 86_400, 3600)),
          verificationSeconds: about(
            "Seconds a day for verification, on Netlify only. One sender or source host can use a tenth.",
            amount(1, 86_400, 1000),
          ),
          pending: about("Mentions that may wait for verification.", amount(1, 10_000, 500)),
          pendingPerHost: about("The same, from one host.", amount(1, 1000, 20)),
          shownPerHost: about(
            "Mentions from one host that are shown per day. Further ones wait for your approval.",
            amount(0, 10_000, 10),
          ),
        },
        LIMITS_FORM,
      ),
      {},
    ),
  },
  FORM,
);

/** The option `mentions`, complete. */
export type MentionsOptions = v.InferOutput<typeof MENTIONS>;

/** The option `mentions`, complete; the defaults for a site that receives none. */
export function mentionsOptions({ mentions }: { mentions: false | MentionsOptions }): MentionsOptions {
  return mentions || v.parse(MENTIONS, {});
}
