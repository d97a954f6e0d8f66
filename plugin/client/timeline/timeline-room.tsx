// plugin/client/timeline/timeline-room.tsx: the room of the timeline: conversations of twts, with their pictures, and the list of followed feeds.
import { Hono } from "hono";
import type { FC } from "hono/jsx";
import { counted, DATES } from "../../author/amounts.js";
import { addLoopbackHosts, createNetwork } from "../../author/network.js";
import { formatReplyTo } from "../../author/notes/reply.js";
import type { Outcome } from "../../author/outcome.js";
import { type Following, follow, followedFeeds, unfollow } from "../../author/timeline/followed-feeds.js";
import {
  LiveTimeline,
  listItems,
  openTimelineStore,
  type TimelineItem,
  type TimelineThread,
} from "../../author/timeline/live-timeline.js";
import { TwtxtError } from "../../errors.js";
import { isMentionUrl, isNick } from "../../feed/mention.js";
import type { Ask } from "../../http/guard.js";
import { chooseWords } from "../../options/translations.js";
import { MAX_PICTURE_BYTES, pictureToShow } from "../../pictures/picture-to-show.js";
import type { CleanPicture } from "../../pictures/remove-metadata.js";
import { isWeb } from "../../site/safe-markup.js";
import { openOnce } from "../background-run.js";
import { type ClientEnv, isRefresh, pictureResponse, readForm } from "../client-request.js";
import type { ClientContext, CreateRoom } from "../notices.js";
import {
  ActionButton,
  Fault,
  Form,
  faultText,
  LinkButton,
  type OtherPages,
  PageLinks,
  Submit,
  selectPage,
  Time,
} from "../page-parts.js";
import { MentionAbout, StrangersLink, StrangersText, strangersHtml, Via } from "../strangers-text.js";

const PATH = "/timeline";
const ICON = "M4 5h16M4 10h16M8 15h12M8 20h8";
const FOLLOWING = `${PATH}/following`;
const PER_PAGE = 50;
const COMMITTED = "The page Publish includes _data/follow.json with your next post; or commit the file yourself.";

export const timelineRoom: CreateRoom = (context) => {
  const { notices } = context;
  const { open, opened } = openOnce(async () => {
    const { machine, choice, ending, openSite } = context;
    const site = await openSite();
    const store = openTimelineStore(site, machine);
    return LiveTimeline.open({ site, choice, store, machine, ending, faultText: (error) => faultText(error, machine) });
  });
  const routes = new Hono<ClientEnv>();

  routes.get("/", async (c) => {
    const timeline = await open();
    if (!isRefresh(c)) await timeline.markSeen();
    timeline.refreshIfDue();
    const { items: threads, pages } = selectPage(c, timeline.threads, PER_PAGE);
    return c.render(<TimelinePage {...{ timeline, threads, pages }} />, { title: "Timeline" });
  });

  notices.addForm(routes, "/", PATH, async () => {
    await (await open()).refresh();
    return { text: "The feeds were read again." };
  });

  addFollowing({ ...context, routes, open });
  addPictures({ ...context, routes, open });
  const keys = [
    { key: "r", does: "replies" },
    { key: "u", does: "undoes the last change of the list" },
  ];
  const news = () => {
    const timeline = opened();
    // Once the author has visited the timeline, pages of other rooms keep it current.
    if (timeline?.updated) timeline.refreshIfDue();
    return { count: timeline?.newCount ?? 0, what: "new" };
  };
  const prepare = async () => {
    for (const { text, source, html } of listItems((await open()).threads.slice(0, PER_PAGE)))
      await strangersHtml(text, source, html);
  };
  return { title: "Timeline", path: PATH, icon: ICON, keys, routes, news, prepare };
};

interface RoomParts extends ClientContext {
  routes: Hono<ClientEnv>;
  open(): Promise<LiveTimeline>;
}

function addFollowing({ routes, open, openSite, notices, choice }: RoomParts): void {
  routes.get("/following", async (c) => {
    const feeds = await followedFeeds(await openSite());
    return c.render(<FollowingPage feeds={feeds} url={c.req.query("url") ?? ""} />, { title: "Following" });
  });

  const readAgain = async ({ undo, ...outcome }: Outcome): Promise<Outcome> => {
    void (await open()).refresh().catch(() => {});
    if (!undo) return outcome;
    return { text: `${outcome.text} ${COMMITTED}`, undo: async () => readAgain(await undo()) };
  };
  routes.post("/following", async (c) => {
    const url = ((await readForm(c)).url ?? "").trim();
    const followFeed = async () => readAgain(await follow({ url, nick: undefined }, await openSite(), choice));
    return notices.act(c, FOLLOWING, followFeed, `${FOLLOWING}?url=${encodeURIComponent(url)}`);
  });
  notices.addForm(routes, "/following/remove", FOLLOWING, async ({ url = "" }) =>
    readAgain(await unfollow(url, await openSite(), choice)),
  );
}

/** Requests pictures that items of the timeline name, and no others. */
function addPictures({ routes, open, openSite, choice, ending }: RoomParts): void {
  routes.get("/picture/:id/:number", async (c) => {
    const item = listItems((await open()).threads).find(({ id }) => id === c.req.param("id"));
    const picture = namedPictures(item?.text ?? "")[Number(c.req.param("number"))];
    if (!picture) throw new TwtxtError("not-found", "This picture is no longer in the timeline.");
    const site = await openSite();
    const followed = (await followedFeeds(site)).map(({ url }) => url);
    const { ask } = createNetwork(addLoopbackHosts(site, choice, followed));
    const { bytes, type } = await readPicture(picture.url, ask, AbortSignal.any([ending, c.req.raw.signal]));
    return pictureResponse({ type, body: bytes });
  });
}

const WORDS = chooseWords("en");

interface TimelineProps {
  timeline: LiveTimeline;
  threads: readonly TimelineThread[];
  pages: OtherPages;
}

const TimelinePage: FC<TimelineProps> = ({ timeline, threads, pages }) => (
  <>
    <Form class="inline">
      <button type="submit">Read again</button>
      <a href="/timeline/following">Following</a>
    </Form>
    <ReadingState timeline={timeline} />
    <ul class="items threads" id="timeline" data-live>
      {threads.map((thread) => (
        <ThreadItem thread={thread} seen={timeline.visits.seenBefore} />
      ))}
    </ul>
    <div id="rest" data-live>
      {threads.length === 0 && timeline.updated !== null && (
        <p class="muted">Nothing yet. Follow a feed, and its twts appear here with your own.</p>
      )}
      <PageLinks pages={pages} of="conversations" />
    </div>
  </>
);

const ReadingState: FC<Pick<TimelineProps, "timeline">> = ({
  timeline: { unread, isOffline, isReading, mentionsFault, updated, fault },
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
    {unread.length > 0 && (
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
    )}
  </div>
);

/** @param seen - later items are new; `null` for none */
const ThreadItem: FC<{ thread: TimelineThread; seen: string | null }> = ({ thread, seen }) => {
  const { entry, replies } = thread;
  const { id, source, url = source, author, isOwn, text, html, published, since, type, sentence } = entry.item;
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
      {text !== "" && <StrangersText {...{ text, html, source }} />}
      <PictureList item={entry.item} />
      {!isReaction(type) && (
        <div class="actions">
          <LinkButton
            isQuiet
            data-key="r"
            href={`/write?reply-to=${encodeURIComponent(repliedTo(entry.item))}`}
            label="Reply"
            about={`to ${isOwn ? "your twt" : author.name}`}
          />
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
  return formatReplyTo({ hash, nick: isNick(name) ? name : null, feedUrl: url });
}

const FollowingPage: FC<{ feeds: readonly Following[]; url: string }> = ({ feeds, url }) => (
  <>
    <Form class="inline">
      <label for="url">Follow a feed, or the site of its author</label>
      <input id="url" name="url" type="url" value={url} placeholder="https://bob.example/twtxt.txt" required />
      <Submit class="primary" label="Follow" />
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
            <ActionButton
              action="/timeline/following/remove"
              fields={{ url: feed.url }}
              label="Unfollow"
              about={`@${feed.nick}`}
            />
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
          <LinkButton
            href={`/timeline/picture/${encodeURIComponent(id)}/${number}`}
            data-picture={description}
            label={`Show picture${description && `: ${description}`}`}
          />
        </li>
      ))}
    </ul>
  );
};

const IMAGE = /!\[((?:\\.|[^\\\]])*)\]\((https?:[^\s()<>]+)[^()]*\)/gi;
const MAX_PICTURES = 8;

/** The pictures that a text names, each once; at most 8. A description may be empty. */
export function namedPictures(text: string): { url: string; description: string }[] {
  const all = [...text.matchAll(IMAGE)].map(([, description = "", url = ""]) => ({ url, description }));
  const byUrl = new Map(all.filter(({ url }) => isWeb(url)).map((picture) => [picture.url, picture]));
  return [...byUrl.values()].slice(0, MAX_PICTURES);
}

/** Reads a picture. @throws TwtxtError as {@link pictureToShow} and as the guard; `too-large` for more than 10 MiB */
export async function readPicture(url: string, ask: Ask, signal: AbortSignal): Promise<CleanPicture> {
  const response = await ask(url, { maxBytes: MAX_PICTURE_BYTES, signal, headers: { accept: "image/*" } });
  if (response.status !== 200) {
    response.close();
    throw new TwtxtError("unreachable", `${url} answers ${response.status}.`);
  }
  return pictureToShow(await response.bytes(), url);
}
