// test/interop/contact-page.ts: a browser at the contact page, the Python client and the reference in Go open each other's messages.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { parseIdentityFile } from "../../plugin/keys/identity-file.js";
import { parseKey } from "../../plugin/keys/key.js";
import { ContactReader, type ShownAnswer } from "../demo/contact-reader.js";
import { addressOf, fileOf } from "../demo/letters.js";
import { check, tell } from "../demo/telling.js";
import type { People, Printed } from "./python-people.js";
import { goPeer, type Identity, identityOf, type Peer } from "./saltpack/peers.js";
import { startReference } from "./saltpack/reference.js";

const NAME = "Dana Ångström";
const QUESTION = "Do you sell quinces?\nI would take ten. 🍐";
const ANSWER = "From October on.\nCome by any morning. 🌅";
const GO_ANSWER = "The first ones are here.";
/** The number of mutated copies; fewer than the messages that a guest's inbox can store. */
const MUTATIONS = 60;

/** The reader's address, and the message that the browser sent. */
interface Guest {
  address: string;
  sealed: string;
}

/** A reader writes from the contact page of Alice's blog. Alice replies with the Python client, an impostor replies, and so does Go. */
export async function tryContactPage(people: People): Promise<void> {
  const { alice } = people;
  tell("A reader writes to Alice from her contact page. Alice uses the Python client.");
  const reader = await ContactReader.open(`${alice.url}/contact/`, addressOf(alice));
  if (reader === null) return;
  try {
    const guest = await sendQuestion(people, reader);
    await sendAnswer(people, reader, guest);
    await forgeAnswer(people, reader, guest);
    await mutateAnswer(people, reader, guest);
    await exchangeWithGo(people, reader, guest);
  } finally {
    await reader.close();
  }
}

async function sendQuestion(people: People, reader: ContactReader): Promise<Guest> {
  const sealed = await reader.write(QUESTION, NAME);
  const message = (await asAlice(people, "read")).at(-1);
  check(
    message?.text === QUESTION && message.name === NAME,
    "Python reads the text and the name of the browser's message",
  );
  const address = String(message?.address);
  const isGuest = /^kex1[02-9ac-hj-np-z]{58}@/.test(address) && message?.verified === true;
  check(isGuest && address.endsWith(addressOf(people.alice).replace(/.*@/, "@")), "it is signed with the guest's key");
  return { address, sealed };
}

async function sendAnswer(people: People, reader: ContactReader, { address }: Guest): Promise<void> {
  await asAlice(people, "send", address, ANSWER);
  check(isAlices((await reader.answers(1))[0], ANSWER), "the open page shows the reply that Python sealed");
  await reader.reload();
  check(isAlices((await reader.answers(1))[0], ANSWER), "it shows the reply after a reload");
}

/** Bob is another author of the blog, so the site accepts his messages to its guests. */
async function forgeAnswer({ alice, asBob }: People, reader: ContactReader, { address }: Guest): Promise<void> {
  const text = "Send the money to Bob.";
  writeFileSync(join(alice.folder, "forged.txt"), plaintextOf(addressOf(alice), text));
  await asBob("send-raw", "forged.txt", address);
  const forged = (await reader.answers(2)).at(-1);
  const isMarked = forged?.note === `Not signed with the key of ${addressOf(alice)}.`;
  check(forged?.text === text && isMarked, "a reply in Alice's name, signed with Bob's key, is marked as not hers");
}

/** Delivers a reply and copies of it, each with a flipped bit. */
async function mutateAnswer(people: People, reader: ContactReader, { address }: Guest): Promise<void> {
  const { folder } = people.alice;
  writeFileSync(join(folder, "answer.txt"), plaintextOf(addressOf(people.alice), ANSWER));
  await asAlice(people, "seal-raw", "answer.txt", address, "-o", "answer.sealed");
  const sealed = readFileSync(join(folder, "answer.sealed"));
  const files = Array.from({ length: MUTATIONS }, (_, index) => {
    const mutated = Buffer.from(sealed);
    const position = Math.floor((index * sealed.length) / MUTATIONS);
    mutated.writeUInt8(mutated.readUInt8(position) ^ 1, position);
    writeFileSync(join(folder, `mutated-${index}.sealed`), mutated);
    return `mutated-${index}.sealed`;
  });
  const before = (await reader.answers(1)).length;
  const results = await asAlice(people, "try-deliver", address, "answer.sealed", ...files);
  const refused = results.filter(({ error }) => String(error).includes("400 bad-message"));
  const stored = results.filter(({ delivered }) => delivered === true);
  const [intact, ...shown] = (await reader.answers(before + stored.length)).slice(before);
  const isUnreadable = shown.every(({ text, note }) => text === "" && note === "This message cannot be opened.");
  check(isAlices(intact, ANSWER), "the page shows her intact reply");
  check(
    shown.length > 0 && shown.length + refused.length === MUTATIONS,
    `of ${MUTATIONS} copies with a flipped bit, the site refuses ${refused.length} and stores ${shown.length}`,
  );
  check(isUnreadable, "the page cannot open any of the copies");
}

/** The reference implementation of saltpack opens the browser's message, and the browser opens its reply. */
async function exchangeWithGo(people: People, reader: ContactReader, guest: Guest): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-saltpack-"));
  try {
    const reference = await startReference(folder);
    if (reference === null)
      return console.log("SKIPPED: the reference implementation of saltpack at the contact page. Go is not installed.");
    const { alice } = people;
    const text = readFileSync(join(alice.folder, fileOf(alice, "first")), "utf8");
    const key = identityOf(parseIdentityFile(text, "The key", toSecretKey).seed);
    const go = goPeer(reference);
    await openWithGo(go, key, guest);
    await answerWithGo(go, key, { people, reader, guest });
    reference.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openWithGo(go: Peer, opener: Identity, { address, sealed }: Guest): Promise<void> {
  const { plaintext, sender } = await go.open({ message: Buffer.from(sealed), opener, isArmored: true });
  const lines = Buffer.from(plaintext).toString().split("\n");
  const text = `\t(${address})\t${QUESTION.replace("\n", "\u2028")}`;
  const isSame = lines.some((line) => line.endsWith(text)) && lines.includes(`# name: ${NAME}`);
  check(isSame, "Go opens the browser's message");
  check(Buffer.compare(sender, keyOf(address)) === 0, "Go verifies that the message is signed with the guest's key");
}

async function answerWithGo(
  go: Peer,
  sender: Identity,
  { people, reader, guest: { address } }: { people: People; reader: ContactReader; guest: Guest },
): Promise<void> {
  const { alice } = people;
  const plaintext = Buffer.from(plaintextOf(addressOf(alice), GO_ANSWER));
  const recipients = [{ publicKey: keyOf(address) }];
  writeFileSync(join(alice.folder, "go.sealed"), await go.seal({ plaintext, sender, recipients, isArmored: false }));
  const count = (await reader.answers(1)).length;
  const [delivery] = await asAlice(people, "try-deliver", address, "go.sealed");
  check(delivery?.delivered === true, "the site accepts a reply that Go sealed");
  check(isAlices((await reader.answers(count + 1)).at(-1), GO_ANSWER), "the page shows it as Alice's");
}

/** Runs the Python client with Alice's key. */
function asAlice({ alice, asBob }: People, ...args: string[]): Promise<Printed[]> {
  return asBob("--identity", fileOf(alice, "first"), ...args);
}

function isAlices(shown: ShownAnswer | undefined, text: string): boolean {
  return shown?.text === text && shown.note === null;
}

function plaintextOf(from: string, text: string): string {
  return `${new Date().toISOString().slice(0, 19)}Z\t(${from})\t${text.replaceAll("\n", "\u2028")}\n`;
}

function keyOf(address: string): Uint8Array {
  return parseKey(address.replace(/@.*/, ""));
}
