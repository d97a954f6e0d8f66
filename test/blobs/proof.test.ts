import { createPrivateKey, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { examineProof, type SignedFields, signProof } from "../../plugin/blobs/proof.js";
import { ALICE, CAROL } from "./alices-blobs.js";

/** The proof was created with node:crypto from the seed 00 01 02 ... 1f, without this package. */
const SEED = Buffer.from(Array.from({ length: 32 }, (_, at) => at));
const OWNER = "kex1qwss00lnecgtu8tsm5vwwj7qn9n7f43snwjs6hcamjrxgyj4xxuqst6tvq";
const SHA256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
const CREATED = "2026-11-20T09:00:00Z";
const SIGNATURE = "i4DbyvGSr26fcCmHvsw3ubE30vuWAIXKOCQDM3YSUxEcya6M95rUeFSujPJydE2gBwVbEx6dtiHuRqQSL62tDw==";
const LINES = `blob-v1\n${OWNER}\nphoto.jpg\n${SHA256}\n6\n${CREATED}\nimage/jpeg\nK\u00fche.jpg\n?1\n`;

const BLOB: SignedFields = {
  owner: OWNER,
  key: "photo.jpg",
  size: 6,
  sha256: SHA256,
  type: "image/jpeg",
  filename: "K\u00fche.jpg",
  isPublic: true,
};
const PROOF = { created: CREATED, sha256: SHA256, signature: SIGNATURE };

/** PKCS #8 around a seed, RFC 8410. */
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), SEED]),
  format: "der",
  type: "pkcs8",
});
const signed = (text: string) => sign(null, Buffer.from(text), privateKey).toString("base64");

function examined(changes: Partial<SignedFields> = {}, properties: Record<string, string> = PROOF) {
  return examineProof({ ...BLOB, ...changes, properties });
}

describe("the owner's proof", () => {
  it("equals the proof of another program", () => {
    const texts: string[] = [];
    const proof = signProof(BLOB, CREATED, (bytes) => {
      texts.push(Buffer.from(bytes).toString());
      return sign(null, bytes, privateKey);
    });
    expect(texts).toEqual([LINES]);
    expect(proof).toEqual(PROOF);
  });

  it("is right if another program created it, next to any other properties", async () => {
    expect(await examined()).toEqual({ state: "right", created: CREATED });
    expect(await examined({}, { ...PROOF, colour: "red" })).toEqual({ state: "right", created: CREATED });
  });

  it.each([
    ["of a private blob", { isPublic: false }, "?0", 6],
    ["of an empty blob", { size: 0 }, "?1", 0],
  ])("is right %s", async (_, changes, isPublic, size) => {
    const lines = LINES.replace("?1", isPublic).replace("\n6\n", `\n${size}\n`);
    expect(await examined(changes, { ...PROOF, signature: signed(lines) })).toMatchObject({ state: "right" });
    expect(await examined({}, { ...PROOF, signature: signed(lines) })).toMatchObject({ state: "wrong" });
  });

  it("is right without a file name, and for a time with a fraction", async () => {
    const created = "2026-11-20T09:00:00.123Z";
    const signature = signed(LINES.replace("K\u00fche.jpg", "").replace(CREATED, created));
    expect(await examined({ filename: "" }, { ...PROOF, created, signature })).toEqual({ state: "right", created });
  });

  it.each<[string, Partial<SignedFields>]>([
    ["owner", { owner: ALICE.publicKey }],
    ["key", { key: "photo.jpeg" }],
    ["size", { size: 7 }],
    ["sha256", { sha256: SHA256.replace("5", "6") }],
    ["type", { type: "image/png" }],
    ["type's case", { type: "Image/jpeg" }],
    ["filename", { filename: "Kuehe.jpg" }],
    ["filename, in another form of Unicode", { filename: "Ku\u0308he.jpg" }],
    ["filename, left out", { filename: "" }],
    ["isPublic", { isPublic: false }],
  ])("is wrong for another blob: %s", async (_, changes) => {
    expect(await examined(changes)).toEqual({ state: "wrong", why: expect.stringMatching(/./) });
  });

  it.each([
    ["another time", { ...PROOF, created: "2026-11-20T09:00:01Z" }],
    ["the same time in another format", { ...PROOF, created: "2026-11-20T09:00:00.000Z" }],
    ["other contents", { ...PROOF, sha256: "0".repeat(64) }],
    ["a signature with a changed bit", { ...PROOF, signature: `j${SIGNATURE.slice(1)}` }],
    ["a signature of another key", { ...PROOF, signature: by(CAROL) }],
    ["a signature of other lines", { ...PROOF, signature: signed(LINES.slice(0, -1)) }],
    ["a signature without its end", { ...PROOF, signature: SIGNATURE.slice(0, -4) }],
    ["a signature without its padding", { ...PROOF, signature: SIGNATURE.replace(/=+$/, "") }],
    ["a signature with spare bits", { ...PROOF, signature: SIGNATURE.replace("w==", "x==") }],
    ["a signature in base64url", { ...PROOF, signature: Buffer.from(SIGNATURE, "base64").toString("base64url") }],
    ["a signature and a line end", { ...PROOF, signature: `${SIGNATURE}\n` }],
    ["no signature", { ...PROOF, signature: "" }],
    ["no time", { ...PROOF, created: "" }],
    ["only a signature", { signature: SIGNATURE }],
    ["only a time", { created: CREATED }],
    ["only a hash", { sha256: SHA256 }],
    ["no signature at all", { created: CREATED, sha256: SHA256 }],
    ["no time at all", { sha256: SHA256, signature: SIGNATURE }],
    ["no hash at all", { created: CREATED, signature: SIGNATURE }],
  ])("is wrong with %s", async (_, properties) => {
    expect(await examined({}, properties)).toEqual({ state: "wrong", why: expect.stringMatching(/./) });
  });

  it.each(["2026-11-20T10:00:00+01:00", "2026-11-20t09:00:00.1234567891z", "2026-11-20T09:00:00-00:00"])(
    "is right with any RFC 3339 time, signed as written: %s",
    async (created) => {
      const signature = signed(LINES.replace(CREATED, created));
      expect(await examined({}, { ...PROOF, created, signature })).toEqual({ state: "right", created });
    },
  );

  it.each([
    ["2026-11-20T10:00:00+0100"],
    ["2026-11-31T10:00:00Z"],
    ["2026-11-20T10:00Z"],
    ["2026-11-20"],
    ["Fri, 20 Nov 2026 09:00:00 GMT"],
    ["2026-11-20T09:00:00Z\nimage/jpeg"],
    ["2026-11-20T09:00:00Z\n"],
    [" 2026-11-20T09:00:00Z"],
  ])("is wrong with the time %j, even if the owner signed it", async (created) => {
    const signature = signed(LINES.replace(CREATED, created));
    expect(await examined({}, { ...PROOF, created, signature })).toMatchObject({ state: "wrong" });
  });

  it.each(["\n", "\r", "\t", "\0", "\x1f", "\x7f", "\x85", "\x9f"])(
    "is wrong with the control character %j, even if the owner signed it",
    async (sign) => {
      for (const [name, text] of [
        ["key", "photo.jpg"],
        ["type", "image/jpeg"],
        ["filename", "K\u00fche.jpg"],
      ] as const) {
        const changed = `${text.slice(0, 3)}${sign}${text.slice(3)}`;
        const properties = { ...PROOF, signature: signed(LINES.replace(text, changed)) };
        expect(await examined({ [name]: changed }, properties)).toMatchObject({ state: "wrong" });
      }
    },
  );

  it("bad-metadata: is not created for a control character", () => {
    const blob = { ...BLOB, filename: "a\nb" };
    expect(() => signProof(blob, PROOF.created, () => new Uint8Array(64))).toThrow(
      expect.objectContaining({ code: "bad-metadata" }),
    );
  });

  it("is wrong if a line break has moved from one field into another, although the signed lines are the same", async () => {
    const changes = { type: "image/jpeg\nK\u00fche.jpg", filename: "?1" };
    const signature = signed(LINES.replace("?1", "?1\n?1"));
    expect(await examined(changes, { ...PROOF, signature })).toMatchObject({ state: "wrong" });
  });

  it("is absent if it has no part", async () => {
    expect(await examined({}, {})).toEqual({ state: "absent" });
    expect(await examined({}, { colour: "red" })).toEqual({ state: "absent" });
  });
});

function by(signer: typeof CAROL): string {
  return Buffer.from(signer.sign(Buffer.from(LINES))).toString("base64");
}
