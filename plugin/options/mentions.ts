// plugin/options/mentions.ts: what the option `mentions` may hold.
import * as v from "valibot";
import { about, amount, layout, mentionUrl, sitePath, sources, yesNo } from "./forms.js";

const FORM = 'false, or an object such as { moderate: true, block: ["spam.example"] }';
const REBUILD_FORM = "an object such as { perDay: 1 }";
const LIMITS_FORM = "an object such as { pending: 500 }";
const WORDS_FORM = 'an object such as { title: "Erwähnungen" }';
const WORDS = 'a text such as "Erwähnungen"';
const words = (description: string, standard: string) =>
  v.optional(about(description, v.pipe(v.string(WORDS), v.nonEmpty(WORDS))), standard);

/** What the option `mentions` may hold. */
export const MENTIONS = v.strictObject(
  {
    path: v.optional(about("Where mentions are received.", sitePath("/webmention")), "/webmention"),
    pages: v.optional(
      about(
        "Where the pages that list them begin; `false` for none.",
        v.union([v.literal(false), sitePath("/mentions/")], 'false, or a path such as "/mentions/"'),
      ),
      "/mentions/",
    ),
    layout: v.optional(
      about(
        "A layout of your site for these pages, such as `base.njk`; without one they are plain pages of their own.",
        layout(),
      ),
    ),
    perPage: about("How many stand on one of these pages.", amount(1, 500, 50)),
    words: v.optional(
      v.strictObject(
        {
          title: words("What these pages are called.", "Mentions"),
          newer: words("Leads to the page before.", "Newer"),
          older: words("Leads to the next page.", "Older"),
          none: words("What they say before the first mention.", "No mentions yet."),
          mention: words("What stands behind a name.", "mentioned this"),
          reply: words("The same for a reply,", "replied"),
          like: words("for a like,", "likes this"),
          repost: words("for a repost,", "reposted this"),
          bookmark: words("and for a bookmark.", "bookmarked this"),
        },
        WORDS_FORM,
      ),
      {},
    ),
    avatars: v.optional(
      about("Whether the build fetches the pictures of those who mention you and serves them itself.", yesNo()),
      false,
    ),
    aliases: about(
      "Other URLs of your feed by which people may still mention you.",
      v.optional(v.array(mentionUrl, 'a list such as ["https://old.example/twtxt.txt"]'), []),
    ),
    moderate: v.optional(
      about("Whether a mention waits until you have approved it, unless `allow` has its source.", yesNo()),
      false,
    ),
    allow: about("Sources that are always shown.", sources),
    block: about("Sources that are refused.", sources),
    digestHours: about(
      "The first news after a quiet hour is mailed at once. Later news is mailed together, at most once in so many hours.",
      amount(1, 720, 24),
    ),
    everyHours: about("How often the scheduled function runs.", amount(1, 24, 1)),
    rebuild: v.optional(
      v.strictObject(
        {
          perDay: about(
            "How often in 24 hours a new mention may rebuild the site, where there is a build hook.",
            amount(0, 24, 1),
          ),
          perMonth: about("How often in 31 days; a deploy costs 15 credits.", amount(0, 500, 5)),
        },
        REBUILD_FORM,
      ),
      {},
    ),
    limits: v.optional(
      v.strictObject(
        {
          slowHostPause: about(
            "Seconds during which a source that was too slow is not asked again.",
            amount(0, 86_400, 3600),
          ),
          verificationSeconds: about(
            "On Netlify, seconds a day that may be spent on verifying; one sender or source host can use a tenth.",
            amount(1, 86_400, 1000),
          ),
          pending: about("How many may wait for their verification.", amount(1, 10_000, 500)),
          pendingPerHost: about("How many of one host may.", amount(1, 1000, 20)),
          shownPerHost: about(
            "How many of one host are shown a day before the rest waits for you.",
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
