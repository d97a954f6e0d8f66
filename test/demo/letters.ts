// test/demo/letters.ts: two people write to each other in private, and somebody tries to pass for one of them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Blog, blog } from "./blog.js";
import { check, show, tell } from "./telling.js";

const QUESTION = "See you at nine?";
const ANSWER = "Nine it is. I bring the bread.";

/** What `message list --json` says of one. */
interface Listed {
  id: string;
  address: string | null;
  text: string;
  trust: string;
}

/** Makes somebody's key, and gives the site its address: its next build publishes them. */
export async function makeAddress(blog: Blog): Promise<void> {
  blog.configure({ address: addressOf(blog), key: await makeKey(blog, "first") });
}

/** The chapter of the story. Both blogs are served, with the addresses of {@link makeAddress}. */
export async function letters(alice: Blog, bob: Blog): Promise<void> {
  const hosts = [alice, bob].flatMap(({ url }) => ["--allow-private-host", new URL(url).host]);
  const as = (blog: Blog, key: string) => ["--identity", fileOf(blog, key), ...hosts];
  const message = (blog: Blog, key: string, ...args: string[]) =>
    blog.type(["eleventy-twtxt", "message", ...args, ...as(blog, key)]);
  /** Looks at the list, as a person and as a program. */
  const listed = async (blog: Blog, key: string): Promise<Listed[]> => {
    await message(blog, key, "list");
    return Array.from(Object(await blog.ask(["message", "list", ...as(blog, key)])));
  };

  tell("Alice looks Bob up, and writes to him in private.");
  await alice.type(["eleventy-twtxt", "lookup", addressOf(bob), ...hosts]);
  await message(alice, "first", "send", addressOf(bob), QUESTION);

  tell("He reads it: the key that has signed it is hers.");
  const [question] = await listed(bob, "first");
  check(question?.text === QUESTION && question.trust === "verified", "he reads what she wrote, verified");
  await message(bob, "first", "read");

  tell("His host has it sealed, and nothing else.");
  const stored = filesBelow(join(bob.folder, "data/eleventy-twtxt/sites")).concat(
    filesBelow(join(bob.folder, ".netlify")),
  );
  const texts = stored.map((file) => readFileSync(file, "latin1"));
  check(
    texts.some((text) => text.includes("BEGIN SALTPACK ENCRYPTED MESSAGE")),
    "the sealed message is there",
  );
  check(!texts.some((text) => text.includes(QUESTION)), "what it says is nowhere");

  tell("He answers.");
  await message(bob, "first", "send", addressOf(alice), ANSWER);
  const [answer] = await listed(alice, "first");
  check(answer?.text === ANSWER && answer.trust === "verified", "she reads his answer, verified");

  tell("Somebody else makes a key too, and says to be Alice.");
  const mallory = blog("mallory", 0, "node", {});
  await makeKey(mallory, "false", addressOf(alice));
  await message(mallory, "false", "send", addressOf(bob), "Leave the key under the mat.");
  const [, forged] = await listed(bob, "first");
  check(forged?.trust === "unverified" && forged.address === addressOf(alice), "it shows as unverified");

  tell("Alice takes a new key.");
  alice.configure({ address: addressOf(alice), key: await makeKey(alice, "second") });
  await alice.build();
  await message(alice, "second", "send", addressOf(bob), "This is my new key.");
  const fromNewKey = (await listed(bob, "first")).at(-1);
  check(fromNewKey?.trust === "key-changed", "it shows that her key has changed");

  tell("He asks her by another way, and accepts it.");
  await bob.type(["eleventy-twtxt", "contacts", "accept", addressOf(alice), ...as(bob, "first")]);
  check((await listed(bob, "first")).at(-1)?.trust === "verified", "now it is verified");

  tell("He has read them all, and deletes them.");
  await message(bob, "first", "delete", ...(await listed(bob, "first")).map(({ id }) => id));
  check((await listed(bob, "first")).length === 0, "his inbox is empty");
  tell("Whoever reads his blog finds out how to write to him.");
  const [, page = ""] =
    /<main>([\s\S]*)<\/main>/.exec(readFileSync(join(bob.folder, "_site/contact/index.html"), "utf8")) ?? [];
  show(`${bob.url}/contact/`, page);
}

/** @returns the public key */
export async function makeKey(blog: Blog, name: string, address = addressOf(blog)): Promise<string> {
  return (await blog.type(["eleventy-twtxt", "keys", "create", address, "--file", fileOf(blog, name)])).trim();
}

export function fileOf({ nick }: Blog, key: string): string {
  return `keys/${nick}-${key}.key`;
}

/** By which others write to whoever has this blog. */
export function addressOf({ nick, url }: Blog): string {
  return `${nick}@${new URL(url).host}`;
}

/** All files in a folder and in those below it. */
export function filesBelow(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
