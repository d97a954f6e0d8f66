// plugin/options/mentions.ts: the option `mentions`.
import * as v from "valibot";
import { COMMENTS_OPTION } from "./comments.js";
import { amount, layout, mentionUrl, optional, optionalOr, pagePath, sitePath, sources, yesNo } from "./value-types.js";
import { ENGLISH, type Words } from "./words.js";

const WORDS = 'a text such as "Erwähnungen"';
const word = (name: keyof Words, description: string) =>
  optional(`${description} In English "${ENGLISH[name]}".`, v.pipe(v.string(WORDS), v.nonEmpty(WORDS)));

export const MENTIONS = v.strictObject(
  {
    path: optionalOr("The path that receives mentions.", sitePath("/webmention"), "/webmention"),
    pages: optionalOr(
      "The path of the pages that list all mentions; `false` for no such pages.",
      pagePath("/mentions/"),
      "/mentions/",
    ),
    layout: optional("The layout of these pages, if it is not that of the option `layout`.", layout),
    perPage: amount("Mentions per page.", 1, 500, 100),
    words: v.optional(
      v.strictObject(
        {
          title: word("title", "The title of these pages."),
          newer: word("newer", "The link to the previous page."),
          older: word("older", "The link to the next page."),
          none: word("none", "The text of an empty list."),
          mention: word("mention", "The verb after the author of a mention."),
          reply: word("reply", "The verb of a reply."),
          like: word("like", "The verb of a like."),
          repost: word("repost", "The verb of a repost."),
          bookmark: word("bookmark", "The verb of a bookmark."),
          mentionYou: word("mentionYou", "The verb of a mention of your feed, in the list of all mentions."),
          replyYou: word("replyYou", "The same for a reply to you."),
          mentionOf: word("mentionOf", "The same for a mention of a page, `{page}`."),
          replyOf: word("replyOf", "The same for a reply."),
          likeOf: word("likeOf", "The same for a like."),
          repostOf: word("repostOf", "The same for a repost."),
          bookmarkOf: word("bookmarkOf", "The same for a bookmark."),
          replies: word("replies", "The heading of replies."),
          mentions: word("mentions", "The heading of plain mentions."),
          likes: word("likes", "The heading of likes."),
          reposts: word("reposts", "The heading of reposts."),
          bookmarks: word("bookmarks", "The heading of bookmarks."),
          author: word("author", "The mark of your own replies."),
          guest: word("guest", "The mark of comments."),
          answer: word("answer", "The link to answer a reply by a comment."),
          waits: word("waits", "The mark of a reader's own comment that waits for your approval."),
          via: word("via", "The word before the host of a mention whose author names another host."),
          inReplyTo: word("inReplyTo", "The heading of what a reply of yours answers."),
          more: word("more", "The control that opens the rest of a long text."),
          moreItems: word("moreItems", "The control that opens the rest of a long list, with their number `{count}`."),
          removed: word("removed", "The place of a reply that is no longer shown and has answers."),
          form: word("form", "The heading of the form under a post."),
          send: word("send", "Its button."),
          timeline: word("timeline", "The title of the timeline."),
          noTwts: word("noTwts", "The text of an empty timeline."),
          unread: word("unread", "The heading of the feeds that the timeline could not read."),
          lastRead: word("lastRead", "The text before the time when such a feed was last read."),
          neverRead: word("neverRead", "The same for a feed that was never read."),
          unreachable: word("unreachable", "Why a feed could not be read: no connection."),
          slow: word("slow", "The same: no answer within two seconds."),
          gone: word("gone", "The same: the status 404 or 410."),
          failed: word("failed", "The same: another status, or too many redirects."),
          noFeed: word("noFeed", "The same: an answer that is not a feed."),
          deleted: word("deleted", "The page of a deleted post."),
          replyWith: word("replyWith", "The label of the shortcode `twtxtReply`."),
          alsoOn: word("alsoOn", "The words before the links of the shortcode `twtxtSyndication`."),
        },
        'an object such as { title: "Erwähnungen" }',
      ),
      {},
    ),
    headingLevel: amount("The level of the headings under a post, such as 2 for `<h2>`.", 1, 6, 2),
    form: optionalOr(
      "Whether a form under each post takes the URL of a page that links to it, for readers whose site sends no mentions.",
      yesNo,
      true,
    ),
    comments: optional(
      "Whether readers without a site can comment under posts. An object sets limits: `trust` (default 1) approved comments of a reader, after which further ones are shown at once, `perDay` (100), `held` (500) that may wait for your approval, and `closeAfterDays` (0 for never); `mail: true` lets readers be told of answers by mail. See [Comments](#comments).",
      COMMENTS_OPTION,
    ),
    avatars: optionalOr(
      "Whether the build downloads the pictures of authors and publishes them with the site.",
      yesNo,
      false,
    ),
    links: optionalOr(
      "Whether your site notifies the pages that new posts link to, if they receive Webmentions. See [Links](#links).",
      yesNo,
      true,
    ),
    unlisted: optionalOr(
      "Whether replies on Mastodon are also shown if they are public, but not listed in timelines there. See [Replies from Mastodon and Bluesky](#replies-from-mastodon-and-bluesky).",
      yesNo,
      false,
    ),
    aliases: optionalOr(
      "Earlier domains of your site, and other URLs of your feed. Mentions of these count as mentions of your site. See [Moving](moving.md).",
      v.array(mentionUrl, 'a list such as ["https://old.example", "https://alice.example/old.txt"]'),
      [],
    ),
    moderate: optionalOr("Whether mentions wait for your approval, except from sources in `allow`.", yesNo, false),
    allow: optionalOr("Sources whose mentions are always shown.", sources, []),
    block: optionalOr("Sources whose mentions are refused.", sources, []),
    digestHours: amount(
      "Minimum hours between two digests by mail. The first mention or message after a quiet hour is mailed at once.",
      1,
      720,
      24,
    ),
    everyHours: amount("Hours between two runs of the scheduled work.", 1, 24, 1),
    rebuild: v.optional(
      v.strictObject(
        {
          perDay: amount("Maximum number of rebuilds in 24 hours, if you set a build hook.", 0, 24, 1),
          perMonth: amount("Maximum number of rebuilds in 31 days. On Netlify, each costs 15 credits.", 0, 500, 5),
        },
        "an object such as { perDay: 1 }",
      ),
      {},
    ),
    limits: v.optional(
      v.strictObject(
        {
          slowHostPause: amount("Seconds before a host that was too slow is requested again.", 0, 86_400, 3600),
          verificationSeconds: amount(
            "Seconds a day for verification, on Netlify only. One sender or source host can use a tenth.",
            1,
            86_400,
            1000,
          ),
          pending: amount(
            "Mentions that may wait for verification. One sender's address can use a tenth.",
            1,
            10_000,
            500,
          ),
          pendingPerHost: amount("The same, from one host.", 1, 1000, 20),
          shownPerHost: amount(
            "Mentions from one host that are shown per day. Further ones wait for your approval.",
            0,
            10_000,
            10,
          ),
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
