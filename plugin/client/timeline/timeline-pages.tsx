// plugin/client/timeline/timeline-pages.tsx: conversations of twts, and the list of followed feeds.
import type { FC } from "hono/jsx";
import { counted, DATES } from "../../author/amounts.js";
import type { Following } from "../../author/timeline/followed-feeds.js";
import type { TimelineStatus } from "../../author/timeline/live-timeline.js";
import { namedPictures } from "../../author/timeline/strangers-picture.js";
import type { TimelineItem, TimelineThread } from "../../author/timeline/timeline-items.js";
import { isMentionUrl, isNick } from "../../feed/mention.js";
import { chooseWords } from "../../options/translations.js";
import type { UnreadFeed } from "../../site/timeline.js";
import { ActionButton, Form } from "../form.js";
import { type OtherPages, PageLinks } from "../list-pages.js";
import { Fault, Time } from "../page-texts.js";
import { MentionAbout, StrangersLink, StrangersText, Via } from "../strangers-text.js";

const WORDS = chooseWords("en");

interface TimelineProps {
  threads: readonly TimelineThread[];
  status: TimelineStatus;
  pages: OtherPages;
  /** Items after this time are new; `null` for none. */
  seen: string | null;
}

export const TimelinePage: FC<TimelineProps> = ({ threads, status, pages, seen }) => (
  <>
    <Form action="/timeline" class="inline">
      <button type="submit">Read again</button>
      <a href="/timeline/following">Following</a>
    </Form>
    <ReadingState status={status} />
    <ul class="items threads" id="timeline" data-live>
      {threads.map((thread) => (
        <ThreadItem thread={thread} seen={seen} />
      ))}
    </ul>
    <div id="rest" data-live>
      {threads.length === 0 && status.updated !== null && (
        <p class="muted">Nothing yet. Follow a feed, and its twts appear here with your own.</p>
      )}
      <PageLinks pages={pages} of="conversations" />
    </div>
  </>
);

const ReadingState: FC<Pick<TimelineProps, "status">> = ({
  status: { unread, isOffline, isReading, mentionsFault, updated, fault },
}) => (
  <div id="read" data-live>
    <Fault text={fault} />
    {updated !== null && <p class="muted">Read {DATES.format(new Date(updated))}.</p>}
    {isReading && (
      <p class={updated === null ? "muted" : "visually-hidden"} data-busy>
        Reading the feeds.
      </p>
    )}
    {isOffline && (
      <Fault text="No feed could be read. Check the network of this machine, and that your site is deployed. What was read before is still here." />
    )}
    {mentionsFault !== null && !isOffline && (
      <p class="muted">
        The mentions of your site could not be read, so you see those that were read before: {mentionsFault}
      </p>
    )}
    {unread.length > 0 && <UnreadFeeds unread={unread} />}
  </div>
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

const ThreadItem: FC<{ thread: TimelineThread } & Pick<TimelineProps, "seen">> = ({ thread, seen }) => {
  const { entry, replies } = thread;
  const { id, source, url = source, author, isOwn, text, published, since, type, sentence } = entry.item;
  const isNew = !isOwn && seen !== null && since > seen;
  return (
    <li id={`twt-${id}`} class={isNew ? "unread" : undefined} data-item tabindex={-1}>
      <p class="by">
        <span>
          <strong>
            <StrangersLink href={author.page ?? author.url}>
              {isOwn ? "You" : author.name || new URL(source).host}
            </StrangersLink>
          </strong>
          {!isOwn && <Via source={source} author={author} />}
        </span>
        {sentence && (
          <span class="muted">
            <MentionAbout sentence={sentence} />
          </span>
        )}
        <StrangersLink href={url}>
          <Time at={published} />
        </StrangersLink>
        {isNew && <span class="count">new</span>}
      </p>
      {text !== "" && <StrangersText text={text} source={source} />}
      <PictureList item={entry.item} />
      {!isReaction(type) && (
        <div class="actions">
          <a class="button quiet" data-key="r" href={`/write?reply-to=${encodeURIComponent(repliedTo(entry.item))}`}>
            Reply<span class="visually-hidden"> to {isOwn ? "your twt" : author.name}</span>
          </a>
        </div>
      )}
      {replies.length > 0 && (
        <ul class="items" id={`replies-${id}`}>
          {replies.map((reply) => (
            <ThreadItem thread={reply} seen={seen} />
          ))}
        </ul>
      )}
    </li>
  );
};

/** Likes, reposts and bookmarks say nothing of their own. */
function isReaction(type: TimelineItem["type"]): boolean {
  return type === "like" || type === "repost" || type === "bookmark";
}

/** What a reply names: a twt by its hash, so that the composer need not read its feed; a page by its URL. */
function repliedTo({ hash, author: { name, url }, source }: TimelineItem): string {
  if (hash === null || !isMentionUrl(url)) return source;
  return [hash, ...(isNick(name) ? [name] : []), url].join(" ");
}

export const FollowingPage: FC<{ feeds: readonly Following[]; url: string }> = ({ feeds, url }) => (
  <>
    <Form action="/timeline/following" class="inline">
      <label for="url">Follow a feed, or the site of its author</label>
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
            <ActionButton action="/timeline/following/remove" fields={{ url: feed.url }}>
              Unfollow<span class="visually-hidden"> @{feed.nick}</span>
            </ActionButton>
          )}
        </li>
      ))}
    </ul>
  </>
);

/** The links to the pictures of a twt. The script shows them in the page. */
const PictureList: FC<{ item: Pick<TimelineItem, "id" | "text"> }> = ({ item: { id, text } }) => {
  const pictures = namedPictures(text);
  return pictures.length === 0 ? null : (
    <ul class="twt-pictures">
      {pictures.map(({ description }, number) => (
        <li>
          <a class="button" href={`/timeline/picture/${encodeURIComponent(id)}/${number}`} data-picture={description}>
            Show picture{description === "" ? "" : `: ${description}`}
          </a>
        </li>
      ))}
    </ul>
  );
};
