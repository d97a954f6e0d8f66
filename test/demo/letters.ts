// test/demo/letters.ts: two authors exchange private messages, and an impostor claims to be one of them.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { openDatabase } from "../../plugin/store/sqlite-driver.js";
import { type Blog, blog } from "./blog.js";
import { check, show, tell } from "./telling.js";

const QUESTION = "See you at nine?";
const ANSWER = "Nine it is. I bring the bread.";

/** A message as `message list --json` prints it. */
interface Listed {
  id: string;
  address: string | null;
  text: string;
  trust: string;
}

/** Creates an author's key, and configures the blog with the key and an address. The next build publishes both. */
export async function makeAddress(blog: Blog): Promise<void> {
  blog.configure({ address: addressOf(blog), key: await makeKey(blog, "first") });
}

/** The chapter about messages. Requires that both blogs are running and have addresses from {@link makeAddress}. */
export async function letters(alice: Blog, bob: Blog): Promise<void> {
  const hosts = [alice, bob].flatMap(({ url }) => ["--allow-private-host", new URL(url).host]);
  const as = (blog: Blog, key: string) => ["--identity", fileOf(blog, key), ...hosts];
  const message = (blog: Blog, key: string, ...args: string[]) =>
    blog.type(["eleventy-twtxt", "message", ...args, ...as(blog, key)]);
  /** Prints the list of messages. @returns it as JSON, oldest first */
  const listed = async (blog: Blog, key: string): Promise<Listed[]> => {
    await message(blog, key, "list");
    const newestFirst: Listed[] = Array.from(Object(await blog.ask(["message", "list", ...as(blog, key)])));
    return newestFirst.toReversed();
  };

  tell("Alice looks up Bob, and sends him a private message.");
  await alice.type(["eleventy-twtxt", "lookup", addressOf(bob), ...hosts]);
  await message(alice, "first", "send", addressOf(bob), QUESTION);

  tell("He reads it. It is signed with her key.");
  const [question] = await listed(bob, "first");
  check(question?.text === QUESTION && question.trust === "verified", "he reads her message, which is verified");
  await message(bob, "first", "read");

  tell("His host stores only the sealed message.");
  const stored = storedBy(bob);
  check(
    stored.some((text) => text.includes("BEGIN SALTPACK ENCRYPTED MESSAGE")),
    "the host stores the sealed message",
  );
  check(!stored.some((text) => text.includes(QUESTION)), "no file on the host contains its text");

  tell("He answers.");
  await message(bob, "first", "send", addressOf(alice), ANSWER);
  const [answer] = await listed(alice, "first");
  check(answer?.text === ANSWER && answer.trust === "verified", "she reads his reply, which is verified");

  tell("Mallory creates a key, and claims to be Alice.");
  const mallory = blog("mallory", 0, "node", {});
  await makeKey(mallory, "false", addressOf(alice));
  await message(mallory, "false", "send", addressOf(bob), "Leave the key under the mat.");
  const [, forged] = await listed(bob, "first");
  check(forged?.trust === "unverified" && forged.address === addressOf(alice), "the message is shown as unverified");

  tell("Alice changes her key.");
  alice.configure({ address: addressOf(alice), key: await makeKey(alice, "second") });
  await alice.build();
  await message(alice, "second", "send", addressOf(bob), "This is my new key.");
  const fromNewKey = (await listed(bob, "first")).at(-1);
  check(fromNewKey?.trust === "key-changed", "the message is shown as signed with a changed key");

  tell("He asks her over another channel, and accepts the new key.");
  await bob.type(["eleventy-twtxt", "contacts", "accept", addressOf(alice), ...as(bob, "first")]);
  check((await listed(bob, "first")).at(-1)?.trust === "verified", "now the message is verified");

  tell("He deletes the messages.");
  await message(bob, "first", "delete", ...(await listed(bob, "first")).map(({ id }) => id));
  check((await listed(bob, "first")).length === 0, "his inbox is empty");

  tell("His contact page tells readers how to write to him.");
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

/** The address of the author of a blog. */
export function addressOf({ nick, url }: Blog): string {
  return `${nick}@${new URL(url).host}`;
}

/** The contents of all files in the store of a blog's host, and the values in its database. */
export function storedBy({ folder }: Blog): string[] {
  const stores = [join(folder, "data/eleventy-twtxt/sites"), join(folder, ".netlify")];
  const files = stores.flatMap(filesBelow);
  const values = files.filter((file) => basename(file) === "store.db").flatMap(valuesIn);
  return [...values, ...files.map((file) => readFileSync(file, "latin1"))];
}

function valuesIn(file: string): string[] {
  const database = openDatabase(file, { isReadOnly: true });
  const rows = database.prepare("SELECT value FROM entries WHERE value IS NOT NULL").all();
  database.close();
  return rows.map(({ value }) => Buffer.from(value as Uint8Array).toString("latin1"));
}

/** All files in a folder and its subfolders. */
export function filesBelow(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
