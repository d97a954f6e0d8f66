// test/interop/saltpack.ts: exchanges sealed messages with the reference implementation in Go and an npm package, in both directions.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { goPeer, type Identity, identityOf, npmPeer, ours, type Peer } from "./saltpack/peers.js";
import { startReference } from "./saltpack/reference.js";

const failed = fileURLToPath(new URL("../../.cache/interop", import.meta.url));

const MANY = { small: 1000, large: 10 };
/** The npm package does a key exchange in JavaScript for each recipient of a message. */
const FEW = { small: 40, large: 2 };
const MOST_RECIPIENTS = 20;
const IDENTITIES = 32;
const KIB = 1024;
const MIB = 1024 * KIB;

interface Trial {
  number: number;
  plaintext: Uint8Array;
  sender: Identity;
  recipients: Identity[];
  opener: Identity;
  isArmored: boolean;
}

/**
 * Seals with one implementation and opens with another, in both directions.
 *
 * @param seed - determines the messages
 * @returns the number of messages that did not arrive unchanged
 */
export async function tryMessages(seed: string): Promise<number> {
  const few = () => trials(seed, FEW, 1);
  // At least 1 byte: for an empty text, the npm package writes a message without packets.
  let failures = (await tryAll(ours, npmPeer, few())) + (await tryAll(npmPeer, ours, few()));

  const folder = mkdtempSync(join(tmpdir(), "twtxt-saltpack-"));
  try {
    const reference = await startReference(folder);
    if (reference === null) {
      console.log("SKIPPED: the reference implementation of saltpack. Go is not installed.");
      return failures;
    }
    const peer = goPeer(reference);
    failures += await tryAll(ours, peer, trials(seed, MANY, 0));
    failures += await tryAll(peer, ours, trials(seed, MANY, 0));
    reference.close();
    return failures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryAll(from: Peer, to: Peer, all: Iterable<Trial>): Promise<number> {
  let [count, failures, bytes] = [0, 0, 0];
  for (const trial of all) {
    count += 1;
    bytes += trial.plaintext.length;
    const fault = await faultOf(from, to, trial);
    if (fault === null) continue;
    failures += 1;
    const { number, plaintext, recipients, isArmored } = trial;
    const form = isArmored ? "armored" : "binary";
    console.log(`message ${number}, ${form}, ${plaintext.length} bytes to ${recipients.length} recipients: ${fault}`);
  }
  const size = `${(bytes / MIB).toFixed(1)} MiB`;
  console.log(`${from.name} to ${to.name}: ${count - failures} of ${count} messages arrived unchanged, ${size}.`);
  return failures;
}

async function faultOf(from: Peer, to: Peer, trial: Trial): Promise<string | null> {
  let message: Uint8Array | undefined;
  try {
    message = await from.seal(trial);
    const { plaintext, sender } = await to.open({ ...trial, message });
    if (Buffer.compare(plaintext, trial.plaintext) !== 0) throw new Error("the text is different");
    if (Buffer.compare(sender, trial.sender.publicKey) !== 0) throw new Error("the sender is different");
    return null;
  } catch (error) {
    return `${error}${message ? `; saved as ${keep(message, `${from.name}-${trial.number}`)}` : ""}`;
  }
}

/** Saves a message, because sealing uses random keys and the seed does not reproduce it. */
function keep(message: Uint8Array, name: string): string {
  mkdirSync(failed, { recursive: true });
  const file = join(failed, `${name}.saltpack`);
  writeFileSync(file, message);
  return file;
}

/** Each trial depends only on the seed and its number. */
function* trials(seed: string, count: { small: number; large: number }, leastBytes: number): Generator<Trial> {
  const identities = Array.from({ length: IDENTITIES }, (_, index) => identityOf(drawn(`${seed} key ${index}`, 32)));
  for (let number = 0; number < count.small + count.large; number += 1) {
    const fractions = new Uint32Array(drawn(`${seed} trial ${number}`, 4 * (3 + IDENTITIES)).buffer);
    const [size = 0, many = 0, who = 0, ...order] = Array.from(fractions, (integer) => integer / 2 ** 32);
    const shuffled = identities.toSorted(
      (a, b) => (order[identities.indexOf(a)] ?? 0) - (order[identities.indexOf(b)] ?? 0),
    );
    const recipients = shuffled.slice(0, 1 + Math.floor(many * MOST_RECIPIENTS));
    const [opener, sender] = [recipients.at(-1), identities[Math.floor(who * IDENTITIES)]];
    if (!opener || !sender) throw new Error("A trial must have a sender and a recipient.");
    const length = number < count.small ? logUniform(size, leastBytes, 64 * KIB) : Math.floor((1 + 2 * size) * MIB);
    const plaintext = drawn(`${seed} text ${number}`, length);
    yield { number, plaintext, sender, recipients, opener, isArmored: number % 2 === 1 };
  }
}

function logUniform(fraction: number, least: number, most: number): number {
  return least - 1 + Math.floor((most - least + 2) ** fraction);
}

function drawn(name: string, length: number): Uint8Array {
  if (length === 0) return new Uint8Array();
  return new Uint8Array(createHash("shake256", { outputLength: length }).update(name).digest());
}
