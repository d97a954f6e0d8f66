// plugin/client/timeline/timeline-room.tsx: the room of the timeline, with pictures in twts, and the list of followed feeds.
import { Hono } from "hono";
import { addLoopbackHosts, createNetwork } from "../../author/network.js";
import type { Outcome } from "../../author/outcome.js";
import { loadSite } from "../../author/site.js";
import { openSiteData } from "../../author/site-store.js";
import { follow, followedFeeds, unfollow } from "../../author/timeline/followed-feeds.js";
import { LiveTimeline } from "../../author/timeline/live-timeline.js";
import { namedPictures, readPicture } from "../../author/timeline/strangers-picture.js";
import { listItems } from "../../author/timeline/timeline-items.js";
import { TwtxtError } from "../../errors.js";
import { type ClientEnv, isRefresh, readForm } from "../client-request.js";
import { pictureResponse } from "../contents-response.js";
import { selectPage } from "../list-pages.js";
import { openOnce } from "../open-once.js";
import { faultText } from "../page-texts.js";
import type { ClientContext, CreateRoom } from "../room.js";
import { strangersHtml } from "../strangers-text.js";
import { FollowingPage, TimelinePage } from "./timeline-pages.js";

const PATH = "/timeline";
const ICON = "M4 5h16M4 10h16M8 15h12M8 20h8";
const FOLLOWING = `${PATH}/following`;
const PER_PAGE = 50;
const COMMITTED = "The page Publish includes _data/follow.json with your next post; or commit the file yourself.";

export const timelineRoom: CreateRoom = (context) => {
  const { notices } = context;
  const { open, opened } = openOnce(() => openTimeline(context));
  const routes = new Hono<ClientEnv>();

  routes.get("/", async (c) => {
    const timeline = await open();
    if (!isRefresh(c)) await timeline.markSeen();
    timeline.refreshIfDue();
    const { items: threads, pages } = selectPage(c, timeline.threads, PER_PAGE);
    const page = <TimelinePage {...{ threads, pages }} status={timeline.status} seen={timeline.seenBefore} />;
    return c.render(page, { title: "Timeline" });
  });

  notices.addForm(routes, "/", PATH, async () => {
    await (await open()).refresh();
    return { text: "The feeds were read again." };
  });

  addFollowing(routes, open, context);
  addPictures(routes, open, context);
  const keys = [
    { key: "r", does: "replies" },
    { key: "u", does: "undoes the last change of the list" },
  ];
  const news = () => {
    const timeline = opened();
    // Once the author has visited the timeline, pages of other rooms keep it current.
    if (timeline?.status.updated) timeline.refreshIfDue();
    return { count: timeline?.newCount ?? 0, what: "new" };
  };
  const prepare = async () => {
    for (const { text, source } of listItems((await open()).threads.slice(0, PER_PAGE)))
      await strangersHtml(text, source);
  };
  return { title: "Timeline", path: PATH, icon: ICON, keys, routes, news, prepare };
};

function addFollowing(
  routes: Hono<ClientEnv>,
  open: () => Promise<LiveTimeline>,
  { notices, choice, machine }: ClientContext,
): void {
  const openSite = () => loadSite(machine, choice.settings);
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

async function openTimeline({ machine, choice, ending }: ClientContext): Promise<LiveTimeline> {
  const site = await loadSite(machine, choice.settings);
  const store = openSiteData("timelines", site.settings.url, machine);
  return LiveTimeline.open({ site, choice, store, machine, ending, faultText: (error) => faultText(error, machine) });
}

/** Requests pictures that items of the timeline name, and no others. */
function addPictures(
  routes: Hono<ClientEnv>,
  open: () => Promise<LiveTimeline>,
  { machine, choice, ending }: ClientContext,
): void {
  routes.get("/picture/:id/:number", async (c) => {
    const item = listItems((await open()).threads).find(({ id }) => id === c.req.param("id"));
    const picture = namedPictures(item?.text ?? "")[Number(c.req.param("number"))];
    if (!picture) throw new TwtxtError("not-found", "This picture is no longer in the timeline.");
    const site = await loadSite(machine, choice.settings);
    const followed = (await followedFeeds(site)).map(({ url }) => url);
    const { ask } = createNetwork(addLoopbackHosts(site, choice, followed));
    const { bytes, type } = await readPicture(picture.url, ask, AbortSignal.any([ending, c.req.raw.signal]));
    return pictureResponse({ type, body: bytes });
  });
}
