import { describe, expect, it } from "vitest";
import { loopbackServer } from "../../helpers/loopback.js";
import { PAGE, receiver } from "../../helpers/receiver.js";

const BOB = { name: "Bob", url: "https://bob.example/" };

/** A page that likes the post, in the name of Bob. */
function like({ name, url }: { name: string; url: string }, head = "", verb = "u-like-of"): string {
  const author = `<a class="p-author h-card" href="${url}">${name}</a>`;
  return `<!doctype html><title>Like</title>${head}<div class="h-entry">${author} <a class="${verb}" href="${PAGE}">likes</a></div>`;
}

/** A host whose pages are made from their paths. */
async function hostOf(page: (path: string, origin: string) => string) {
  const server = await loopbackServer((request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(page(request.url ?? "", server.url));
  });
  const alice = receiver({ neighbours: [server] });
  return { alice, server, tell: (path: string) => alice.mentioned({ source: `${server.url}${path}`, target: PAGE }) };
}

const TEN = Array.from({ length: 10 }, (_, n) => `/like.php/${n}`);

describe("a page that signs as another site", () => {
  it("is listed with its claim, and the host of the page is known from its source", async () => {
    const { alice, server, tell } = await hostOf(() => like(BOB));
    await tell("/like.php");
    expect(await alice.mentions()).toMatchObject([{ source: `${server.url}/like.php`, author: BOB, type: "like" }]);
  });
});

describe("a page without a date under ten URLs", () => {
  it.each([
    ["with an author", () => like(BOB)],
    ["without an author", () => `<!doctype html><title>Like</title><a href="${PAGE}">quinces</a>`],
  ])("counts once, %s", async (_, page) => {
    const { alice, tell } = await hostOf(page);
    for (const path of TEN) expect(await tell(path)).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toHaveLength(1);
    const events = await alice.store.keys("mentions/events/");
    for (const path of TEN) await tell(path);
    expect(await alice.store.keys("mentions/events/")).toEqual(events);
  });

  it("counts ten times if ten people like the post", async () => {
    const { alice, tell } = await hostOf((path) => like({ name: `Bob ${path}`, url: `https://bob.example${path}` }));
    for (const path of TEN) await tell(path);
    expect(await alice.mentions()).toHaveLength(10);
  });

  it("counts for each type, each text, and each page with a canonical link of its own", async () => {
    const { alice, tell } = await hostOf((path, origin) => {
      if (path === "/repost") return like(BOB, "", "u-repost-of");
      if (path === "/text") return like(BOB).replace("</div>", '<p class="p-content">really</p></div>');
      return like(BOB, path === "/own" ? `<link rel="canonical" href="${origin}/own">` : "");
    });
    for (const path of ["/like", "/again", "/repost", "/text", "/own"]) await tell(path);
    expect((await alice.mentions()).map(({ source }) => new URL(source).pathname)).toEqual([
      "/own",
      "/text",
      "/repost",
      "/like",
    ]);
  });
});
