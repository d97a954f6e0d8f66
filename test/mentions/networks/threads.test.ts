import { afterEach, describe, expect, it } from "vitest";
import { HOST_FILE, parsePublishedSite } from "../../../plugin/site/site.js";
import { projectFile } from "../../eleventy/read-build.js";
import { repliesIn } from "../../helpers/conversation-outline.js";
import { fakeMastodon } from "../../helpers/fake-mastodon.js";
import { loopbackServer, strayed } from "../../helpers/loopback.js";
import { PAGE, PAGES, type ReceiverOptions, receiver, TWT } from "../../helpers/receiver.js";
import { buildSite, post } from "../../helpers/site.js";

afterEach(() => expect(strayed).toEqual([]));

/** Alice's site, whose post has a copy on Mastodon, with an answer by bob. */
async function alice(options: ReceiverOptions = {}) {
  const server = await fakeMastodon();
  const copy = server.addStatus(server.addAccount("alice"), "<p>Quinces</p>");
  const bob = server.addAccount("bob@bob.example", { display_name: "Bob :verified:" });
  const answer = server.addStatus(
    bob,
    `<p><span class="h-card"><a href="${server.url}/@alice">@alice</a></span> lovely</p>`,
    {
      in_reply_to_id: copy.id,
    },
  );
  const pages = { ...PAGES, twts: [{ ...TWT, syndication: [copy.url] }] };
  const site = receiver({ pages, neighbours: [server], ...options });
  return { ...site, server, copy, bob, answer, pages };
}

it("a copy in the front matter is linked from the page, and what is answered there is nested below the post", async () => {
  const files = {
    "_includes/post.njk":
      "<html><head></head><body>{{ content | safe }}{% twtxtSyndication %}{% twtxtMentions %}</body></html>",
    "posts/quinces.md": post({ date: "2026-01-02", tags: "posts", layout: "post.njk", syndication: "" }, "Jelly."),
  };
  const server = await fakeMastodon();
  const copy = server.addStatus(server.addAccount("alice"), "<p>Jelly</p>");
  const bob = server.addAccount("bob@bob.example");
  const answer = server.addStatus(bob, "<p>lovely</p>", { in_reply_to_id: copy.id });
  server.addStatus(bob, "<p>really</p>", { in_reply_to_id: answer.id });
  files["posts/quinces.md"] = files["posts/quinces.md"].replace("syndication: ", `syndication: ${copy.url}`);
  const live: { json: string } = { json: '{"mentions":[],"next":null}' };
  const home = await loopbackServer((_, response) => response.end(live.json));
  const options = `{ url: "${home.url}", host: "node" }`;
  const first = await buildSite({ files, options });
  const { settings, pages } = parsePublishedSite(projectFile(first, HOST_FILE) ?? "");
  expect(pages.twts).toMatchObject([{ page: `${home.url}/posts/quinces/`, syndication: [copy.url] }]);

  const alice = receiver({ pages, neighbours: [server] });
  await alice.services.runScheduled();
  live.json = await (await alice.answer(new Request(`${settings.url}/mentions.json`))).text();
  // A process reads the list once.
  const page = (await buildSite({ site: first, files, options })).read("posts/quinces/index.html");
  expect(page).toContain(`<link rel="syndication" href="${copy.url}">`);
  expect(page).toContain(
    `<p class="twtxt-syndication">Also on <span><a class="u-syndication" rel="syndication" href="${copy.url}">${server.host}</a></span></p>`,
  );
  expect(repliesIn(page)).toEqual([
    { name: "bob", text: "lovely", replies: [{ name: "bob", text: "really", replies: [] }] },
  ]);
});

describe("a post with a copy on Mastodon", () => {
  it("shows the answers to the copy, nested, with their authors, and the likes and reposts", async () => {
    const { services, mentions, server, copy, bob, answer, log } = await alice();
    const carol = server.addAccount("carol", { display_name: "" });
    server.addStatus(carol, "<p>yes!</p>", { in_reply_to_id: answer.id, created_at: "2026-11-20T08:30:00.000Z" });
    server.favourites.set(copy.id, [bob, carol]);
    server.reblogs.set(copy.id, [bob]);
    await services.runScheduled();
    const found = await mentions(PAGE);
    expect(found.filter(({ type }) => type === "reply").reverse()).toMatchObject([
      {
        source: answer.url,
        target: PAGE,
        author: { name: "Bob", url: "https://bob.example/@bob", photo: "https://bob.example/avatars/bob.png" },
        text: "@alice lovely",
        html: `<p><a href="${server.url}/@alice" rel="nofollow ugc noopener" dir="auto">@alice</a> lovely</p>`,
        published: "2026-11-20T08:00:00Z",
        replyTo: PAGE,
      },
      { author: { name: "carol" }, text: "yes!", replyTo: answer.url },
    ]);
    expect(
      found
        .filter(({ type }) => type !== "reply")
        .map(({ type, source }) => [type, source])
        .sort(),
    ).toEqual([
      ["like", `${server.url}/@carol#like`],
      ["like", "https://bob.example/@bob#like"],
      ["repost", "https://bob.example/@bob#repost"],
    ]);
    expect(log.filter((line) => /answers/i.test(line))).toEqual([
      `Answers to ${PAGE} at ${copy.url}: 5 new or changed, 0 removed.`,
    ]);
  });
});
