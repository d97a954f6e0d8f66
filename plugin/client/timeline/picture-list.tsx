// plugin/client/timeline/picture-list.tsx: pictures in twts. The client requests one when the author asks for it.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { addLoopbackHosts, createNetwork } from "../../author/network.js";
import { loadSite } from "../../author/site.js";
import { followedFeeds } from "../../author/timeline/followed-feeds.js";
import type { LiveTimeline } from "../../author/timeline/live-timeline.js";
import { namedPictures, readPicture } from "../../author/timeline/strangers-picture.js";
import { listItems, type TimelineItem } from "../../author/timeline/timeline-items.js";
import { TwtxtError } from "../../errors.js";
import type { ClientEnv } from "../client-request.js";
import { pictureResponse } from "../contents-response.js";
import type { ClientContext } from "../room.js";

/** The links to the pictures of a twt. The script shows them in the page. */
export const PictureList: FC<{ item: Pick<TimelineItem, "id" | "text"> }> = ({ item: { id, text } }) => {
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

/** Requests pictures that items of the timeline name, and no others. */
export function addPictures(
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
