import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { armor, dearmor } from "../../../plugin/messages/saltpack/armor.js";
import type { Primitives } from "../../../plugin/messages/saltpack/primitives.js";
import { openBinary, sealInOrder } from "../../../plugin/messages/saltpack/signcryption.js";
import { sealedBytes } from "../../../plugin/messages/sealed-bytes.js";
import {
  backends,
  bytesOf,
  exchangeKeysOf,
  hex,
  recipientsOf,
  type Surgery,
  scripted,
  surgeries,
  type Vector,
  vectors,
} from "./vectors.js";

const OURS_REFUSES = ["anonymous-sender", "node-symmetric-recipient"];
const good = vectors.filter(({ name }) => !OURS_REFUSES.includes(name));
const sha256 = (data: Uint8Array | string) => createHash("sha256").update(data).digest("hex");

function sealAgain(vector: Vector, primitives: Primitives): Uint8Array {
  const { payload_key = "", ephemeral_x25519_secret = "", sender_ed25519_seed, plaintext } = vector;
  return sealInOrder(
    bytesOf(plaintext),
    {
      sender: primitives.secretKey(hex(sender_ed25519_seed ?? "")),
      exchangeKeys: exchangeKeysOf(recipientsOf(vector, primitives).map(({ publicKey }) => publicKey)),
      random: scripted(hex(payload_key), hex(ephemeral_x25519_secret)),
    },
    primitives,
  );
}

/** The message in the file, which has the hashes of large ones only. */
function storedMessage({ ciphertext_hex: bytes, armored = "" }: Vector): Uint8Array {
  return bytes ? hex(bytes) : dearmor(armored);
}

describe.each(backends)("the vectors on %s", (_name, primitives) => {
  it.each(good)("are reproduced byte for byte, and open for every recipient: $name", (vector) => {
    const message = vector.payload_key === undefined ? storedMessage(vector) : sealAgain(vector, primitives);
    if (vector.ciphertext_sha256) expect(sha256(message)).toBe(vector.ciphertext_sha256);
    else expect(message).toEqual(storedMessage(vector));
    if (vector.armored_sha256) expect(sha256(armor(message))).toBe(vector.armored_sha256);
    const sender = primitives.secretKey(hex(vector.sender_ed25519_seed ?? "")).publicKey;
    for (const key of recipientsOf(vector, primitives)) {
      const opened = openBinary(message, key, primitives);
      expect(opened.sender).toEqual(sender);
      expect(sha256(opened.plaintext)).toBe(sha256(bytesOf(vector.plaintext)));
    }
  });

  it.each([
    ["anonymous-sender", "not-authentic"],
    ["node-symmetric-recipient", "not-a-recipient"],
  ])("are refused if the format allows more than this project: %s", (name, code) => {
    const vector = vectors.find((one) => one.name === name);
    if (!vector) throw new Error(`no vector ${name}`);
    const [key] = recipientsOf(vector, primitives);
    if (!key) throw new Error("no recipient");
    expect(() => openBinary(storedMessage(vector), key, primitives)).toThrow(expect.objectContaining({ code }));
  });
});

describe("the vectors", () => {
  const armored = good.filter((vector) => vector.armored !== undefined && vector.ciphertext_hex !== undefined);

  it.each(armored)("dearmor to their binary form: $name", ({ armored: text = "", ciphertext_hex: bytes = "" }) => {
    expect(dearmor(text)).toEqual(hex(bytes));
  });
});

const CODES = ["bad-armor", "bad-message", "not-a-recipient", "not-authentic"];

function open({ opener_ed25519_seed, armored, ciphertext_hex = "" }: Surgery, primitives: Primitives) {
  const bytes = armored === undefined ? hex(ciphertext_hex) : dearmor(armored);
  return openBinary(bytes, primitives.secretKey(hex(opener_ed25519_seed)), primitives);
}

describe.each(backends)("surgery on %s", (_name, primitives) => {
  it.each(surgeries.filter(({ expect: outcome }) => outcome === "reject"))(
    "is refused: $name ($surgery)",
    (surgery) => {
      expect(() => open(surgery, primitives)).toThrow(
        expect.objectContaining({ code: expect.toSatisfy((code) => CODES.includes(code)) }),
      );
    },
  );

  // Vectors that allow both outcomes recommend opening, as this project does.
  it.each(surgeries.filter(({ expect: outcome }) => outcome !== "reject"))("opens: $name ($surgery)", (surgery) => {
    expect(open(surgery, primitives)).toEqual({
      plaintext: bytesOf(surgery.plaintext_if_accepted),
      sender: hex(surgery.sender_if_accepted),
    });
  });
});

/** Faults that cannot be detected without a key. */
const HIDDEN = [
  "packets-swapped",
  "packet-duplicated",
  "packet-dropped",
  "header-bit-flipped",
  "anonymous-sender",
  "sender-secretbox-corrupted",
  "not-a-recipient",
  "identifiers-swapped",
  "payload-key-box-corrupted",
  "chunk-corrupted",
  "signature-malleated",
  "signature-by-another",
  "signature-zeroed",
];

describe("a body as received", () => {
  const body = ({ armored, ciphertext_hex = "" }: Surgery) =>
    armored === undefined ? hex(ciphertext_hex) : new TextEncoder().encode(armored);
  const isVisible = ({ name, expect: outcome }: Surgery) => outcome === "reject" && !HIDDEN.includes(name);

  it.each(surgeries.filter(isVisible))("is refused without a key: $name", (surgery) => {
    expect(() => sealedBytes(body(surgery))).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^bad-(armor|message)$/) }),
    );
  });

  it.each(surgeries.filter((surgery) => !isVisible(surgery)))("passes without a key: $name", (surgery) => {
    const { armored, ciphertext_hex = "" } = surgery;
    expect(sealedBytes(body(surgery))).toEqual(armored === undefined ? hex(ciphertext_hex) : dearmor(armored));
  });
});
