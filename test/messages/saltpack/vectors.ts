import { readFileSync } from "node:fs";
import { ed25519 } from "@noble/curves/ed25519.js";
import { noblePrimitives } from "../../../plugin/messages/saltpack/noble-primitives.js";
import type { Primitives } from "../../../plugin/messages/saltpack/primitives.js";
import { type Opened, openBinary, type Sealing, sealInOrder } from "../../../plugin/messages/saltpack/signcryption.js";
import { nodePrimitives } from "../../../plugin/messages/sealing.js";

/** Each runtime's primitives, for `describe.each`. */
export const backends: [string, Primitives][] = [
  ["node:crypto", nodePrimitives],
  ["noble", noblePrimitives],
];

type Text =
  | { utf8: string }
  | { hex: string }
  | { repeat_byte: number; length: number }
  | { rule: { mul: number; mod: number; length: number } };

/** A valid message. */
export interface Vector {
  name: string;
  payload_key?: string;
  ephemeral_x25519_secret?: string;
  sender_ed25519_seed: string | null;
  recipient_ed25519_seeds?: string[];
  plaintext: Text;
  ciphertext_hex?: string;
  ciphertext_sha256?: string;
  armored?: string;
  armored_sha256?: string;
  brand?: string;
}

/** A message with one property changed. */
export interface Surgery {
  name: string;
  surgery: string;
  expect: "accept" | "reject" | "either";
  opener_ed25519_seed: string;
  plaintext_if_accepted: Text;
  sender_if_accepted: string;
  ciphertext_hex?: string;
  armored?: string;
}

const ours = read("signcryption.json");
const reference = read("signcryption-go.json");

export const vectors = [...ours.signcryption, ...reference.signcryption] as Vector[];
export const surgeries = reference.surgery.map((surgery: object) => ({
  ...reference.surgery_defaults,
  ...surgery,
})) as Surgery[];

function read(name: string) {
  return JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), "utf8"));
}

export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function bytesOf(text: Text): Uint8Array {
  if ("utf8" in text) return utf8(text.utf8);
  if ("hex" in text) return hex(text.hex);
  if ("rule" in text) {
    const { mul, mod, length } = text.rule;
    return Uint8Array.from({ length }, (_, index) => (index * mul) % mod);
  }
  return new Uint8Array(text.length).fill(text.repeat_byte);
}

/** Returns copies of the values, in this order. */
export function scripted(...values: Uint8Array[]): () => Uint8Array {
  const left = values.map((value) => new Uint8Array(value));
  return () => left.shift() ?? expectNoMore();
}

function expectNoMore(): never {
  throw new Error("no random bytes are left");
}

/** The keys in the order of the vector. A vector with X25519 keys has the seed 0x02... */
export function recipientsOf({ recipient_ed25519_seeds = ["02".repeat(32)] }: Vector, primitives: Primitives) {
  return recipient_ed25519_seeds.map((seed) => primitives.secretKey(hex(seed)));
}

export const ALICE = hex("01".repeat(32));
export const BOB = hex("02".repeat(32));

type Options = Partial<Pick<Sealing, "sender" | "random"> & { recipients: readonly Uint8Array[] }>;

/** Seals with fixed keys, by default to Bob. */
export function sealed(
  plaintext: Uint8Array,
  primitives: Primitives,
  { sender, recipients, random }: Options = {},
): Uint8Array {
  return sealInOrder(
    plaintext,
    {
      sender: sender ?? primitives.secretKey(ALICE),
      exchangeKeys: exchangeKeysOf(recipients ?? [primitives.secretKey(BOB).publicKey]),
      random: random ?? scripted(new Uint8Array(32).fill(3), new Uint8Array(32).fill(4)),
    },
    primitives,
  );
}

export function exchangeKeysOf(publicKeys: readonly Uint8Array[]): Uint8Array[] {
  return publicKeys.map((key) => ed25519.utils.toMontgomery(key));
}

export function openedByBob(bytes: Uint8Array, primitives: Primitives): Opened {
  return openBinary(bytes, primitives.secretKey(BOB), primitives);
}
