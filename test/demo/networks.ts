// test/demo/networks.ts: Alice publishes with `git push`, copies of her post appear on Mastodon and Bluesky, and what people answer there comes home.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import type { FakeStatus } from "../helpers/fake-mastodon.js";
import { CHROMIUM, hasChromium, launchChromium } from "../helpers/launch-chromium.js";
import { type PostingBluesky, postingBluesky } from "../helpers/posting-bluesky.js";
import { type PostingMastodon, postingMastodon } from "../helpers/posting-mastodon.js";
import { type Blog, openClient, readLink, repo } from "./blog.js";
import type { DemoClock } from "./clock.js";
import { PICTURE } from "./files.js";
import { fileOf } from "./letters.js";
import { until } from "./process.js";
import { check, show, tell } from "./telling.js";

const POST = "/posts/ripe/";
const FILE = "posts/ripe.md";
const TEXT = "The last quinces are ripe.";
const ALT = "A quince on its tree";
const BOBS = "Keep one for me!";
const EDITED = "Keep two for me!";
const CAROLS = "Mine are rotten.";
const ANSWER = "There is a basket for you.";
const IGNORED = "node_modules\n_site\n.eleventy-twtxt\n.netlify\n.cache\ndata\nkeys\n";

/** Servers of Mastodon and Bluesky with an account of Alice. */
export interface Networks {
  mastodon: PostingMastodon;
  bluesky: PostingBluesky;
}

export async function startNetworks(): Promise<Networks> {
  const mastodon = await postingMastodon();
  mastodon.now = () => new Date().toISOString();
  return { mastodon, bluesky: await postingBluesky() };
}

export interface NetworksStory extends Networks {
  clock: DemoClock;
  /** The name of Alice's current key. */
  key: string;
  /** Runs the work that follows a deploy. */
  deployed(): Promise<void>;
}

/** The chapter about other networks. Requires that Alice's blog is running, with the accounts in its environment. */
export async function networks(alice: Blog, story: NetworksStory): Promise<void> {
  if (!hasChromium()) {
    console.log(`\nSKIPPED: other networks. There is no Chromium at ${CHROMIUM} (set CHROMIUM to its path).`);
    return;
  }
  const browser = await launchChromium();
  try {
    const reader = await browser.newPage();
    const status = await publish(alice, story);
    const bobs = await comeHome(alice, story, { status, reader });
    await answer(alice, story, { bobs, page: await browser.newPage() });
    await change(alice, story, { bobs, reader });
    await editAndDelete(alice, story, { status, reader });
  } finally {
    await browser.close();
  }
}

async function publish(alice: Blog, story: NetworksStory): Promise<FakeStatus> {
  tell("Alice connects her accounts on Mastodon and Bluesky, and publishes a note with a picture by git.");
  const { mastodon, bluesky } = story;
  alice.configure({ syndicate: ["mastodon"] });
  write(alice, "pictures/ripe.png", PICTURE);
  writePost(alice, TEXT);
  await createRepository(alice);
  await push(alice, "The last quinces", story);

  const has = (status: FakeStatus) => String(status.text).includes(TEXT);
  await until("her note is on Mastodon", async () => mastodon.posted().some(has));
  const [status] = mastodon.posted().filter(has);
  if (!status) throw new Error("There is no status.");
  show(status.url, `${status.text}`);
  const [media] = mastodon.media.values();
  check(String(status.text).includes(alice.url + POST), "the status has the link to her post");
  check(media?.mimeType === "image/png" && media.description === ALT, "it has her picture with its description");
  await until("her note is on Bluesky", async () => bluesky.records.size === 1);
  const [record] = bluesky.records.values();
  show("Bluesky", JSON.stringify(record, null, 2));
  check(JSON.stringify(record?.embed).includes(ALT) && bluesky.blobs.length === 1, "Bluesky has the picture, too");
  return status;
}

interface Thread {
  status: FakeStatus;
  /** A reader's tab. */
  reader: Page;
}

/** @returns Bob's answer */
async function comeHome(alice: Blog, story: NetworksStory, { status, reader }: Thread): Promise<FakeStatus> {
  tell("Bob and Carol answer on Mastodon, and Dana likes the post. The answers appear under Alice's post.");
  const { mastodon } = story;
  const bob = mastodon.addAccount("bob", { display_name: "Bob" });
  const bobs = mastodon.addStatus(bob, `<p>${BOBS}</p>`, { in_reply_to_id: status.id });
  mastodon.addStatus(mastodon.addAccount("carol"), `<p>${CAROLS}</p>`, { in_reply_to_id: status.id });
  mastodon.favourites.set(status.id, [mastodon.addAccount("dana")]);
  await readThreads(alice, story);
  await reader.goto(alice.url + POST);
  await seesLive(reader, [BOBS, CAROLS, "dana"]);
  show(POST, await reader.locator("body").innerText());
  return bobs;
}

interface Answered {
  bobs: FakeStatus;
  /** A tab for the client. */
  page: Page;
}

async function answer(alice: Blog, story: NetworksStory, { bobs, page }: Answered): Promise<void> {
  tell("She answers Bob in her web client. Her answer is a note on her site, and a reply to Bob on Mastodon.");
  const allowed = ["--allow-private-host", new URL(alice.url).host];
  const client = await openClient(alice, ["--identity", fileOf(alice, story.key), ...allowed]);
  await page.goto(readLink(client));
  await page.getByRole("link", { name: /^Mentions/ }).click();
  await page.locator("li", { hasText: BOBS }).getByRole("link", { name: "Reply" }).first().click();
  await page.getByLabel("Your note").fill(ANSWER);
  await page.getByRole("button", { name: "Save as a post" }).click();
  await page.getByRole("button", { name: "Run these commands" }).click();
  await page.getByRole("heading", { name: "Published" }).waitFor();
  await client.end();
  await afterPush(alice, story);
  const isAnswer = ({ text, in_reply_to_id }: FakeStatus) =>
    String(text).includes(ANSWER) && in_reply_to_id === bobs.id;
  await until("her answer is on Mastodon", async () => story.mastodon.posted().some(isAnswer));
  seesBuilt(alice, [BOBS, CAROLS, ANSWER, 'class="u-syndication"'], []);
}

async function change(
  alice: Blog,
  story: NetworksStory,
  { bobs, reader }: Pick<Answered, "bobs"> & Pick<Thread, "reader">,
): Promise<void> {
  tell("Bob edits his answer, and Carol deletes hers. It leaves the page when it has been missing for an hour.");
  const { statuses } = story.mastodon;
  statuses.set(bobs.id, { ...bobs, content: `<p>${EDITED}</p>`, edited_at: new Date().toISOString() });
  for (const { id, content } of [...statuses.values()]) if (content.includes(CAROLS)) statuses.delete(id);
  await readThreads(alice, story);
  await seesLive(reader, [EDITED, ANSWER, CAROLS], [BOBS]);
  await story.clock.anHourLater(() => readThreads(alice, story));
  await seesLive(reader, [EDITED, ANSWER, "dana"], [BOBS, CAROLS]);
}

async function editAndDelete(alice: Blog, story: NetworksStory, { status, reader }: Thread): Promise<void> {
  tell("She corrects her note. The status is edited. Bluesky has no edits.");
  const { mastodon, bluesky } = story;
  const { id } = status;
  const corrected = TEXT.replace("last", "very last");
  writePost(alice, corrected);
  await push(alice, "A correction", story);
  await until("the status is edited", async () => String(mastodon.statuses.get(id)?.text).includes(corrected));
  seesBuilt(alice, [corrected, EDITED, ANSWER], [BOBS, CAROLS]);
  await seesLive(reader, [corrected, EDITED, ANSWER, "dana"], [BOBS, CAROLS]);

  tell("She deletes her note. Its copies go, too.");
  writePost(alice, TEXT, "twt: deleted\n");
  await push(alice, "Gone", story);
  await until("the status is gone", async () => !mastodon.statuses.has(id));
  await until("the record is gone", async () => bluesky.records.size === 0);
  seesBuilt(alice, ["deleted"], [corrected, EDITED, ANSWER]);
  await seesLive(reader, ["deleted"], [corrected, EDITED, ANSWER]);
  const writes = [...mastodon.writes, ...bluesky.writes].map((line) => line.split(" ")[0]);
  show("what was written on the networks", writes.join("\n"));
}

/** A folder with a remote repository, where a hook builds and deploys what is pushed. */
async function createRepository(alice: Blog): Promise<void> {
  const remote = join(alice.folder, "data/alice.git");
  await git(alice, "init", "--quiet", "--bare", "--initial-branch=main", remote);
  const eleventy = `"${process.execPath}" "${join(repo, "node_modules/@11ty/eleventy/cmd.cjs")}" --quiet`;
  const hook = `#!/bin/sh\nset -e\nunset $(git rev-parse --local-env-vars)\ncd "${alice.folder}"\n${eleventy}\n`;
  mkdirSync(join(remote, "hooks"), { recursive: true });
  writeFileSync(join(remote, "hooks/post-receive"), `${hook}echo "Built and deployed."\n`, { mode: 0o755 });
  write(alice, ".gitignore", IGNORED);
  await git(alice, "init", "--quiet", "--initial-branch=main");
  for (const [name, value] of Object.entries({ "user.name": "Alice", "user.email": "alice@alice.example" })) {
    await git(alice, "config", name, value);
  }
  await git(alice, "remote", "add", "origin", remote);
}

async function push(alice: Blog, message: string, story: NetworksStory): Promise<void> {
  await git(alice, "add", ".");
  await git(alice, "commit", "--quiet", "-m", message);
  await git(alice, "push", "--set-upstream", "origin", "main");
  await afterPush(alice, story);
}

async function afterPush(alice: Blog, { deployed }: NetworksStory): Promise<void> {
  await alice.takenOver();
  await deployed();
}

async function git({ nick, folder }: Blog, ...args: string[]): Promise<void> {
  console.log(`\n${nick}$ git ${args.join(" ")}`);
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", XDG_DATA_HOME: join(folder, "data") };
  const { stdout, stderr } = await promisify(execFile)("git", args, { cwd: folder, env });
  process.stdout.write(stdout + stderr);
}

async function readThreads(alice: Blog, story: NetworksStory): Promise<void> {
  await alice.type(["eleventy-twtxt", "mentions", "verify", "--identity", fileOf(alice, story.key)]);
}

function writePost(alice: Blog, text: string, more = ""): void {
  const written = /^date: .*/m.exec(read(alice, FILE))?.[0] ?? `date: ${new Date().toISOString().slice(0, 19)}Z`;
  const photo = `photo:\n  - url: /pictures/ripe.png\n    alt: ${ALT}\n`;
  write(alice, FILE, `---\n${written}\nsyndicate: [mastodon, bluesky]\n${photo}${more}---\n${text}\n`);
}

/** Waits until a reader's page has these texts, and none of the others. */
async function seesLive(reader: Page, has: string[], hasNot: string[] = []): Promise<void> {
  const shows = "((text) => document.body.innerText.includes(text))";
  const isRight = `${JSON.stringify(has)}.every(${shows}) && !${JSON.stringify(hasNot)}.some(${shows})`;
  await until(`the live page has ${quote(has)}`, async () => {
    await reader.reload();
    return reader.waitForFunction(isRight, undefined, { timeout: 3000 }).then(
      () => true,
      () => false,
    );
  });
}

/** Checks the page that the last build wrote. */
function seesBuilt(alice: Blog, has: string[], hasNot: string[]): void {
  const page = read(alice, `_site${POST}index.html`);
  const isRight = has.every((text) => page.includes(text)) && !hasNot.some((text) => page.includes(text));
  check(isRight, `the built page has ${quote(has)}${hasNot.length > 0 ? `, and no longer ${quote(hasNot)}` : ""}`);
}

function quote(texts: string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(", ");
}

function read({ folder }: Blog, path: string): string {
  try {
    return readFileSync(join(folder, path), "utf8");
  } catch {
    return "";
  }
}

function write({ folder }: Blog, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
