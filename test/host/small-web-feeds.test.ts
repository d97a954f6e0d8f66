// test/host/small-web-feeds.test.ts: authors whose feeds are on gemini and gopher.
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { loopbackServer } from "../helpers/loopback.js";
import { FEED, receiver } from "../helpers/receiver.js";
import { geminiServer, gopherServer, type SmallWebServer } from "../helpers/small-web.js";

const THEIRS = "2026-11-18T08:00:00Z";
const AT = "2026-11-20T08:00:00Z";

/** Bob's feed on such a server. */
async function bobsFeed(kind: string, lines: (url: string) => string) {
  const feed = { url: "", status: "20 text/plain", isCut: false };
  const contents = () => (feed.isCut ? "# nick = bob\n\n2026-" : lines(feed.url));
  const server: SmallWebServer =
    kind === "gemini"
      ? await geminiServer(() => {
          const text = `${feed.status}\r\n${contents()}`;
          return feed.isCut ? { text, end: "FIN" } : text;
        })
      : await gopherServer(() =>
          feed.status.startsWith("2") ? contents() : "3'/x' does not exist!\tfake\t(NULL)\t0\r\n.\r\n",
        );
  feed.url = kind === "gemini" ? `${server.url}/~bob/twtxt.txt` : `${server.url}/0/~bob/twtxt.txt`;
  return Object.assign(feed, { server });
}

describe.each(["gemini", "gopher"])("a feed over %s", (kind) => {
  it("proves a mention, which is shown with a link to it, stays when the feed is cut off, and is removed when the feed is gone", async () => {
    const bob = await bobsFeed(kind, (url) => `# nick = bob\n# url = ${url}\n\n${THEIRS}\t@<alice ${FEED}> hello\n`);
    const alice = receiver({ neighbours: [bob.server] });
    const source = `${bob.url}#:~:text=${THEIRS}`;
    expect(await alice.mentioned({ source, target: FEED })).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toMatchObject([{ source, author: { name: "bob", url: bob.url }, type: "mention" }]);

    bob.isCut = true;
    expect(await alice.mentioned({ source, target: FEED })).toMatchObject({ status: 202 });
    expect(await alice.mentions()).toHaveLength(1);

    bob.isCut = false;
    bob.status = "51 gone";
    expect(await alice.mentioned({ source, target: FEED })).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toEqual([]);
  });

  it("is told of mentions at the endpoint in its header", async () => {
    const posts: Record<string, string>[] = [];
    const endpoint = await loopbackServer(async (request, response) => {
      posts.push(Object.fromEntries(new URLSearchParams(await text(request))));
      response.writeHead(202).end();
    });
    const bob = await bobsFeed(kind, () => `# nick = bob\n# webmention = ${endpoint.url}/webmention\n\n`);
    const feed = () => `# nick = alice\n\n${AT}\t@<bob ${bob.url}> hello\n`;
    const home = await loopbackServer((_, response) => response.end(feed()));
    const alice = receiver({ feedUrl: `${home.url}/twtxt.txt`, neighbours: [home, endpoint, bob.server] });
    await alice.services.afterDeploy();
    expect(posts).toEqual([{ source: `${home.url}/twtxt.txt#:~:text=${AT}`, target: bob.url }]);
  });

  it("is in the timeline of the site", async () => {
    const bob = await bobsFeed(kind, () => `# nick = bob\n\n${THEIRS}\tIt rains.\n`);
    const alice = receiver({ neighbours: [bob.server], follow: [{ nick: "bob", url: bob.url }] });
    await alice.services.refreshTimeline();
    const answer = await alice.answer(new Request("https://alice.example/timeline.json"));
    expect(await answer.json()).toMatchObject({
      twts: [{ text: "It rains.", author: { name: "bob", url: bob.url }, source: `${bob.url}#:~:text=${THEIRS}` }],
      unread: [],
    });
  });
});
