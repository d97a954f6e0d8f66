// test/bench/sealed.ts: the common workload of the message benchmarks.
import { randomBytes } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import * as npm from "@samuelthomas2774/saltpack";
import { sealInOrder } from "../../plugin/messages/saltpack/signcryption.js";
import { nodePrimitives } from "../../plugin/messages/sealing.js";
import type { Question } from "../interop/saltpack/reference.js";

type Ours = typeof import("../../plugin/messages/index.js");

/** The repeated work. Throws if the result is wrong. */
export type Work = () => unknown;

export interface Case {
  name: string;
  /** Size of the plaintext or the binary form, if the speed is given in MB/s. */
  bytes?: number;
  ours: Work;
  npm?: Work;
  go?: Omit<Question, "measure">;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const SIZES = [
  { size: "1 KiB", bytes: KIB },
  { size: "1 MiB", bytes: MIB },
];
const MOST_RECIPIENTS = 64;
const BOGUS_RECIPIENTS = 1000;
/** More recipients than `seal` caches. */
const NEW_RECIPIENTS = 200;

/** A key in the forms of the three implementations. */
interface Identity {
  seed: Uint8Array;
  publicKey: Uint8Array;
  /** The seed, then the public key. */
  secretKey: Uint8Array;
  exchange: { publicKey: Uint8Array; secretKey: Uint8Array };
}

export function casesOf(ours: Ours): Case[] {
  const [alice, bob] = [identity(), identity()];
  const small = new Uint8Array(randomBytes(KIB));
  const toBob = { sender: alice.secretKey, recipients: [bob.publicKey] };
  return [
    ...SIZES.flatMap((size) => [false, true].flatMap((armored) => sealedCases(ours, alice, bob, size, armored))),
    ...armorCases(ours),
    {
      name: "seal 1 KiB, the key not prepared",
      ours: () => ours.seal(small, toBob),
    },
    newRecipientCase(ours, alice, small),
    {
      name: "open 1 KiB, the key not prepared",
      ours: opening(ours, ours.seal(small, toBob), bob.secretKey, KIB),
    },
    crowdedCase(ours, alice, bob, small),
    bogusCase(ours, bob),
  ];
}

function sealedCases(
  ours: Ours,
  alice: Identity,
  bob: Identity,
  { size, bytes }: { size: string; bytes: number },
  armored: boolean,
): Case[] {
  const plaintext = new Uint8Array(randomBytes(bytes));
  const sender = ours.secretKey(alice.secretKey);
  const options = { sender, recipients: [bob.publicKey] };
  const seal = () => (armored ? ours.seal(plaintext, { ...options, armor: true }) : ours.seal(plaintext, options));
  const message = seal();
  const [kind, throughput] = [`${size}, ${armored ? "armored" : "binary"}`, bytes === MIB ? { bytes } : {}];
  const npmSeal = armored ? npm.signcryptAndArmor : npm.signcrypt;
  const input = typeof message === "string" ? utf8(message) : message;
  return [
    {
      name: `seal ${kind}`,
      ...throughput,
      ours: seal,
      npm: () => npmSeal(plaintext, alice, [bob.exchange.publicKey]),
      go: { do: "seal", sender: alice.seed, recipients: [bob.publicKey], input: plaintext, armored },
    },
    {
      name: `open ${kind}`,
      ...throughput,
      ours: opening(ours, message, ours.secretKey(bob.secretKey), bytes),
      npm: npmOpening(message, bob, bytes),
      go: { do: "open", key: bob.seed, input, armored },
    },
  ];
}

function armorCases(ours: Ours): Case[] {
  const bytes = new Uint8Array(randomBytes(MIB));
  const text = ours.armor(bytes);
  return [
    {
      name: "armor 1 MiB",
      bytes: MIB,
      ours: () => ours.armor(bytes),
      npm: () => npm.armor(bytes, { message_type: npm.MessageType.SIGNCRYPTION }),
      go: { do: "armor", input: bytes },
    },
    {
      name: "dearmor 1 MiB",
      bytes: MIB,
      ours: () => ours.dearmor(text),
      npm: () => npm.dearmor(text),
      go: { do: "dearmor", input: utf8(text) },
    },
  ];
}

function newRecipientCase(ours: Ours, alice: Identity, plaintext: Uint8Array): Case {
  const sender = ours.secretKey(alice.secretKey);
  const keys = Array.from({ length: NEW_RECIPIENTS }, () => identity().publicKey);
  let index = 0;
  return {
    name: "seal 1 KiB, a new recipient each time",
    ours: () => {
      index = (index + 1) % NEW_RECIPIENTS;
      return ours.seal(plaintext, { sender, recipients: keys.slice(index, index + 1) });
    },
  };
}

/** Unlike `seal`, this does not shuffle the recipients. */
function crowdedCase(ours: Ours, alice: Identity, bob: Identity, plaintext: Uint8Array): Case {
  const others = Array.from({ length: MOST_RECIPIENTS - 1 }, () => identity().exchange.publicKey);
  const message = sealInOrder(
    plaintext,
    { sender: ours.secretKey(alice.secretKey), exchangeKeys: [...others, bob.exchange.publicKey], random: randomBytes },
    nodePrimitives,
  );
  return {
    name: `open 1 KiB, the last of ${MOST_RECIPIENTS} recipients`,
    ours: opening(ours, message, ours.secretKey(bob.secretKey), plaintext.length),
    npm: npmOpening(message, bob, plaintext.length),
    go: { do: "open", key: bob.seed, input: message },
  };
}

function bogusCase(ours: Ours, bob: Identity): Case {
  const message = bogusMessage();
  const key = ours.secretKey(bob.secretKey);
  return {
    name: `refuse ${BOGUS_RECIPIENTS.toLocaleString("en")} bogus recipients`,
    ours: () => {
      try {
        ours.open(message, { key });
      } catch (error) {
        if (error instanceof ours.TwtxtError && error.code === "bad-message") return;
        throw error;
      }
      isAccepted();
    },
    npm: () => npm.designcrypt(message, bob.exchange).then(isAccepted, () => {}),
    go: { do: "open", key: bob.seed, input: message },
  };
}

function isAccepted(): never {
  throw new Error("A message with too many recipients was accepted.");
}

function opening(
  ours: Ours,
  message: Uint8Array | string,
  key: Parameters<Ours["open"]>[1]["key"],
  bytes: number,
): Work {
  return () => {
    const { plaintext } = ours.open(message, { key });
    if (plaintext.length !== bytes) throw new Error("Our package opened a message to the wrong text.");
  };
}

function npmOpening(message: Uint8Array | string, { exchange }: Identity, bytes: number): Work {
  return async () => {
    const opened: Uint8Array =
      typeof message === "string"
        ? await npm.dearmorAndDesigncrypt(message, exchange)
        : await npm.designcrypt(message, exchange);
    if (opened.length !== bytes) throw new Error("The npm package opened a message to the wrong text.");
  };
}

function identity(): Identity {
  const seed = new Uint8Array(randomBytes(32));
  const publicKey = ed25519.getPublicKey(seed);
  const exchange = {
    publicKey: ed25519.utils.toMontgomery(publicKey),
    secretKey: ed25519.utils.toMontgomerySecret(seed),
  };
  return { seed, publicKey, secretKey: Uint8Array.of(...seed, ...publicKey), exchange };
}

/** A well-formed message with too many recipients, all random. */
function bogusMessage(): Uint8Array {
  const array = (length: number) => Buffer.of(0x90 | length);
  const bin = (bytes: Uint8Array) => Buffer.concat([Buffer.of(0xc4, bytes.length), bytes]);
  const pairs = Array.from({ length: BOGUS_RECIPIENTS }, () => [array(2), bin(randomBytes(32)), bin(randomBytes(48))]);
  const header = Buffer.concat([
    array(6),
    Buffer.from("\xa8saltpack", "latin1"),
    array(2),
    Buffer.of(2, 0, 3),
    bin(identity().exchange.publicKey),
    bin(randomBytes(48)),
    Buffer.of(0xdc, BOGUS_RECIPIENTS >> 8, BOGUS_RECIPIENTS & 0xff),
    ...pairs.flat(),
  ]);
  const head = Buffer.from([0xc6, 0, 0, 0, 0]);
  head.writeUInt32BE(header.length, 1);
  return new Uint8Array(Buffer.concat([head, header, array(2), bin(randomBytes(80)), Buffer.of(0xc3)]));
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
