import { createPublicKey, randomBytes, verify } from "node:crypto";
import { ed25519, x25519 } from "@noble/curves/ed25519.js";
import { describe, expect, it } from "vitest";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { toExchangeKey } from "../../plugin/keys/key.js";

const badKey = expect.objectContaining({ code: "bad-key" });

describe("a secret key", () => {
  const seed = randomBytes(32);

  it("signs for its public key", () => {
    const { publicKey, sign } = toSecretKey(seed);
    expect(publicKey).toEqual(ed25519.getPublicKey(seed));
    const x = Buffer.from(publicKey).toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    expect(verify(null, Buffer.from("hello"), key, sign(Buffer.from("hello")))).toBe(true);
  });

  it("derives a shared secret with another key", () => {
    const own = toSecretKey(seed);
    const other = x25519.keygen();
    const exchangeKey = toExchangeKey(own.publicKey);
    if (exchangeKey === null) throw new Error("no key");
    for (const _again of [1, 2]) {
      expect([...own.agree(other.publicKey)]).toEqual([...x25519.getSharedSecret(other.secretKey, exchangeKey)]);
    }
  });

  it("no longer needs its seed", () => {
    const wiped = new Uint8Array(seed);
    const key = toSecretKey(wiped);
    wiped.fill(0);
    const other = x25519.keygen().publicKey;
    expect([...key.agree(other)]).toEqual([...toSecretKey(seed).agree(other)]);
    expect([...key.sign(seed)]).toEqual([...toSecretKey(seed).sign(seed)]);
  });

  it("does not appear in JSON or in the console", () => {
    const key = toSecretKey(seed);
    expect(Object.keys(key)).toEqual(["publicKey", "sign", "agree"]);
    expect(JSON.stringify(key)).not.toContain(seed.toString("hex"));
  });

  it.each([
    ["of small order", new Uint8Array(32)],
    ["too short", new Uint8Array(31).fill(9)],
    ["too long", new Uint8Array(33).fill(9)],
  ])("does not agree with an invalid key: %s", (_name, exchangeKey) => {
    expect(() => toSecretKey(seed).agree(exchangeKey)).toThrow(badKey);
  });
});
