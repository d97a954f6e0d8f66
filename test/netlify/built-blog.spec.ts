import { createHash, randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { formatIdentity } from "../../plugin/keys/identity.js";
import { namesIn, repliesIn } from "../helpers/conversation-outline.js";
import { identityOf } from "../helpers/identity.js";
import { ConversingBlog } from "./conversing-blog.js";

const MIB = 2 ** 20;
const OWNER = identityOf(7);
const EVE = identityOf(randomBytes(32));

/** The blog on Netlify. */
let alice: ConversingBlog;
/** The blog on a Node.js host. */
let bob: ConversingBlog;
let fan: Server;

// One pair of blogs for all tests: starting Netlify's command line and bundling its functions takes longer than the tests.
beforeAll(async () => {
  fan = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<p class="h-entry"><a class="p-author h-card" href="/">Carol</a> likes
      <a class="u-like-of" href="${alice.url}/posts/hello/">this</a></p>`);
  });
  await new Promise<void>((resolve) => fan.listen(0, "127.0.0.1", resolve));
  alice = await ConversingBlog.create({
    nick: "alice",
    host: "netlify",
    options: { key: OWNER.publicKey, blobs: true },
  });
  bob = await ConversingBlog.create({ nick: "bob", host: "node" });
  const hosts = [alice.url, bob.url, fanUrl()].map((url) => new URL(url).host);
  await alice.start(hosts);
  await bob.start(hosts);
});
afterAll(async () => {
  await Promise.all([alice?.end(), bob?.end()]);
  fan?.close();
});

describe("blobs under netlify dev", () => {
  it("201, 200: stores up to 4 MiB, and returns it whole and in ranges", async () => {
    const contents = randomBytes(4 * MIB);
    const put = await ask("PUT", "large", { "content-type": "image/jpeg", "blob-public": "?1" }, contents);
    expect([put.status, await put.json()]).toMatchObject([201, { size: 4 * MIB, sha256: sha256(contents) }]);

    const got = await ask("GET", "large");
    expect(sha256(Buffer.from(await got.arrayBuffer()))).toBe(sha256(contents));
    const shared = await fetch(sharedUrl("large"), { headers: { range: "bytes=100-199" } });
    expect([shared.status, shared.headers.get("content-range")]).toEqual([206, `bytes 100-199/${4 * MIB}`]);
    expect(Buffer.from(await shared.arrayBuffer()).equals(contents.subarray(100, 200))).toBe(true);
  });

  it("413: refuses a larger blob", async () => {
    const put = await ask("PUT", "larger", { "content-type": "image/png" }, Buffer.alloc(4 * MIB + 1));
    expect([put.status, await put.json()]).toMatchObject([413, { code: "body-too-large" }]);
    expect((await ask("HEAD", "larger")).status).toBe(404);
  });

  it("404: a blob is unavailable as soon as it is private, and available again once it is public", async () => {
    await ask("PUT", "page", { "content-type": "text/plain", "blob-public": "?1" }, Buffer.from("hello"));
    expect(await (await fetch(sharedUrl("page"))).text()).toBe("hello");
    const change = (isPublic: boolean) =>
      ask("POST", "page", { "content-type": "application/json" }, Buffer.from(JSON.stringify({ public: isPublic })));
    expect(await (await change(false)).json()).toMatchObject({ Public: false, shared: null });
    expect((await fetch(sharedUrl("page"))).status).toBe(404);
    expect(await (await change(true)).json()).toMatchObject({ Public: true, shared: sharedUrl("page") });
    expect((await fetch(sharedUrl("page"))).status).toBe(200);
    expect((await ask("DELETE", "page")).status).toBe(200);
    expect((await fetch(sharedUrl("page"))).status).toBe(404);
  });

  it("401, 403: refuses requests that are unsigned or signed with another key", async () => {
    await ask("PUT", "mine", { "content-type": "image/png" }, Buffer.from("mine"));
    const answers = ["mine", "nothing"].map(async (key) => {
      const [unsigned, byEve] = await Promise.all([fetch(urlOf(key)), ask("GET", key, {}, undefined, EVE)]);
      return [unsigned.status, await unsigned.text(), byEve.status, await byEve.text()];
    });
    const [there, absent] = await Promise.all(answers);
    expect(there).toEqual(absent);
    expect(there).toMatchObject([401, expect.any(String), 403, expect.any(String)]);
  });

  it("lists the blobs", async () => {
    const { blobs } = (await (await ask("GET", "")).json()) as { blobs: { key: string }[] };
    expect(blobs.map(({ key }) => key).sort()).toEqual(["large", "mine"]);
  });
});

it("a blog under netlify dev and one under eleventy-twtxt serve show the same nested conversation, and count a like", async () => {
  const congratulation = await bob.reply(alice, "Congratulations!");
  await alice.lists(1);
  await alice.reply(bob, "Thanks!");
  await bob.lists(1);
  await bob.reply(alice, "Cheers!");
  await alice.lists(2);
  expect((await alice.mention(fanUrl(), "/posts/hello/")).status).toBe(200);

  await alice.build();
  await bob.build();
  const cheers = { name: "bob", text: "@alice Cheers!", replies: [] };
  const thanks = { name: "alice", text: "@bob Thanks!", replies: [cheers] };
  const onAlices = await alice.page("/posts/hello/");
  expect(repliesIn(onAlices)).toEqual([{ name: "bob", text: "@alice Congratulations!", replies: [thanks] }]);
  expect(repliesIn(await bob.page(congratulation))).toEqual([thanks]);
  expect(namesIn(onAlices, "likes")).toEqual(["Carol"]);
});

it("a blog under netlify dev is backed up, and restored after all was deleted", async () => {
  const file = (name: string) => join(alice.folder, name);
  const address = `alice@${new URL(alice.url).host}`;
  writeFileSync(file("alice.key"), formatIdentity(new Uint8Array(32).fill(7), { address, created: null }));
  chmodSync(file("alice.key"), 0o600);
  writeFileSync(file("q.txt"), "quinces");
  const type = (...args: string[]) => alice.command(...args, "--identity", "alice.key");
  const remote = ["--url", alice.url];

  await type("blob", "put", "q.txt", "--public", "--key", "q.txt");
  const shared = sharedUrl("q.txt");
  expect(await (await fetch(shared)).text()).toBe("quinces");
  const list = await alice.page("/mentions.json");
  expect(await type("backup", "alice.tar.gz", ...remote)).toContain("read again and compared.");
  expect(readFileSync(file("alice.tar.gz")).length).toBeGreaterThan(100);
  await type("blob", "rm", "q.txt");
  expect((await fetch(shared)).status).toBe(404);
  expect(await type("restore", "alice.tar.gz", ...remote, "--force")).toContain("Restored into the site at");
  expect(await (await fetch(shared)).text()).toBe("quinces");
  expect(await alice.page("/mentions.json")).toBe(list);
  expect(await type("send", "--list", ...remote)).toContain(bob.url);
});

function fanUrl(): string {
  return `http://127.0.0.1:${(fan.address() as AddressInfo).port}/1`;
}

function ask(method: string, key: string, headers: Record<string, string> = {}, body?: Buffer, by = OWNER) {
  const unsigned = { method, url: urlOf(key), headers, ...(body && { body }) };
  const signed = signRequest(unsigned, by, Date.now());
  return fetch(unsigned.url, { method, headers: signed, ...(body && { body: new Uint8Array(body) }) });
}

function urlOf(key: string): string {
  return `${alice.url}/api/v1/blob${key && `/${key}`}`;
}

function sharedUrl(key: string): string {
  return `${alice.url}/shared/${OWNER.publicKey}/${key}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
