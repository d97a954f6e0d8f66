import { readFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { createGuard } from "../../../plugin/http/guard.js";
import { openAccounts } from "../../../plugin/mentions/networks/accounts.js";
import { toParts } from "../../../plugin/mentions/networks/copy-text.js";
import type { CopyToPost, Picture } from "../../../plugin/mentions/networks/network.js";
import { fakeBluesky } from "../../helpers/fake-bluesky.js";
import { loopbackRoute, strayed } from "../../helpers/loopback.js";
import { names } from "../../helpers/names.js";
import { postingBluesky } from "../../helpers/posting-bluesky.js";
import { NOW } from "../send/outgoing.js";

afterEach(() => expect(strayed).toEqual([]));

const PAGE = "https://alice.example/posts/quinces/";

const APP_VIEW = "public.api.bsky.app";

async function account(change: Record<string, string> = {}) {
  const [server, view] = [await postingBluesky(), await fakeBluesky()];
  const ask = createGuard({
    userAgent: "test/1",
    allowPrivateHosts: [server.host, new URL(change.TWTXT_BLUESKY_URL ?? server.url).host],
    lookup: names({ [APP_VIEW]: ["192.0.2.1"] }),
    route: (target) =>
      loopbackRoute(target.host === APP_VIEW ? { protocol: "http:", host: "127.0.0.1", port: view.port } : target),
  });
  const parts = { ask, now: () => NOW, sleep: async () => {} };
  const [opened] = openAccounts({ ...server.environment, ...change }, parts);
  if (!opened) throw new Error("There is no account.");
  return { server, view, account: opened };
}

function copy(
  text: string,
  { pictures = [], ...change }: Partial<CopyToPost> & { pictures?: Picture[] } = {},
): CopyToPost {
  return {
    ...{ key: "key", parts: toParts(text), permalink: PAGE },
    attach: ({ count }, upload) => Promise.all(pictures.slice(0, count).map(upload)),
    ...change,
  };
}

/** The texts of the facets with their links, by their bytes. */
function readFacets({ text, facets = [] }: { text?: unknown; facets?: unknown }) {
  const bytes = Buffer.from(String(text));
  return (facets as { index: { byteStart: number; byteEnd: number }; features: { uri: string }[] }[]).map(
    ({ index, features }) => [bytes.subarray(index.byteStart, index.byteEnd).toString(), features[0]?.uri],
  );
}

it("a copy on Bluesky has its links by bytes of UTF-8, its language and a card, under a key of its permalink", async () => {
  const { server, account: bluesky } = await account();
  const text = "Quitten 🍐 für @<bob https://bob.example/twtxt.txt> & [Käse](https://carol.example/k%C3%A4se)";
  const card = { title: "Quitten", description: "Zehn Gläser" };
  const posted = await bluesky.post(copy(text, { lang: "de", ...card }));
  const [key = ""] = server.records.keys();
  expect(posted).toEqual({
    network: "bluesky",
    url: `https://bsky.app/profile/${server.did}/post/${key}`,
    server: "https://public.api.bsky.app",
    id: `at://${server.did}/app.bsky.feed.post/${key}`,
  });
  const record = server.records.get(key) ?? {};
  expect(record).toMatchObject({
    $type: "app.bsky.feed.post",
    text: `Quitten 🍐 für bob & Käse\n\n${PAGE}`,
    langs: ["de"],
    createdAt: "2026-11-20T09:00:00.000Z",
    embed: { $type: "app.bsky.embed.external", external: { uri: PAGE, ...card } },
  });
  expect(readFacets(record)).toEqual([
    ["bob", "https://bob.example/twtxt.txt"],
    ["Käse", "https://carol.example/k%C3%A4se"],
    [PAGE, PAGE],
  ]);
});

it("a copy on Bluesky is found before it is posted, has one record however often it is posted, and is deleted", async () => {
  const { server, account: bluesky } = await account();
  expect(await bluesky.find(PAGE)).toBe(null);
  const posted = await bluesky.post(copy("Ten jars"));
  expect(await bluesky.find(PAGE)).toEqual(posted);
  await bluesky.post(copy("Ten jars"));
  expect(server.records.size).toBe(1);
  expect(bluesky.edit).toBeUndefined();
  await bluesky.delete(posted);
  expect([server.records.size, server.writes.length]).toEqual([0, 3]);
});

it("a copy on Bluesky is cut at 300 graphemes or 3,000 bytes with its permalink, has a card with a picture, or else pictures, and a warning instead of the text", async () => {
  const { server, account: bluesky } = await account();
  const family = "👨‍👩‍👧‍👦";
  await bluesky.post(copy("🍐 ä ".repeat(200), { permalink: `${PAGE}a/` }));
  await bluesky.post(copy(`${family} `.repeat(200), { permalink: `${PAGE}e/` }));
  const bytes = readFileSync(new URL("../../pictures/files/plain.webp", import.meta.url));
  const pictures = ["Ten jars", "A jar"].map((alt) => ({
    bytes,
    type: "image/webp" as const,
    alt,
    width: 3,
    height: 2,
  }));
  const card = { title: "Jars", description: "" };
  await bluesky.post(copy("Jars", { permalink: `${PAGE}b/`, pictures }));
  await bluesky.post(copy("Jars", { permalink: `${PAGE}c/`, pictures, ...card }));
  await bluesky.post(copy("A spider!", { permalink: `${PAGE}d/`, warning: "Spiders", pictures }));
  const [long, large, pictured, carded, warned] = [...server.records.values()];
  const graphemes = [...new Intl.Segmenter().segment(String(long?.text))].map(({ segment }) => segment);
  expect(graphemes.length).toBeLessThanOrEqual(300);
  expect(graphemes.length).toBeGreaterThan(290);
  expect(String(long?.text)).toMatch(new RegExp(`(🍐|ä)… ${PAGE}a/$`));
  expect(Buffer.byteLength(String(large?.text))).toBeLessThanOrEqual(3000);
  expect(String(large?.text)).toMatch(new RegExp(`${family}… ${PAGE}e/$`));
  expect(pictured?.embed).toMatchObject({
    images: [{ alt: "Ten jars", aspectRatio: { width: 3, height: 2 } }, { alt: "A jar" }],
  });
  expect(carded?.embed).toMatchObject({ external: { ...card, thumb: { mimeType: "image/webp", size: bytes.length } } });
  expect([warned?.text, warned?.embed]).toEqual([`Spiders\n\n${PAGE}d/`, undefined]);
  expect(server.blobs.map(({ type }) => type)).toEqual(["image/webp", "image/webp", "image/webp"]);
});

it("a copy on Bluesky replies to the post that its post answers, and to the start of that thread", async () => {
  const { server, view, account: bluesky } = await account();
  const bob = view.addActor("bob.bsky.social");
  const start = view.addPost(bob, "Who has quinces?");
  const answer = view.addPost(view.addActor("carol.bsky.social"), "Not me", { parent: start });
  const reply = async (permalink: string, replyTo: string) => {
    await bluesky.post(copy("I have", { permalink, replyTo }));
    return [...server.records.values()].at(-1)?.reply;
  };
  const [root, parent] = [start, answer].map(({ uri, cid }) => ({ uri, cid }));
  const toPage = ({ author, uri }: typeof start) =>
    `https://bsky.app/profile/${author.handle}/post/${uri.split("/").at(-1)}`;
  expect(await reply(`${PAGE}a/`, toPage(answer))).toEqual({ root, parent });
  expect(await reply(`${PAGE}b/`, toPage(start))).toEqual({ root, parent: root });
  const gone = toPage(start).replace(/.$/, "z");
  await expect(reply(`${PAGE}c/`, gone)).rejects.toMatchObject({ code: "source-refused" });
  await expect(reply(`${PAGE}d/`, "https://mastodon.example/@bob/1")).rejects.toThrow("is no post on Bluesky");
  expect(server.records.size).toBe(2);
});

it("an account on Bluesky that has moved to another server posts there", async () => {
  const old = await postingBluesky();
  const { server, account: bluesky } = await account({ TWTXT_BLUESKY_URL: old.url });
  old.home = server.url;
  await bluesky.post(copy("Ten jars"));
  expect([old.records.size, server.records.size]).toEqual([0, 1]);
});

it("a wrong app password is refused with the words of the server", async () => {
  const { account: bluesky } = await account({ TWTXT_BLUESKY_PASSWORD: "aaaa-bbbb-cccc-dddd" });
  await expect(bluesky.check()).rejects.toThrow("Invalid identifier or password");
});
