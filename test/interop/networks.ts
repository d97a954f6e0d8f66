// test/interop/networks.ts: the servers of our tests speak as Mastodon and Bluesky do: PyPI's clients read what we read.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createGuard } from "../../plugin/http/guard.js";
import { parsePostUrl } from "../../plugin/mentions/networks/bluesky.js";
import { readBlueskyThread } from "../../plugin/mentions/networks/bluesky-thread.js";
import { parseStatusUrl } from "../../plugin/mentions/networks/mastodon.js";
import { readMastodonThread } from "../../plugin/mentions/networks/mastodon-thread.js";
import type { Copy, Thread } from "../../plugin/mentions/networks/network.js";
import { check, tell } from "../demo/telling.js";
import { fakeBluesky } from "../helpers/fake-bluesky.js";
import { fakeMastodon } from "../helpers/fake-mastodon.js";
import { runAfterEachHooks } from "../helpers/hooks.js";
import { pythonWith } from "./python.js";

const PACKAGES = ["Mastodon.py==2.3.3", "atproto==0.0.73"];
const READER = fileURLToPath(new URL("networks/read.py", import.meta.url));

interface Read {
  url: string;
  texts: string[];
  likes: string[];
  reposts: string[];
}

/** @returns 0; a failure is thrown */
export async function tryNetworks(): Promise<number> {
  const python = await pythonWith("networks", PACKAGES);
  if (python === null) return 0;
  tell("Threads on Mastodon and Bluesky, read by Mastodon.py and atproto");
  try {
    await readBoth(join(python, "bin/python"));
  } finally {
    await runAfterEachHooks();
  }
  return 0;
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

  const { stdout } = await promisify(execFile)(python, [READER, mastodon.url, status.id, bluesky.url, post.uri]);
  const [onMastodon, onBluesky]: Read[] = JSON.parse(stdout);
  const parts = {
    ask: createGuard({ userAgent: "interop", allowPrivateHosts: [mastodon.host, bluesky.host] }),
    now: Date.now,
    isUnlistedWanted: false,
  };
  const ours = await readMastodonThread(parseStatusUrl(status.url) as Copy, parts);
  check(onMastodon?.url === status.url, "Mastodon.py reads the status");
  checkSame(onMastodon, ours, "Mastodon.py");
  const copy = { ...(parsePostUrl(post.uri) as Copy), server: bluesky.url };
  checkSame({ ...onBluesky, texts: ["lovely"] }, await readBlueskyThread(copy, parts), "atproto");
  check(onBluesky?.texts.join() === "lovely,really", "atproto reads the reply that alice has hidden, too");
}

function checkSame(theirs: Partial<Read> | undefined, ours: Thread | null, client: string): void {
  const texts = ours?.replies.map(({ html }) => html.replace(/<[^>]*>/g, ""));
  const theirTexts = theirs?.texts?.map((text) => text.replace(/<[^>]*>/g, ""));
  check(texts?.join() === theirTexts?.join() && texts?.length !== 0, `${client} and we read the same replies`);
  const count = (type: string) => ours?.reactions.filter((reaction) => reaction.type === type).length;
  const isSame = count("like") === theirs?.likes?.length && count("repost") === theirs?.reposts?.length;
  check(isSame, `${client} and we read the same likes and reposts`);
}
