// test/interop/networks.ts: the servers of our tests speak as Mastodon and Bluesky do: PyPI's clients read and write what we do.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openAccounts } from "../../plugin/mentions/networks/accounts.js";
import { parsePostUrl, readBlueskyThread } from "../../plugin/mentions/networks/bluesky.js";
import { parseStatusUrl, readMastodonThread } from "../../plugin/mentions/networks/mastodon.js";
import type { Copy, PostingAccount, PostingParts, Thread } from "../../plugin/mentions/networks/network.js";
import { PICTURE } from "../demo/files.js";
import { check, tell } from "../demo/telling.js";
import { fakeBluesky } from "../helpers/fake-bluesky.js";
import { fakeMastodon } from "../helpers/fake-mastodon.js";
import { runAfterEachHooks } from "../helpers/hooks.js";
import { postingBluesky } from "../helpers/posting-bluesky.js";
import { type PostingMastodon, postingMastodon } from "../helpers/posting-mastodon.js";
import { installBlueskyServer, tryBlueskyServer } from "./bluesky-server.js";
import { ALT, attach, guardFor, PAGE, postingParts, toCopy } from "./copies.js";
import { pythonWith } from "./python.js";

const PACKAGES = ["Mastodon.py==2.3.3", "atproto==0.0.73", "toot==0.52.1"];
const run = promisify(execFile);
const script = (name: string) => fileURLToPath(new URL(`networks/${name}`, import.meta.url));

interface Read {
  url: string;
  texts: string[];
  likes: string[];
  reposts: string[];
}

/** @returns 0; a failure is thrown */
export async function tryNetworks(): Promise<number> {
  const installing = installBlueskyServer();
  try {
    const environment = await pythonWith("networks", PACKAGES);
    if (environment !== null) await tryPython(environment);
    if (!(await installing)) return 0;
    tell("Records on Bluesky's own server");
    await tryBlueskyServer();
  } finally {
    await runAfterEachHooks();
  }
  return 0;
}

/** @param environment - the folder of the virtual environment */
async function tryPython(environment: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-networks-"));
  const python = join(environment, "bin/python");
  try {
    tell("Threads on Mastodon and Bluesky, read by Mastodon.py and atproto");
    await readBoth(python);
    tell("Statuses on Mastodon, written and read by Mastodon.py and toot");
    writeFileSync(join(folder, "quince.png"), PICTURE);
    const mastodon = await postingMastodon();
    await writeWithMastodonPy(python, mastodon, folder);
    await writeWithToot(join(environment, "bin/toot"), mastodon, folder);
    tell("Records of Bluesky, validated by atproto");
    await validateRecords(python);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function readBoth(python: string): Promise<void> {
  const [mastodon, bluesky] = [await fakeMastodon(), await fakeBluesky()];
  const status = mastodon.addStatus(mastodon.addAccount("alice"), "<p>Quinces</p>");
  const bob = mastodon.addAccount("bob@bob.example");
  const answer = mastodon.addStatus(bob, "<p>lovely</p>", { in_reply_to_id: status.id });
  mastodon.addStatus(bob, "<p>really</p>", { in_reply_to_id: answer.id });
  mastodon.favourites.set(status.id, [bob]);
  mastodon.reblogs.set(status.id, [bob]);
  const post = bluesky.addPost(bluesky.addActor("alice.example"), "Quinces");
  const carol = bluesky.addActor("carol.bsky.social");
  const reply = bluesky.addPost(carol, "lovely", { parent: post });
  bluesky.hidden.push(bluesky.addPost(carol, "really", { parent: reply }).uri);
  bluesky.likes.set(post.uri, [carol]);
  bluesky.reposts.set(post.uri, [carol]);

  const { stdout } = await run(python, [script("read.py"), mastodon.url, status.id, bluesky.url, post.uri]);
  const [onMastodon, onBluesky]: Read[] = JSON.parse(stdout);
  const parts = { ask: guardFor(mastodon, bluesky), now: Date.now, isUnlistedWanted: false };
  const ours = await readMastodonThread(parseStatusUrl(status.url) as Copy, parts);
  check(onMastodon?.url === status.url, "Mastodon.py reads the status");
  checkSame(onMastodon, ours, "Mastodon.py");
  const copy = { ...(parsePostUrl(post.uri) as Copy), server: bluesky.url };
  checkSame({ ...onBluesky, texts: ["lovely"] }, await readBlueskyThread(copy, parts), "atproto");
  check(onBluesky?.texts.join() === "lovely,really", "atproto reads the reply that alice has hidden, too");
}

function checkSame(theirs: Partial<Read> | undefined, ours: Thread | null, client: string): void {
  const texts = ours?.replies.map(({ html }) => toText(html));
  const theirTexts = theirs?.texts?.map(toText);
  check(texts?.join() === theirTexts?.join() && texts?.length !== 0, `${client} and we read the same replies`);
  const count = (type: string) => ours?.reactions.filter((reaction) => reaction.type === type).length;
  const isSame = count("like") === theirs?.likes?.length && count("repost") === theirs?.reposts?.length;
  check(isSame, `${client} and we read the same likes and reposts`);
}

async function writeWithMastodonPy(python: string, mastodon: PostingMastodon, folder: string): Promise<void> {
  const { account, parts } = openAccount(mastodon.environment, mastodon);
  const copy = await account.post({ ...toCopy(PAGE), lang: "de", warning: "Food", attach });
  const page = `${PAGE}more/`;
  const args = [script("write.py"), mastodon.url, mastodon.token, join(folder, "quince.png"), page, copy.id];
  const { ours, posted, again, answer, ...read } = JSON.parse((await run(python, args)).stdout);
  check(ours.content.includes("Quitten &amp; Käse für bob"), "Mastodon.py reads the text of our status");
  const facts = JSON.stringify([ours.language, ours.warning, ours.sensitive, ours.pictures]);
  check(
    facts === JSON.stringify(["de", "Food", true, [["image", ALT]]]),
    "and its language, warning and picture with the description",
  );
  check(read.account === "alice" && read.limit === 500, "Mastodon.py reads the account and the limit of characters");
  check(posted === again, "an idempotency key posts one status, also for Mastodon.py");
  check(read.found.join() === posted && read.latest.includes(copy.id), "Mastodon.py searches and lists statuses");
  check(!mastodon.statuses.has(read.gone), "Mastodon.py deletes a status");

  const found = await account.find(page);
  check(found?.id === posted, "we find the status of Mastodon.py by its link");
  const thread = await readMastodonThread(found as Copy, { ...parts, isUnlistedWanted: false });
  const texts = thread?.replies.map(({ html }) => toText(html)).join();
  const isAnswered = answer[0] === posted && answer[1] && toText(answer[2]) === "really lovely" && answer[3];
  check(isAnswered && texts === "really lovely", "we read the edited answer that Mastodon.py wrote");
  const theirs = mastodon.statuses.get(posted)?.media_attachments as { description: string }[];
  check(theirs[0]?.description === ALT, "the status of Mastodon.py has its picture");
}

async function writeWithToot(toot: string, mastodon: PostingMastodon, folder: string): Promise<void> {
  const { account, parts } = openAccount(mastodon.environment, mastodon);
  const copy = await account.post(toCopy(`${PAGE}toot/`));
  const instance = mastodon.host;
  const app = { instance, base_url: mastodon.url, client_id: "app", client_secret: "hidden" };
  const user = { instance, username: "alice", access_token: mastodon.token };
  const name = `alice@${instance}`;
  const config = { active_user: name, apps: { [instance]: app }, users: { [name]: user } };
  mkdirSync(join(folder, "toot"));
  writeFileSync(join(folder, "toot/config.json"), JSON.stringify(config));
  const type = async (...args: string[]) => {
    const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, NO_COLOR: "1" };
    const running = run(toot, args, { env });
    running.child.stdin?.end();
    return (await running).stdout;
  };
  check((await type("whoami")).includes("@alice"), "toot reads the account");
  const picture = ["--media", join(folder, "quince.png"), "--description", ALT];
  const answer = JSON.parse(
    await type("post", "lovely", "--reply-to", copy.id, ...picture, "--language", "en", "--json"),
  );
  const thread = await readMastodonThread(copy, { ...parts, isUnlistedWanted: false });
  check(thread?.replies.map(({ html }) => toText(html)).join() === "lovely", "we read the answer that toot wrote");
  check(
    answer.media_attachments[0]?.description === ALT && answer.language === "en",
    "it has its picture and language",
  );
  const shown = await type("thread", copy.id);
  check(shown.includes("Quitten & Käse") && shown.includes("lovely"), "toot shows our status with its answer");
  await type("delete", answer.id);
  check(
    (await readMastodonThread(copy, { ...parts, isUnlistedWanted: false }))?.replies.length === 0,
    "toot deletes it",
  );
}

async function validateRecords(python: string): Promise<void> {
  const [bluesky, view] = [await postingBluesky(), await fakeBluesky()];
  const answered = view.addPost(view.addActor("bob.example"), "Any quinces left?");
  const { account } = openAccount(bluesky.environment, bluesky, view);
  const card = { title: "Quitten", description: "Zehn Gläser" };
  const link = "[Rezept](https://carol.example/k%C3%A4se)";
  const text = `🍐 für @<bob https://bob.example/twtxt.txt>: ${link}`;
  await account.post({ ...toCopy(PAGE, text), lang: "de", ...card, attach });
  await account.post({ ...toCopy(`${PAGE}b/`), attach });
  await account.post({ ...toCopy(`${PAGE}c/`), warning: "Food", ...card });
  await account.post({ ...toCopy(`${PAGE}d/`), replyTo: parsePostUrl(answered.uri)?.url });
  await account.post(toCopy(`${PAGE}e/`, "👨‍👩‍👧‍👦 ".repeat(400)));
  const running = run(python, [script("records.py")]);
  running.child.stdin?.end(JSON.stringify([...bluesky.records.values()]));
  const read = JSON.parse((await running).stdout);
  const [rich, pictured, warned, answer] = read;
  check(read.length === 5, "atproto accepts five records: rich text, a picture, a warning, an answer, and a cut text");
  check(
    read.every(({ extra }: { extra: string[] }) => extra.length === 0),
    "none has a field that the lexicon does not have",
  );
  const links = [
    ["bob", "https://bob.example/twtxt.txt"],
    ["Rezept", "https://carol.example/k%C3%A4se"],
    [PAGE, PAGE],
  ];
  check(JSON.stringify(rich.links) === JSON.stringify(links), "their links are at the right bytes");
  check(rich.embed === "app.bsky.embed.external" && warned.embed === rich.embed, "a post with a title has a card");
  check(pictured.pictures.join() === ALT, "a picture has its description");
  check(answer.answers === answered.uri, "an answer names the post that it answers");
}

function openAccount(
  environment: Record<string, string>,
  ...servers: Parameters<typeof postingParts>
): { account: PostingAccount; parts: PostingParts } {
  const parts = postingParts(...servers);
  const [account] = openAccounts(environment, parts);
  if (!account) throw new Error("There is no account.");
  return { account, parts };
}

function toText(html: string): string {
  return html.replace(/<[^>]*>/g, "");
}
