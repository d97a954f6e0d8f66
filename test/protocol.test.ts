import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { formatSealedFile } from "../plugin/blobs/client/sealed-file.js";
import { signProof } from "../plugin/blobs/proof.js";
import { discoveryPaths } from "../plugin/keys/address.js";
import { toSecretKey } from "../plugin/keys/ed25519.js";
import { formatIdentity } from "../plugin/keys/identity.js";
import { formatKey, toExchangeKey } from "../plugin/keys/key.js";
import { open } from "../plugin/messages/index.js";
import { createReceipt, formatMessage, readHash } from "../plugin/messages/plaintext.js";

const page = readFileSync(new URL("../docs/protocol.md", import.meta.url), "utf8");
const seedOf = (byte: number) => new Uint8Array(32).fill(byte);
const alice = toSecretKey(seedOf(2));
const bob = toSecretKey(seedOf(1));
const MESSAGE = formatMessage({
  time: "2026-11-20T09:12:00Z",
  from: "bob@bob.example",
  text: "See you at nine?\nI bring the bread.",
});

/** The code block of the page after a marker. */
function example(mark: string): string {
  return new RegExp(`<!-- ${mark} -->\\n\`\`\`text\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? "";
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Replaces invisible characters with those that the page shows. */
function visible(text: string): string {
  return text.replaceAll("\t", "⇥").replaceAll("\u2028", "⏎");
}

describe("docs/protocol.md shows what the code does", () => {
  it("public keys", () => {
    for (const { publicKey } of [alice, bob]) {
      expect(example("keys")).toContain(`${hex(publicKey)}\n       ${formatKey(publicKey)}`);
    }
  });

  it("X25519 keys: the public key, and the private key that matches it", () => {
    const [publicKey = "", privateKey = ""] = example("exchange keys").match(/[0-9a-f]{64}/g) ?? [];
    expect(publicKey).toBe(hex(toExchangeKey(alice.publicKey) ?? new Uint8Array()));
    const clamped = createHash("sha512").update(seedOf(2)).digest().subarray(0, 32);
    clamped.set([(clamped[0] ?? 0) & 0xf8], 0);
    clamped.set([((clamped[31] ?? 0) & 0x7f) | 0x40], 31);
    expect(privateKey).toBe(hex(clamped));
  });

  it("an identity file", () => {
    const identity = formatIdentity(seedOf(2), { address: "alice@alice.example", created: "2026-11-20T09:00:00Z" });
    expect(example("identity file")).toBe(identity);
  });

  it("the order of lookups", () => {
    expect(example("look-up of alice@alice.example").trim().split("\n")).toEqual(discoveryPaths("alice@alice.example"));
  });

  it("a message, its hash and a receipt for it", () => {
    const hash = readHash(Buffer.from(MESSAGE));
    const from = { time: "2026-11-20T09:20:00Z", from: "alice@alice.example", text: "" };
    expect(example("message")).toBe(visible(MESSAGE));
    expect(example("read hash")).toBe(`${hash}\n`);
    expect(example("receipt")).toBe(visible(formatMessage({ ...from, events: [createReceipt(hash)] })));
  });

  it("a sealed message, which can be opened", () => {
    const pair = Uint8Array.of(...seedOf(2), ...alice.publicKey);
    const { plaintext, sender } = open(example("sealed message"), { key: pair });
    expect([new TextDecoder().decode(plaintext), hex(sender)]).toEqual([MESSAGE, hex(bob.publicKey)]);
  });

  it("the owner's proof of a blob", () => {
    const owner = formatKey(alice.publicKey);
    const sha256 = createHash("sha256").update('{"hello": "world"}\n').digest("hex");
    const blob = { owner, key: "hello.json", size: 19, sha256, type: "application/json", filename: "", isPublic: true };
    const signed: string[] = [];
    const { signature } = signProof(blob, "2026-11-20T09:30:00Z", (bytes) => {
      signed.push(new TextDecoder().decode(bytes));
      return alice.sign(bytes);
    });
    expect([example("proof"), example("proof signature")]).toEqual([signed[0], `${signature}\n`]);
  });

  it("the plaintext of a sealed blob", () => {
    const bytes = Buffer.from("Dear Bob,\n");
    const inside = formatSealedFile({ filename: "letter.txt", type: "text/plain; charset=utf-8", bytes });
    expect(example("sealed file")).toBe(new TextDecoder().decode(inside));
  });
});
