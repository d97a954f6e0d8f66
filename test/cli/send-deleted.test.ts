import { expect, it } from "vitest";
import { loopbackServer } from "../helpers/loopback.js";
import { post, site } from "../helpers/site.js";
import { neighbour } from "../mentions/send/outgoing.js";
import { command } from "./helpers.js";

it("a deleted post is told to whom its post was told, once, with retries; --dry-run shows it first", async () => {
  const bob = await neighbour();
  const feed = { content: "" };
  const server = await loopbackServer((_, response) => response.end(feed.content));
  const date = new Date(Date.now() - 60_000).toISOString();
  const note = (twt: object) => ({ "posts/a.md": post({ date, tags: "posts", ...twt }, `Hello ${bob.mention}`) });
  const options = `{ url: "${server.url}" }`;
  const now = new Date().toISOString();
  const built = await site({ files: note({}), options, now });
  const send = async (...args: string[]) => {
    feed.content = built.read("twtxt.txt");
    const allowed = ["--allow-private-host", bob.host, "--store", "store"];
    return Object.values(await command(built.folder, ["send", ...allowed, ...args])).join("\n");
  };

  expect(await send()).toContain("1 sent.");
  await site({ site: built, files: note({ twt: "deleted" }), options, now });
  expect(await send("--dry-run")).toContain(`would be sent to ${bob.endpoint} (feed field), as deleted\n`);
  expect(bob.posts).toHaveLength(1);

  bob.answer = () => ({ status: bob.posts.length === 2 ? 500 : 200 });
  expect(await send()).toContain("it answers 500; next attempt after");
  expect(await send("--now")).toContain(`sent to ${bob.endpoint} (feed field), as deleted\n`);
  expect(await send("--now")).toContain("Nothing to send.");
  const [first] = bob.posts;
  expect(bob.posts.map(({ source, target }) => ({ source, target }))).toEqual(
    Array(3).fill({ source: first?.source, target: bob.feedUrl }),
  );
});
