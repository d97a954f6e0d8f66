// plugin/host/comments.ts: wires the comments of a site.
import { DailyShares } from "../http/daily-shares.js";
import { commentEndpoints } from "../mentions/comments/comment-endpoints.js";
import type { CommentPages } from "../mentions/comments/comment-page.js";
import { Comments } from "../mentions/comments/comments.js";
import type { Moderation } from "../mentions/receive/moderation.js";
import type { ReceivedMentions } from "../mentions/receive/received.js";
import type { SiteIndex } from "../mentions/receive/site-index.js";
import { chooseCommentWords } from "../options/comment-translations.js";
import type { CommentsOptions } from "../options/comments.js";
import { chooseContactWords } from "../options/contact-translations.js";
import { chooseLanguage, chooseWords } from "../options/translations.js";
import type { answerServices } from "./answers.js";
import { readValue, type ServiceOptions, SMTP_URL } from "./service-options.js";

interface Parts {
  siteIndex: SiteIndex;
  received: ReceivedMentions;
  moderation: Moderation;
  cacheTag: string;
  /** Those who want to be told of answers by mail. */
  answers(): Promise<Pick<ReturnType<typeof answerServices>, "comments">>;
  /** Called when a comment was stored that is new or has changed. */
  onStored(): void;
}

/** The handlers of comments, and the removal of what is only kept for a day. */
export function commentServices(site: ServiceOptions, { onStored, cacheTag, answers, ...parts }: Parts) {
  const { settings, pages, store, now, authority, log } = site;
  const options = settings.mentions.comments;
  if (!options) throw new Error("The option mentions.comments is off.");
  const shares = new DailyShares({ store, now, limits: { messages: options.perDay }, root: "comments" });
  const { nick, urls } = settings;
  const comments = new Comments({ ...parts, options, pages, shares, store, now, nick, guestFeeds: urls.guestFeeds });
  return {
    handlers: commentEndpoints({
      ...{ comments, authority, store, now, cacheTag },
      mails: options.mail ? async () => (await answers()).comments : null,
      choosePages: (target) => choosePages(target, site, options),
      onStored({ state, target }) {
        const held = state === "held" ? ". It waits for your approval: npx eleventy-twtxt mentions --state held" : "";
        log(`A comment on ${target}${held}`);
        onStored();
      },
    }),
    /** Deletes the records of earlier days. */
    sweep: async (isOver: () => boolean) => shares.sweep(await store.keys("comments"), isOver),
  };
}

function choosePages(
  target: string,
  { settings, pages, environment }: ServiceOptions,
  { words, mail }: CommentsOptions,
): CommentPages {
  const lang = pages.twts.find(({ page }) => page === target)?.lang ?? settings.lang ?? "en";
  const own = { words, lang: settings.lang };
  return {
    ...{ action: settings.urls.comments, lang: chooseLanguage(lang, own) },
    hasMail: mail && readValue(environment, SMTP_URL) !== undefined,
    words: { ...chooseContactWords(lang), ...chooseCommentWords(lang, own), guest: chooseWords(lang).guest },
    site: { feedUrl: settings.feedUrl, endpointPage: pages.endpointPage },
  };
}
