// test/mentions/send/linking.ts: Alice's posts with links to other sites, in her build and on her live pages.
import type { SendOptions, SendReport } from "../../../plugin/mentions/send/send.js";
import { siteLinks } from "../../../plugin/mentions/send/site-links.js";
import type { LoopbackServer } from "../../helpers/loopback.js";
import { type ReceiverOptions, settingsOf } from "../../helpers/receiver.js";
import { neighbour, type World, world } from "./outgoing.js";

/** The links of each post, by timestamp. */
export type Posts = Record<string, readonly string[]>;

export interface LinkingWorld extends World {
  /** Builds and deploys these posts, and deletes all others. `hidden` are the timestamps of posts with `twt: false`. */
  deploy(posts: Posts, hidden?: readonly string[]): void;
  /** Builds these posts without deploying: the live pages do not change. */
  build(posts: Posts): void;
  /** The site's `mentions` option. */
  mentions: NonNullable<ReceiverOptions["mentions"]>;
  findPage(timestamp: string): string;
}

export async function linkingWorld(neighbours: readonly LoopbackServer[]): Promise<LinkingWorld> {
  const home = await world(neighbours);
  const { alice } = home;
  let built: Posts = {};
  let withoutTwt: readonly string[] = [];
  const findPage = (timestamp: string) => `${alice.url}/posts/${timestamp}/`;
  const mentions: LinkingWorld["mentions"] = {};

  const send = (more: Partial<SendOptions> = {}): Promise<SendReport> => {
    const shown = Object.entries(built).filter(([timestamp]) => !withoutTwt.includes(timestamp));
    const twts = shown.map(([timestamp, links]) => {
      return { timestamp, hashes: [], page: findPage(timestamp), replyTo: null, links: [...links] };
    });
    const pages = { feeds: [alice.feedUrl], pages: Object.keys(built).map(findPage), twts };
    const links = siteLinks({ settings: settingsOf({ mentions }), pages });
    return home.send({ links, findPage, ...more });
  };
  const deploy = (posts: Posts, hidden: readonly string[] = []) => {
    built = posts;
    withoutTwt = hidden;
    alice.answers = {};
    // Twts that a test has set are unchanged.
    alice.twts = Object.fromEntries(
      Object.keys(posts)
        .filter((timestamp) => !hidden.includes(timestamp))
        .map((timestamp) => [timestamp, alice.twts[timestamp] ?? "hi"]),
    );
    for (const [timestamp, links] of Object.entries(posts)) {
      alice.answers[`/posts/${timestamp}/`] = (response) => {
        const html = links.map((link) => `<p><a rel="nofollow" href="${link}">there</a>`).join("\n");
        response.setHeader("content-type", "text/html").end(html);
      };
    }
  };
  const build = (posts: Posts) => {
    built = posts;
  };
  return { ...home, send, deploy, build, mentions, findPage };
}

/** Alice's site, and Bob's, whose pages have an endpoint. */
export async function linkingWorldWithBob() {
  const bob = await neighbour("bob", "HTML");
  return { bob, home: await linkingWorld([bob]) };
}
