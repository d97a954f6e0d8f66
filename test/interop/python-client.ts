// test/interop/python-client.ts: runs the Python client, written from the documentation, against `eleventy-twtxt serve`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseFeed } from "../../plugin/feed/feed.js";
import { twtHash } from "../../plugin/feed/hash.js";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { formatIdentity } from "../../plugin/keys/identity.js";
import { formatKey } from "../../plugin/keys/key.js";
import { addressOf, fileOf } from "../demo/letters.js";
import { check } from "../demo/telling.js";
import { surgeries } from "../messages/saltpack/vectors.js";
import { awkwardTexts } from "./awkward-texts.js";
import { tryContactPage } from "./contact-page.js";
import { pythonWith } from "./python.js";
import { BOBS_TWTS, type People, type Printed, startBoth } from "./python-people.js";

const PACKAGES = ["msgpack==1.2.4", "PyNaCl==1.6.2"];

const POST = "posts/quinces/";
const PICTURE = Uint8Array.from({ length: 3000 }, (_, index) => index % 251);
const LETTER = "Dear Bob,\nthe quinces are in.\n";
const QUESTION = "See you at nine?\nI bring the bread.";

/** @returns 0; a failure is thrown */
export async function tryPythonClient(): Promise<number> {
  const python = await pythonWith("client", PACKAGES);
  if (python === null) return 0;
  const people = await startBoth(join(python, "bin/python"));
  await messages(people);
  await textsOfMessages(people);
  await damagedMessages(people);
  await inboxes(people);
  await guests(people);
  await tryContactPage(people);
  await ownBlobs(people);
  await sealedBlobs(people);
  await mentions(people);
  await comments(people);
  return 0;
}

async function messages({ alice, bobsAddress, command, asBob }: People): Promise<void> {
  const [sent] = await asBob("send", addressOf(alice), QUESTION);
  const [question] = await command(fileOf(alice, "first"), "message", "list");
  check(question?.text === QUESTION && question.trust === "verified", "Alice reads his message, which is verified");
  check(question?.hash === sent?.hash, "it has the hash that he computed");

  await command(fileOf(alice, "first"), "message", "send", bobsAddress, QUESTION);
  const [answer] = await asBob("read", "--receipts");
  check(answer?.text === QUESTION && answer.verified === true, "Bob reads her message, which is verified");
  const [receipt] = await command(fileOf(alice, "first"), "message", "list");
  check(Object(receipt?.receipts).length === 1, "his read receipt names her message");
}

async function textsOfMessages({ alice, bobsAddress, command, asBob }: People): Promise<void> {
  const texts = Object.entries(awkwardTexts(bobsAddress));
  for (const [, text] of texts) {
    writeFileSync(join(alice.folder, "awkward.txt"), text);
    await asBob("send-raw", "awkward.txt", addressOf(alice), bobsAddress);
  }
  const newest = await command(fileOf(alice, "first"), "message", "list");
  const inCommand = newest.slice(0, texts.length).toReversed().map(essenceOf);
  const inClient = (await asBob("read")).slice(-texts.length).map(essenceOf);
  for (const [index, [name]] of texts.entries()) {
    const essence = inCommand[index];
    check(
      essence !== undefined && essence === inClient[index],
      `both clients read a message with ${name} in the same way`,
    );
  }
}

/** The parts of a message that all clients must read in the same way. */
function essenceOf({ hash, address, text, trust }: Printed): string {
  return JSON.stringify({ hash, address, text, isVerified: trust === "verified" });
}

/** Messages of the reference implementation, each changed in one way. */
async function damagedMessages({ alice, asBob }: People): Promise<void> {
  const cases = surgeries.filter(({ opener_ed25519_seed: seed }) => seed === surgeries[0]?.opener_ed25519_seed);
  const keyFile = "keys/vectors.key";
  const seed = Uint8Array.from(Buffer.from(String(cases[0]?.opener_ed25519_seed), "hex"));
  const text = formatIdentity(seed, { address: "opener@vectors.example", created: null });
  writeFileSync(join(alice.folder, keyFile), text, { mode: 0o600 });
  const files = cases.map(({ ciphertext_hex: bytes, armored = "" }, index) => {
    writeFileSync(join(alice.folder, `${index}.sealed`), bytes === undefined ? armored : Buffer.from(bytes, "hex"));
    return `${index}.sealed`;
  });
  const opened = await asBob("--identity", keyFile, "try-open", ...files);
  for (const [index, { name, expect }] of cases.entries()) {
    const isOpen = opened[index]?.signer !== undefined;
    check(
      expect === "either" || isOpen === (expect === "accept"),
      `his client ${isOpen ? "opens" : "refuses"} ${name}`,
    );
  }
}

async function inboxes({ bobsKeyFile, command, asBob }: People): Promise<void> {
  const listed = await asBob("read", "--limit", "3");
  const inCommand = (await command(bobsKeyFile, "message", "list")).toReversed();
  const ids = (list: Printed[]) => JSON.stringify(list.map(({ id }) => id));
  check(ids(listed) === ids(inCommand), "the command reads Bob's inbox with the identity file that his client wrote");
  const [first, second] = listed;
  const [deleted] = await asBob("delete", String(first?.id));
  const [again] = await asBob("delete", String(first?.id));
  check(deleted?.deleted === true && again?.deleted === false, "he deletes a message, once");
  check((await asBob("read", "--limit", "3"))[0]?.id === second?.id, "the next one is now the first");
}

/** A guest needs no host and no registration: the address is the key, at Alice's blog. */
async function guests({ alice, command, asBob }: People): Promise<void> {
  const seed = new Uint8Array(32).fill(9);
  const address = `${formatKey(toSecretKey(seed).publicKey)}@${new URL(alice.url).host}`;
  const keyFile = "keys/guest.key";
  writeFileSync(join(alice.folder, keyFile), formatIdentity(seed, { address, created: null }), { mode: 0o600 });
  await asBob("--identity", keyFile, "send", addressOf(alice), QUESTION);
  const [question] = await command(fileOf(alice, "first"), "message", "list");
  check(
    question?.guest === true && question.trust === "verified",
    "Alice reads a guest's message from his client, which is verified",
  );
  await command(fileOf(alice, "first"), "message", "reply", String(question?.id), LETTER);
  const [answer] = await asBob("--identity", keyFile, "read");
  check(
    answer?.text === LETTER.trim() && answer.verified === true,
    "the guest reads her reply with it, which is verified",
  );
}

async function ownBlobs({ alice, command, asBob }: People): Promise<void> {
  writeFileSync(join(alice.folder, "picture.png"), PICTURE);
  const [put] = await asBob("put", "picture.png", "--type", "image/png", "--key", "picture.png");
  check(put?.shared === null && put.key === "picture.png", "Bob stores a private blob");
  await asBob("get", "picture.png", "-o", "own.png");
  check(readFileSync(join(alice.folder, "own.png")).equals(PICTURE), "he reads it back unchanged");
  const [shared] = await asBob("share", "picture.png");
  await command(fileOf(alice, "first"), "blob", "get", String(shared?.shared), "-o", "from-bob.png");
  const isSame = readFileSync(join(alice.folder, "from-bob.png")).equals(PICTURE);
  check(isSame, "he shares it; Alice gets the same bytes with a valid proof");
  await asBob("get", String(shared?.shared), "-o", "shared.png");
  check(readFileSync(join(alice.folder, "shared.png")).equals(PICTURE), "his client gets it by its link");
  await asBob("put", "own.png");
  check((await asBob("blobs", "--limit", "1")).length === 2, "he lists his two blobs, page by page");
  await asBob("unshare", "picture.png");
  check((await fetch(String(shared?.shared))).status === 404, "it is private again: 404 for everyone else");
  await asBob("remove", "picture.png");
  check((await asBob("blobs")).length === 1, "he deletes it");
}

async function sealedBlobs({ alice, bobsAddress, command, asBob }: People): Promise<void> {
  writeFileSync(join(alice.folder, "letter.txt"), LETTER);
  const [put] = await asBob("put", "letter.txt", "--type", "text/plain", "--public", "--to", addressOf(alice));
  await command(fileOf(alice, "first"), "blob", "get", String(put?.shared), "-o", "to-alice.txt");
  check(
    readFileSync(join(alice.folder, "to-alice.txt"), "utf8") === LETTER,
    "Alice opens the file that he sealed for her",
  );
  await asBob("get", String(put?.key), "-o", "own-letter.txt");
  check(readFileSync(join(alice.folder, "own-letter.txt"), "utf8") === LETTER, "he can open it, too");

  const sealing = ["blob", "put", "letter.txt", "--public", "--encrypt", "--to", bobsAddress];
  const [sealed] = await command(fileOf(alice, "first"), ...sealing);
  const [opened] = await asBob("get", String(sealed?.shared), "-o", "to-bob.txt");
  check(
    readFileSync(join(alice.folder, "to-bob.txt"), "utf8") === LETTER,
    "Bob opens the file that she sealed for him",
  );
  check(
    opened?.filename === "letter.txt" && opened.signer === opened.owner,
    "he sees its name, and that its owner has sealed it",
  );
}

async function mentions({ alice, bobsHost, asBob }: People): Promise<void> {
  const sources = BOBS_TWTS.map((time) => `http://${bobsHost}/twtxt.txt#:~:text=${time}`);
  for (const source of sources) {
    const [answer] = await asBob("mention", source, alice.feedUrl);
    check(answer?.status === 200, "Alice's blog verifies and stores the mention");
  }
  const listed = await asBob("mentions", alice.url, "--limit", "1");
  const isListed = JSON.stringify(listed.map(({ source }) => source)) === JSON.stringify(sources.toReversed());
  check(isListed, "he lists both, newest first, page by page");
}

async function comments({ alice, asBob }: People): Promise<void> {
  const post = `${alice.url}/${POST}`;
  const [sent] = await asBob("comment", post, "What a harvest!", "--name", "Bob");
  check(sent?.state === "held", "Bob comments on Alice's post; it waits for her approval");
  await asBob("comment", post, "What a harvest this was!", "--name", "Bob", "--replace", String(sent?.id));
  await alice.type(["eleventy-twtxt", "mentions", "approve", String(sent?.id), "--identity", fileOf(alice, "first")]);
  const [own] = await asBob("comments");
  check(own?.state === "shown" && own.text === "What a harvest this was!", "she approves what he has edited");
  const [shown] = await asBob("mentions", alice.url, "--limit", "1");
  check(shown?.hash === own?.hash && Object(shown?.author).guest === true, "the list of mentions has it, by a guest");

  const [answer] = await asBob("comment", post, "Ten jars?", "--reply-to", String(own?.hash));
  check(answer?.state === "shown", "he answers it, and is trusted now");
  const feed = await (await fetch(String(Object(shown?.author).url))).text();
  const [first, second] = parseFeed(feed).twts;
  check(second?.subject === own?.hash, "his feed at her site has both, the second as an answer to the first");
  check(
    twtHash(String(Object(shown?.author).url), first ?? { timestamp: "", text: "" }) === own?.hash,
    "with the hash that the list names",
  );
  await asBob("delete-own-comment", String(answer?.id));
  check((await asBob("comments")).length === 1, "he deletes the second");
}
