// plugin/blobs/proof.ts: the owner's proof, which shows readers that a blob is unchanged.
import { TwtxtError } from "../errors.js";
import { isRfc3339 } from "../feed/timestamp.js";
import { parseKey } from "../keys/key.js";
import { isSignedBy } from "../keys/verify.js";
import type { BlobInfo, Metadata } from "./blob.js";

/** The properties of a proof: its time, the hash of the contents, and the signature. */
export const PROOF_PROPERTIES: readonly string[] = ["created", "sha256", "signature"];

const FORMAT = "blob-v1";
const SIGNATURE_BYTES = 64;
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/** The fields that a proof covers: everything but custom properties. */
export type Proven = Pick<BlobInfo, "owner" | "key" | "size" | "sha256"> & Omit<Metadata, "properties">;

/** The result of checking a proof. */
export type Proof =
  /** The proof is valid for exactly this blob. */
  | { state: "right"; created: string }
  | { state: "absent" }
  /** The blob or its proof was changed. */
  | { state: "wrong"; why: string };

/**
 * Creates the proof of a blob.
 *
 * @param sign - by the owner's key
 * @param created - time of the proof, RFC 3339 with any offset, signed as written; later states have later times
 * @returns the properties of the proof
 * @throws TwtxtError `bad-metadata` for texts with control characters
 * @see PROTOCOL 4
 */
export function proofOf(
  blob: Proven,
  created: string,
  sign: (bytes: Uint8Array) => Uint8Array,
): Record<"created" | "sha256" | "signature", string> {
  if (hasControls(blob)) throw new TwtxtError("bad-metadata", "The metadata must not contain control characters.");
  const signature = Buffer.from(sign(provenBytes(blob, created))).toString("base64");
  return { created, sha256: blob.sha256, signature };
}

/**
 * Checks the proof of a blob against its owner's key.
 *
 * @param blob - as received, with the hash of the received contents
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

/** A line break would make the signed text ambiguous. */
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
