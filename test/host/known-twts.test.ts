// test/host/known-twts.test.ts: replies of a site to twts that it has received as mentions, or read in its timeline.
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { twtHash } from "../../plugin/feed/hash.js";
import { loopbackServer } from "../helpers/loopback.js";
import { receiver } from "../helpers/receiver.js";

const THEIRS = "2026-11-18T08:00:00Z";
const AT = "2026-11-20T08:00:00Z";

it.each(["a mention", "a followed feed"])(
  "names the answered twt to the endpoint of its feed: known from %s",
  async (from) => {
    const targets: (string | null)[] = [];
    const home = await loopbackServer((_, response) => response.end(`# nick = alice\n\n${AT}\t${reply}\n`));
    const said = { timestamp: THEIRS, text: `@<alice ${home.url}/twtxt.txt> hello` };
    const bob = await loopbackServer(async (request, response) => {
      if (request.method === "POST") targets.push(new URLSearchParams(await text(request)).get("target"));
      response.writeHead(200, { "content-type": "text/plain" });
      response.end(`# nick = bob\n# url = ${feed}\n# webmention = ${bob.url}/webmention\n\n${THEIRS}\t${said.text}\n`);
    });
    const feed = `${bob.url}/twtxt.txt`;
    const reply = `(#${twtHash(feed, said)}) @<bob ${feed}> hello yourself`;
    const follow = from === "a mention" ? {} : { follow: [{ nick: "bob", url: feed }] };
    const feedUrl = `${home.url}/twtxt.txt`;
    const pages = { feeds: [feedUrl], pages: [], twts: [] };
    const alice = receiver({ feedUrl, pages, neighbours: [home, bob], ...follow });
    if (from === "a mention")
      await alice.mentioned({ source: `${feed}#:~:text=${THEIRS}`, target: `${home.url}/twtxt.txt` });
    else await alice.services.refreshTimeline();

    await alice.services.afterDeploy();
    expect(targets).toEqual([`${feed}#:~:text=${THEIRS}`]);
  },
);
