// test/e2e/client-by-keyboard.test.ts: each action of the web client's rooms, with only the keyboard.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { messagesRoom } from "../../plugin/client/messages/messages-room.js";
import { parseFeed } from "../../plugin/feed/feed.js";
import { type Correspondent, correspondents } from "../cli/correspondent.js";
import { freePort } from "../cli/server.js";
import { clientOfPerson } from "../client/client.js";
import { chooseFiles } from "../helpers/choose-file.js";
import { describeInChromium } from "../helpers/chromium.js";
import { REPO } from "../helpers/paths.js";
import { post } from "../helpers/site.js";
import { Author, LAYOUT, newTab } from "./author.js";
import { PublishedBlog } from "./published-blog.js";

/**
 * A key to press, an element to reach with Tab, a text to type, a file for the dialog that Enter opens, or a key that
 * starts a download.
 */
type Stroke = string | { to: string } | { type: string } | { choose: string } | { download: string };

interface Step {
  action: string;
  /** An event elsewhere before the step. */
  given?: () => unknown;
  strokes: readonly Stroke[];
  /** A text that the page shows after the step. */
  shows: string;
  /** A text that the page no longer shows after the step. */
  hides?: string;
  /** Whether the step stays on the same page. */
  stays?: boolean;
}

const ENTER = "Enter";
const PICTURE = join(REPO, "site-example/pictures/quinces.png");

/** @param feed - a feed to follow */
function timeline(feed: string): Step[] {
  return [
    { action: "opens the room", strokes: [{ to: "Timeline" }, ENTER], shows: "Read again" },
    { action: "reads the feeds", strokes: [{ to: "Read again" }, ENTER], shows: "The feeds were read again." },
    { action: "lists followed feeds", strokes: [{ to: "Following" }, ENTER], shows: "You follow no feeds yet." },
    { action: "follows", strokes: [{ to: "Follow a feed" }, { type: feed }, ENTER], shows: "Following @bob," },
    { action: "undoes it", strokes: ["u"], shows: "No longer following @bob, " },
    { action: "undoes that", strokes: ["u"], shows: "Following @bob," },
    { action: "unfollows", strokes: ["j", { to: "Unfollow @bob" }, ENTER], shows: "No longer following @bob, " },
    { action: "undoes this, too", strokes: ["u"], shows: "Following @bob," },
    { action: "reads the new feed", strokes: [{ to: "Timeline" }, ENTER], shows: "quinces?" },
    { action: "replies", strokes: ["j", "r"], shows: "Your note, in Markdown." },
  ];
}

const WRITE: readonly Step[] = [
  { action: "opens the room", strokes: [{ to: "Write" }, ENTER], shows: "Your note, in Markdown." },
  {
    action: "writes, and previews",
    strokes: ["n", { type: "@bob yes." }, { to: "Save draft and preview" }, ENTER],
    shows: "In your feed",
  },
  { action: "opens the people", strokes: [{ to: "People to mention" }, ENTER], shows: "@bob", stays: true },
  {
    action: "opens the rare fields",
    strokes: [{ to: "More" }, ENTER],
    shows: "A folder that Eleventy reads",
    stays: true,
  },
  {
    action: "names the folder",
    strokes: [{ to: "Another folder" }, { type: "garden" }, { to: "Save draft and preview" }, ENTER],
    shows: "In your feed",
  },
  { action: "asks who is notified", strokes: [{ to: "Who will be notified?" }, ENTER], shows: "/webmention (" },
  { action: "opens the pictures", strokes: [{ to: "Pictures" }, ENTER], shows: "Picture (JPEG", stays: true },
  {
    action: "chooses a picture",
    strokes: [{ to: "Picture (" }, { choose: PICTURE }],
    shows: "1 picture chosen.",
    stays: true,
  },
  { action: "describes and adds it", strokes: [{ type: "A basket" }, ENTER], shows: "A basket" },
  { action: "removes it", strokes: [{ to: "Remove" }, ENTER], shows: "Draft saved" },
  { action: "deletes the draft", strokes: ["j", { to: "Delete" }, ENTER], shows: "The draft is deleted." },
  {
    action: "saves the post",
    strokes: ["n", { type: "@bob three." }, { to: "Save as a post" }, ENTER],
    shows: "These commands publish the post",
  },
  {
    action: "excludes the list of feeds",
    strokes: [{ to: "Do not include it" }, ENTER],
    shows: "will not be published",
  },
  { action: "publishes", strokes: [{ to: "Run these commands" }, ENTER], shows: "remote: Built and deployed." },
];

const MENTIONS: readonly Step[] = [
  { action: "opens the room", strokes: [{ to: "Mentions" }, ENTER], shows: "Held 4" },
  { action: "approves", strokes: ["j", "a"], shows: "Approved: the mention by bob." },
  { action: "undoes it", strokes: ["u"], shows: "Held again: the mention by bob." },
  { action: "rejects", strokes: ["j", "x"], shows: "Rejected: the mention by bob." },
  { action: "lists the rejected", strokes: [{ to: "Rejected" }, ENTER], shows: "Forget" },
  { action: "lists the held", strokes: [{ to: "Held" }, ENTER], shows: "Held 3" },
  { action: "asks before it forgets", strokes: ["j", "d"], shows: "Forget this mention?" },
  { action: "forgets", strokes: [{ to: "Forget it" }, ENTER], shows: "Forgotten." },
  { action: "replies", strokes: ["j", "r"], shows: "Your note, in Markdown." },
  { action: "goes back", strokes: [{ to: "Mentions" }, ENTER], shows: "Held 2" },
  {
    action: "asks before it blocks",
    strokes: ["j", "b"],
    shows:
      "This rejects all mentions from 127.0.0.1 that are shown or held, and refuses new ones until you unblock it.",
  },
  { action: "blocks a host", strokes: [{ to: "Block" }, ENTER], shows: "2 rejected." },
  { action: "shows the year", strokes: [{ to: "Last year" }, ENTER], shows: "Mentions of the last year" },
];

const FILES: readonly Step[] = [
  { action: "opens the room", strokes: [{ to: "Files" }, ENTER], shows: "No files yet." },
  { action: "chooses a file", strokes: ["a", { choose: PICTURE }], shows: "Upload", stays: true },
  { action: "uploads it", strokes: [{ to: "Upload" }, ENTER], shows: "Private: only you can read it", stays: true },
  { action: "opens the room again", strokes: [{ to: "Files" }, ENTER], shows: "quinces.png", hides: "Stored: new" },
  { action: "asks before it is public", strokes: ["j", "p"], shows: "Make this file public?" },
  { action: "cancels the question", strokes: ["q"], shows: "Private: only you can read it" },
  { action: "asks again", strokes: ["j", "p"], shows: "Make this file public?" },
  { action: "makes it public", strokes: ["y"], shows: "quinces.png is public." },
  { action: "undoes it", strokes: ["u"], shows: "quinces.png is private." },
  {
    action: "shows more actions",
    strokes: [{ to: "More" }, ENTER],
    shows: "Rename",
    stays: true,
  },
  { action: "opens the name", strokes: ["j", "e"], shows: "Media type" },
  { action: "renames it", strokes: ["n", { type: "ripe-" }, ENTER], shows: "ripe-" },
  { action: "downloads it", strokes: ["j", { download: "d" }], shows: "ripe-", stays: true },
  { action: "verifies", strokes: ["v"], shows: "1 as you stored them" },
  { action: "asks before it deletes", strokes: ["j", "x"], shows: "Delete this file?" },
  { action: "deletes", strokes: ["y"], shows: "is deleted." },
];

const HEALTH: readonly Step[] = [
  { action: "opens the room", strokes: [{ to: "Health" }, ENTER], shows: "Not checked since the client was started." },
  { action: "checks the site", strokes: ["c"], shows: "Nothing to fix, checked" },
  { action: "shows the keys", strokes: ["?"], shows: "checks the site", stays: true },
  { action: "closes them", strokes: [ENTER], shows: "On this machine", stays: true },
];

function messages(bob: Correspondent, carol: Correspondent, alice: Correspondent): Step[] {
  const list = { action: "opens the list", strokes: [{ to: "Messages" }, ENTER], shows: "New message to" };
  const undelivered = () => {
    bob.failWithStatus = 503;
  };
  const delivered = () => {
    bob.failWithStatus = null;
  };
  const writesWithNewKey = async () => {
    delivered();
    await bob.changeKey(9);
    await bob.message("send", alice.address, "A new key.");
  };
  return [
    {
      action: "writes to an address",
      strokes: ["n", { type: bob.address }, ENTER],
      shows: "Verified: signed with the key of",
    },
    { action: "sends", strokes: ["r", { type: "Yes." }, { to: "Send" }, ENTER], shows: `Delivered to ${bob.address}.` },
    { action: "asks before it deletes", strokes: ["j", "d"], shows: "Delete this message?" },
    { action: "deletes", strokes: [{ to: "Delete it" }, ENTER], shows: "The message was deleted from your inbox." },
    {
      action: "attaches a file",
      strokes: [
        ...["r", { type: "My quinces." }, { to: "Attach a file" }, ENTER, { to: "File, at most" }],
        ...[{ choose: PICTURE }, { to: "Send" }, ENTER],
      ],
      shows: "quinces.png",
    },
    { action: "shows the picture", strokes: [{ to: "Show picture" }, ENTER], shows: "quinces.png", stays: true },
    {
      action: "sends to a failing host",
      given: undelivered,
      strokes: ["r", { type: "Later." }, { to: "Send" }, ENTER],
      shows: "Not delivered yet to",
    },
    {
      action: "opens the outbox",
      given: delivered,
      strokes: [{ to: "Retry or discard it in the outbox" }, ENTER],
      shows: "it answers 503",
    },
    { action: "retries", strokes: [{ to: "Retry all now" }, ENTER], shows: `Delivered to ${bob.address}.` },
    list,
    { action: "opens a conversation", strokes: [{ to: bob.address }, ENTER], shows: "Later." },
    {
      action: "sends in vain",
      given: undelivered,
      strokes: ["r", { type: "Never mind." }, { to: "Send" }, ENTER],
      shows: "Not delivered yet to",
    },
    {
      action: "opens the outbox again",
      strokes: [{ to: "Retry or discard it in the outbox" }, ENTER],
      shows: "Never mind.",
    },
    {
      action: "discards",
      strokes: ["j", { to: "Discard" }, ENTER],
      shows: "Discarded. Not delivered to ",
    },
    list,
    { action: "opens another conversation", strokes: [{ to: carol.address }, ENTER], shows: "Buy my boots." },
    {
      action: "asks before it blocks",
      strokes: [{ to: "Block this sender" }, ENTER],
      shows: "This deletes 1 message from",
    },
    { action: "blocks", strokes: [{ to: "Block this sender" }, ENTER], shows: `${carol.address} is blocked.` },
    { action: "undoes it", strokes: ["u"], shows: `${carol.address} is no longer blocked.` },
    { ...list, given: writesWithNewKey },
    { action: "lists uncertain senders", strokes: [{ to: "Not verified" }, ENTER], shows: "has a new key" },
    { action: "verifies again", strokes: [{ to: "Verify again" }, ENTER], shows: "1 still not verified." },
    {
      action: "compares the keys",
      strokes: [{ to: "Compare the keys" }, ENTER],
      shows: "publishes now",
    },
    { action: "accepts the key", strokes: [{ to: "I have asked" }, ENTER], shows: "You have accepted this key of" },
  ];
}

/** Types the strokes of a step, and waits for its result. */
async function done(tab: Page, { action, given, strokes, shows, hides, stays = false }: Step): Promise<void> {
  try {
    await given?.();
    for (const stroke of strokes.slice(0, -1)) await make(stroke, tab);
    const loaded = stays ? null : tab.waitForEvent("load");
    await Promise.all([loaded, ...strokes.slice(-1).map((stroke) => make(stroke, tab))]);
    await tab.locator("#main, dialog[open]").getByText(shows).filter({ visible: true }).first().waitFor();
    if (hides !== undefined) await tab.getByText(hides).waitFor({ state: "hidden" });
  } catch (error) {
    throw new Error(`${action}: ${error}\n${await tab.locator("body").innerText()}`);
  }
}

async function make(stroke: Stroke, tab: Page): Promise<void> {
  if (typeof stroke === "string") await tab.keyboard.press(stroke);
  else if ("choose" in stroke) await chooseFiles(tab, () => tab.keyboard.press(ENTER), stroke.choose);
  else if ("download" in stroke) await Promise.all([tab.waitForEvent("download"), tab.keyboard.press(stroke.download)]);
  else if ("type" in stroke) await tab.keyboard.type(stroke.type);
  else await tabTo(tab, stroke.to);
}

/** Sends Alice a mention from one of Bob's twts. */
async function sendMention(bob: string, at: number, alice: string): Promise<void> {
  const { twts } = parseFeed(await (await fetch(`${bob}/twtxt.txt`)).text());
  const source = `${bob}/twtxt.txt#:~:text=${twts.at(-at)?.timestamp}`;
  const body = new URLSearchParams({ source, target: `${alice}/twtxt.txt` });
  expect((await fetch(`${alice}/webmention`, { method: "POST", body })).ok).toBe(true);
}

/** Presses Tab until the element with this name has the focus. */
async function tabTo(tab: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 100; presses += 1) {
    await tab.keyboard.press("Tab");
    const focused = (await tab.evaluate(`(({ labels, textContent }) => labels?.[0]?.textContent || textContent)
      (document.activeElement)`)) as string;
    if (focused.trim().startsWith(name)) return;
  }
  throw new Error(`Tab did not reach "${name}".`);
}

describeInChromium("the client with only the keyboard", () => {
  it("performs each action of the rooms for the timeline, writing, mentions, files and health", async () => {
    const [first, second] = [await freePort(), await freePort()];
    const date = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const mention = `@<alice http://127.0.0.1:${first}/twtxt.txt>`;
    const note = (minutes: number, text: string) =>
      post({ date: date(minutes), tags: "posts", layout: "post.njk" }, text);
    const files = { "_includes/post.njk": LAYOUT, "posts/first.md": note(60, "Hello.") };
    const notes = [1, 2, 3, 4].map((at) => [`posts/${at}.md`, note(10 * at, `${mention} quinces?`)]);
    const options = { mentions: { moderate: true }, blobs: true };
    const alice = await Author.start(
      { nick: "alice", port: first, hosts: [`127.0.0.1:${second}`], options, files },
      (blog) => blog.clientProcess(),
    );
    const bob = await PublishedBlog.start({
      nick: "bob",
      port: second,
      hosts: [`127.0.0.1:${first}`],
      files: { ...files, ...Object.fromEntries(notes) },
    });
    for (const at of [1, 2, 3, 4]) await sendMention(bob.url, at, alice.blog.url);
    for (const step of [...timeline(`${bob.url}/twtxt.txt`), ...WRITE, ...MENTIONS, ...FILES, ...HEALTH])
      await done(alice.tab, step);
  });

  it("performs each action of the room of messages", async () => {
    const { alice, bob, carol } = await correspondents(["alice", "bob", "carol"], { blobs: true });
    await bob.message("send", alice.address, "Quinces?");
    await carol.message("send", alice.address, "Buy my boots.");
    const client = await clientOfPerson(alice, [messagesRoom]);
    const tab = await newTab(client.link);
    await tab.locator("[data-item]").nth(1).waitFor();
    // Until then, the page's script may not yet handle keys.
    await tab.waitForLoadState("load");
    for (const step of messages(bob, carol, alice)) await done(tab, step);
  });
});
