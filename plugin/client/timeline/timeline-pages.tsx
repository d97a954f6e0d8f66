// plugin/client/timeline/timeline-pages.tsx: conversations of twts, and the list of followed feeds.

import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import type { Following } from "../../author/followed-feeds.js";
import type { TimelineThread } from "../../author/live-timeline.js";
import { wordsOf } from "../../options/translations.js";
import type { UnreadFeed } from "../../site/timeline.js";
import { DATES } from "../dates.js";
import { Fields, Form } from "../layout.js";
import { StrangersLink, StrangersText, type WriteText } from "../strangers-text.js";

const WORDS = wordsOf("en");

interface ItemContext {
  write: WriteText;
  /** Whether there is a room to answer in. */
  canReply: boolean;
  /** Twts after this time are new. */
  seen: string;
}

interface TimelineProps {
  threads: readonly TimelineThread[];
  unread: readonly UnreadFeed[];
  /** Whether none of the feeds could be read. */
  isOffline: boolean;
  /** `null` before the feeds were read. */
  updated: string | null;
  /** The URL of the page with more conversations; `null` if all are shown. */
  more: string | null;
  item: ItemContext;
}

export const TimelinePage: FC<TimelineProps> = ({ threads, unread, isOffline, updated, more, item }) => (
  <>
    <Form action="/timeline" class="inline">
      <button type="submit">Read again</button>
      <a href="/timeline/following">Following</a>
    </Form>
    <div id="read" data-live>
      <p class="muted" data-busy={updated === null ? "" : undefined}>
        {updated === null ? "Reading the feeds." : `Read ${DATES.format(new Date(updated))}.`}
      </p>
      {isOffline && (
        <p class="notice failure">
          No feed could be read. Check the network of this machine, and that your site is deployed. What was read before
          is still here.
        </p>
      )}
      {unread.length > 0 && <UnreadFeeds unread={unread} />}
    </div>
    {threads.length === 0 && updated !== null && (
      <p class="muted">Nothing yet. Follow a feed, and its twts appear here with your own.</p>
    )}
    <ul class="items threads" id="timeline" data-live>
      {threads.map((thread) => (
        <ThreadItem thread={thread} context={item} />
      ))}
    </ul>
    {more !== null && (
      <p>
        <a href={more}>Show more</a>
      </p>
    )}
  </>
);

const UnreadFeeds: FC<{ unread: readonly UnreadFeed[] }> = ({ unread }) => (
  <details id="unread">
    <summary>{counted(unread.length, "feed")} could not be read</summary>
    <ul>
      {unread.map(({ nick, url, reason, lastRead }) => (
        <li>
          <StrangersLink href={url}>@{nick}</StrangersLink> {WORDS[reason]}
          {lastRead === null ? "" : `; last read ${DATES.format(new Date(lastRead))}`}
        </li>
      ))}
    </ul>
  </details>
);

const ThreadItem: FC<{ thread: TimelineThread; context: ItemContext }> = ({ thread, context }) => {
  const { entry, replies } = thread;
  const { twt } = entry;
  const isNew = !twt.isOwn && twt.published > context.seen;
  return (
    <li id={`twt-${twt.hash}`} class={isNew ? "unread" : undefined} data-item tabindex={-1}>
      <p class="by">
        <strong>
          <StrangersLink href={twt.author.url}>{twt.isOwn ? "You" : twt.author.name}</StrangersLink>
        </strong>
        {isNew && <span class="count">new</span>}
        <StrangersLink href={twt.source}>
          <time datetime={twt.published}>{DATES.format(new Date(twt.published))}</time>
        </StrangersLink>
      </p>
      <StrangersText text={twt.text} kind="twt" write={context.write} />
      {context.canReply && (
        <div class="actions">
          <a class="button" data-key="r" href={`/write?reply-to=${encodeURIComponent(twt.source)}`}>
            Reply
          </a>
        </div>
      )}
      {replies.length > 0 && (
        <ul class="items">
          {replies.map((reply) => (
            <ThreadItem thread={reply} context={context} />
          ))}
        </ul>
      )}
    </li>
  );
};

export const FollowingPage: FC<{ feeds: readonly Following[]; url: string }> = ({ feeds, url }) => (
  <>
    <Form action="/timeline/following" class="inline">
      <label for="url">Follow a feed</label>
      <input id="url" name="url" type="url" value={url} placeholder="https://bob.example/twtxt.txt" required />
      <button type="submit" class="primary">
        Follow
      </button>
    </Form>
    {feeds.length === 0 && <p class="muted">You follow no feeds yet.</p>}
    <ul class="items" id="following" data-live>
      {feeds.map((feed) => (
        <li id={`feed-${feed.nick}`} data-item tabindex={-1}>
          <p class="by">
            <strong>@{feed.nick}</strong>
            <StrangersLink href={feed.url}>{feed.url}</StrangersLink>
          </p>
          {feed.isInOption ? (
            <p class="muted">In the option "follow" of your configuration file, which only you can edit.</p>
          ) : (
            <Form action="/timeline/following/remove" class="actions">
              <Fields fields={{ url: feed.url }} />
              <button type="submit">
                Unfollow<span class="visually-hidden"> @{feed.nick}</span>
              </button>
            </Form>
          )}
        </li>
      ))}
    </ul>
  </>
);
