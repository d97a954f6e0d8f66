// plugin/blobs/proof.ts: the owner's proof, by which whoever reads a blob sees that nobody else has changed it.
import { TwtxtError } from "../errors.js";
import { isRfc3339 } from "../feed/timestamp.js";
import { parseKey } from "../keys/key.js";
import { isSignedBy } from "../keys/verify.js";
import type { BlobInfo, Metadata } from "./blob.js";

/** The properties that carry it: when it was given, for which contents, and the signature. */
export const PROOF_PROPERTIES: readonly string[] = ["created", "sha256", "signature"];

const FORMAT = "blob-v1";
const SIGNATURE_BYTES = 64;
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/** What is proven: all that an owner says of a blob, but for further properties. */
export type Proven = Pick<BlobInfo, "owner" | "key" | "size" | "sha256"> & Omit<Metadata, "properties">;

/** What the proof of a blob says of it. */
export type Proof =
  /** Its owner has given it, at that time, for exactly this. */
  | { state: "right"; created: string }
  | { state: "absent" }
  /** Somebody has changed the blob or its proof. */
  | { state: "wrong"; why: string };

/**
 * Proves a blob.
 *
 * @param sign - by the owner's key
 * @param created - of the proof, RFC 3339 with any offset, signed as written; a later state has a later time
 * @returns the properties that carry the proof
 * @throws TwtxtError `bad-metadata` for texts with control characters
 * @see PROTOCOL 4
 */
export function proofOf(
  blob: Proven,
  created: string,
  sign: (bytes: Uint8Array) => Uint8Array,
): Record<"created" | "sha256" | "signature", string> {
  if (hasControls(blob)) throw new TwtxtError("bad-metadata", "Control characters cannot be proven.");
  const signature = Buffer.from(sign(provenBytes(blob, created))).toString("base64");
  return { created, sha256: blob.sha256, signature };
}

/**
 * Checks the proof of a blob against its owner's key.
 *
 * @param blob - as it was received, with the hash of the contents as they were received
 */
export function examineProof(blob: Proven & Pick<Metadata, "properties">): Proof {
  const { created, sha256, signature } = blob.properties;
  if (created === undefined && sha256 === undefined && signature === undefined) return { state: "absent" };
  if (created === undefined || sha256 === undefined || signature === undefined) return wrong("a part of it is missing");
  if (!isRfc3339(created)) return wrong('"created" is no time of RFC 3339');
  if (sha256 !== blob.sha256) return wrong("it was given for other contents");
  const bytes = Buffer.from(signature, "base64");
  const isBase64 = bytes.length === SIGNATURE_BYTES && bytes.toString("base64") === signature;
  if (isBase64 && isBy(blob.owner, bytes, blob, created)) return { state: "right", created };
  return wrong("the owner has not signed this key, size, type, file name and visibility with these contents");
}

function isBy(owner: string, signature: Uint8Array, blob: Proven, created: string): boolean {
  if (hasControls(blob)) return false;
  return isSignedBy(parseKey(owner), provenBytes(blob, created), signature);
}

/** By a line end, one text would pass for two. */
function hasControls({ key, type, filename }: Proven): boolean {
  return [key, type, filename].some((text) => CONTROL.test(text));
}

function provenBytes({ owner, key, sha256, size, type, filename, isPublic }: Proven, created: string): Uint8Array {
  const lines = [FORMAT, owner, key, sha256, size, created, type, filename, isPublic ? "?1" : "?0"];
  return Buffer.from(lines.map((line) => `${line}\n`).join(""));
}

function wrong(why: string): Proof {
  return { state: "wrong", why };
}
