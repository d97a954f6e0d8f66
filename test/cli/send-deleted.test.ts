import { expect, it } from "vitest";
import { loopbackServer } from "../helpers/loopback.js";
import { type BuiltSite, post, site } from "../helpers/site.js";
import { type Neighbour, neighbour } from "../mentions/send/outgoing.js";
import { command } from "./helpers.js";

/** Alice's site on a static host, with one note. */
async function alicesSite(body: string, neighbours: readonly Neighbour[]) {
  let built: BuiltSite | undefined;
  const server = await loopbackServer((request, response) => {
    const path = request.url?.replace(/\/$/, "/index.html") ?? "";
    if (path.endsWith(".html")) response.setHeader("content-type", "text/html");
    response.end(built?.read(path));
  });
  const now = new Date().toISOString();
  const date = new Date(Date.now() - 60_000).toISOString();
  const build = async (data: object) => {
    const files = { "posts/a.md": post({ date, tags: "posts", ...data }, body) };
    built = await site({ files, options: `{ url: "${server.url}" }`, now, ...(built && { site: built }) });
  };
  await build({});
  return {
    build,
    /** Runs `eleventy-twtxt send ARGS`. @returns its output */
    async send(...args: string[]): Promise<string> {
      const allowed = neighbours.flatMap(({ host }) => ["--allow-private-host", host]);
      const outcome = await command(built?.folder ?? "", ["send", "--store", "store", ...allowed, ...args]);
      return Object.values(outcome).join("\n");
    },
  };
}

const given = ({ posts }: Neighbour) => posts.map(({ source, target }) => ({ source, target }));

it("the deletion of a post is sent to the mentioned feeds, once, with retries; --dry-run lists it", async () => {
  const bob = await neighbour();
  const { build, send } = await alicesSite(`Hello ${bob.mention}`, [bob]);
  expect(await send()).toContain("1 sent.");
  await build({ twt: "deleted" });
  expect(await send("--dry-run")).toContain(`would be sent to ${bob.endpoint} (named in the feed), as deleted\n`);
  expect(bob.posts).toHaveLength(1);

  bob.answer = () => ({ status: bob.posts.length === 2 ? 500 : 200 });
  expect(await send()).toContain("it answers 500; next attempt after");
  expect(await send("--now")).toContain(`sent to ${bob.endpoint} (named in the feed), as deleted\n`);
  expect(await send("--now")).toContain("Nothing to send.");
  expect(given(bob)).toEqual(Array(3).fill(given(bob)[0]));
  const listed = await send("--list");
  expect(listed).toMatch(/ removed, told \d{4}-\d\d-\d\dT\d\d:\d\dZ at http:\S+webmention\S*$/m);
  expect(listed).toContain("1 withdrawn.");
});

it("a deleted mention that is told again is listed once, as sent", async () => {
  const bob = await neighbour();
  const { build, send } = await alicesSite(`Hello ${bob.mention}`, [bob]);
  await send();
  await build({ twt: "deleted" });
  await send();
  await build({ twt: undefined });
  expect(await send()).toContain("1 sent.");
  const listed = await send("--list");
  expect(listed).toContain("1 sent.");
  expect(listed).not.toContain("withdrawn");
});

it("the deletion of a post is sent to the linked pages, once", async () => {
  const carol = await neighbour("carol", "HTML");
  const { build, send } = await alicesSite(`See [the hens](${carol.url}/).`, [carol]);
  expect(await send()).toContain("1 sent.");
  await build({ twt: "deleted" });
  expect(await send()).toContain(`sent to ${carol.endpoint} (named in the page), as deleted\n`);
  expect(await send()).toContain("Nothing to send.");
  expect(given(carol)).toEqual(Array(2).fill(given(carol)[0]));
});
