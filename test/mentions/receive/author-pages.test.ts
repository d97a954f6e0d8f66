import { expect, it } from "vitest";
import { ENGLISH } from "../../../plugin/options/words.js";
import { toHtml } from "../../../plugin/site/html.js";
import { dateFormat, mentionItem } from "../../../plugin/site/mention-markup.js";
import { decideFirst } from "../../helpers/decide-first.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { FEED, PAGE, receiver } from "../../helpers/receiver.js";

const AT = "2026-11-19T18:40:02Z";

/** Bob's feed, whose link and twt a test may change. */
async function bobsFeed() {
  const state = { link: (origin: string) => `Blog ${origin}/about/`, end: "hens/" };
  const server = await loopbackServer((_, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const { link, end } = state;
    const text = `Hens: ${server.url}/${end} @<alice ${FEED}>`;
    response.end(
      `# nick = bob\n# link = Elsewhere https://social.example/@bob\n# link = ${link(server.url)}\n${AT}\t${text}\n`,
    );
  });
  return Object.assign(state, server, { source: () => `${server.url}/twtxt.txt#:~:text=${AT}` });
}

it("the name and the date of a mention lead to the pages that the feed names on its own host", async () => {
  const bob = await bobsFeed();
  const alice = receiver({ neighbours: [bob] });
  await alice.mentioned({ source: bob.source(), target: FEED });

  const [mention] = await alice.mentions();
  expect(mention).toMatchObject({
    source: bob.source(),
    url: `${bob.url}/hens/`,
    author: { name: "bob", url: `${bob.url}/twtxt.txt`, page: `${bob.url}/about/` },
  });
  if (!mention) throw new Error("no mention");
  const item = toHtml(
    mentionItem(mention, {
      ...{ target: PAGE, feed: { url: FEED, nick: "alice" }, findTitle: () => null, words: ENGLISH, headingLevel: 2 },
      ...{ toPicture: () => [], dates: dateFormat("en", "UTC"), once: (_, create) => create() },
    }),
  );
  expect(item).toContain(`<a class="p-author h-card" href="${bob.url}/about/"`);
  expect(item).toContain(`<a class="u-url" href="${bob.url}/hens/"`);
  expect(item).toContain(`data-source="${bob.source()}"`);
  expect(item).not.toContain("twtxt-via");
});

it("a page on another host is not the page of the feed's author", async () => {
  const bob = await bobsFeed();
  bob.link = () => "Blog https://alice.example/";
  bob.end = "";
  const alice = receiver({ neighbours: [bob] });
  await alice.mentioned({ source: bob.source(), target: FEED });

  const [mention] = await alice.mentions();
  expect(mention?.author).toEqual({ name: "bob", url: `${bob.url}/twtxt.txt`, photo: null });
  expect(mention).not.toHaveProperty("url");
});

it("a feed that no longer names its pages has none", async () => {
  const bob = await bobsFeed();
  const alice = receiver({ neighbours: [bob] });
  const tell = () => alice.mentioned({ source: bob.source(), target: FEED });
  await tell();
  bob.link = () => "";
  bob.end = "";
  alice.clock.time += 60_000;
  await tell();

  const [mention] = await alice.mentions();
  expect(mention?.author).not.toHaveProperty("page");
  expect(mention).not.toHaveProperty("url");
});

it("an approved mention waits for a new approval when the author's page changes", async () => {
  const bob = await bobsFeed();
  const alice = receiver({ neighbours: [bob], mentions: { moderate: true } });
  const tell = () => alice.mentioned({ source: bob.source(), target: FEED });
  await tell();
  await decideFirst(alice.store, "shown");
  alice.clock.time += 60_000;
  await tell();
  expect(await alice.mentions()).toHaveLength(1);
  bob.link = (origin) => `Blog ${origin}/casino/`;
  await tell();
  expect(await alice.mentions()).toEqual([]);
});
