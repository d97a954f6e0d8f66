// plugin/client/timeline/picture-list.tsx: pictures in twts. The client requests one when the author asks for it.
import { createHmac, randomBytes } from "node:crypto";
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { hostsFor, networkOf } from "../../author/network.js";
import { siteAt } from "../../author/site.js";
import { followedFeeds } from "../../author/timeline/followed-feeds.js";
import { namedPictures, readPicture } from "../../author/timeline/strangers-picture.js";
import { TwtxtError } from "../../errors.js";
import type { ClientEnv } from "../client-request.js";
import { pictureResponse } from "../contents-response.js";
import type { ClientContext } from "../room.js";

const PATH = "/timeline/picture";

/** Signs the URLs on pages, so that no other URL is requested. Ends with the process, as the session does. */
export class PictureLinks {
  readonly #secret = randomBytes(32);

  linkTo(url: string): string {
    return `${PATH}?${new URLSearchParams({ url, signature: this.#sign(url) })}`;
  }

  /** @throws TwtxtError `not-allowed` */
  check(url: string, signature: string): void {
    if (this.#sign(url) === signature) return;
    throw new TwtxtError("not-allowed", "This link is from an earlier run of the client. Open the timeline again.");
  }

  #sign(url: string): string {
    return createHmac("sha256", this.#secret).update(url).digest("base64url");
  }
}

/** The links to the pictures of a text. The script shows them in the page. */
export const PictureList: FC<{ text: string; links: PictureLinks }> = ({ text, links }) => {
  const pictures = namedPictures(text);
  return pictures.length === 0 ? null : (
    <ul class="twt-pictures">
      {pictures.map(({ url, description }) => (
        <li>
          <a class="button" href={links.linkTo(url)} data-picture={description}>
            Show picture{description === "" ? "" : `: ${description}`}
          </a>
        </li>
      ))}
    </ul>
  );
};

export function addPictures(routes: Hono<ClientEnv>, links: PictureLinks, context: ClientContext): void {
  const { machine, choice, ending } = context;
  routes.get("/picture", async (c) => {
    const { url = "", signature = "" } = c.req.query();
    links.check(url, signature);
    const site = await siteAt(machine, choice.settings);
    const followed = (await followedFeeds(site)).map((feed) => feed.url);
    const { ask } = networkOf(hostsFor(site, choice, followed));
    const { bytes, type } = await readPicture(url, ask, AbortSignal.any([ending, c.req.raw.signal]));
    return pictureResponse({ type, body: bytes });
  });
}
