// site-example/start/first-day.ts: prepares the two example blogs with the commands that their authors would run.
import { type Blog, until } from "./blog.js";

/** Alice's post that Bob replies to. */
const FROST = "2026-10-24T06:48:00Z";
/** Its page, with the whole conversation. */
export const THREAD = "/2026/first-frost/";
const TEXT_FILES = "/2026/twenty-years-in-text-files/";
const PICTURE = "site-example/pictures/quinces.png";

/** @returns the path of the page with the conversation and the picture */
export async function firstDay(alice: Blog, bob: Blog): Promise<string> {
  const identity = ["--identity", "author.key"];
  await alice.createKey();
  await bob.createKey();
  await Promise.all([alice.build(), bob.build()]);
  await alice.serve();

  const reply = await bob.run(
    ...["post", "Told you so. My chard has gone the same way. And the quinces?"],
    ...["--reply-to", `${alice.feedUrl}#:~:text=${FROST}`, ...bob.network],
  );
  await bob.run(
    "post",
    `@<alice ${alice.url}${TEXT_FILES}> sent me looking for my own 2006. It is one file, and all of it is train times.`,
  );
  const served = bob.build().then(() => bob.serve());
  await bob.run("message", "send", alice.address, "Not for the feed: it is the 17:05.", ...identity, ...bob.network);
  const picture = await alice.run("blob", "put", PICTURE, "--public", "--markdown", ...identity);
  await served;
  await mentioned(alice, "Told you so");

  const answer = await alice.run(
    ...["post", `They hung on until Sunday. Here is your basket:\n\n${picture.replace("[quinces.png]", `[${ALT}]`)}`],
    ...["--reply-to", `${bob.feedUrl}#:~:text=${readTime(reply)}`, ...alice.network],
  );
  await alice.build();
  await bob.run(
    ...["post", "On my way. Keep the one with the leaf."],
    ...["--reply-to", `${alice.feedUrl}#:~:text=${readTime(answer)}`, ...bob.network],
  );
  await bob.build();
  await mentioned(alice, "On my way");
  await alice.build();
  await alice.run("message", "list", ...identity, ...alice.network);
  return `/${readTime(answer).slice(0, 4)}/${readName(answer)}/`;
}

const ALT = "A basket of yellow quinces, one with a leaf, on a blue table";

/** Waits for a mention: Bob's server sends it after a build, and Alice's verifies it. */
function mentioned(blog: Blog, text: string): Promise<void> {
  return until(`${blog.nick}'s blog has the mention "${text}"`, async () => {
    const response = await fetch(`${blog.url}/mentions.json`, { signal: AbortSignal.timeout(10_000) });
    return (await response.text()).includes(text);
  });
}

function readName(note: string): string {
  return /(\d{8}-\d{6})\.md$/.exec(note)?.[1] ?? "";
}

/** The timestamp of a note, from the name of its file. */
function readTime(note: string): string {
  return readName(note).replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)$/, "$1-$2-$3T$4:$5:$6Z");
}
