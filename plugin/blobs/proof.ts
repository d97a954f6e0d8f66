// plugin/blobs/proof.ts: the owner's proof, which shows readers that a blob is unchanged.
import { TwtxtError } from "../errors.js";
import { isRfc3339 } from "../feed/timestamp.js";
import { isSignedBy, toVerifyingKey } from "../keys/ed25519.js";
import { parseKey } from "../keys/key.js";
import type { BlobFields } from "./blob.js";

/** The properties of a proof: its time, the hash of the contents, and the signature. */
export const PROOF_PROPERTIES: readonly string[] = ["created", "sha256", "signature"];

const FORMAT = "blob-v1";
const SIGNATURE_BYTES = 64;
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/** The fields that a proof covers: all but the properties. */
export type SignedFields = Omit<BlobFields, "properties">;

export type Proof =
  /** The proof is valid for exactly this blob. */
  | { state: "right"; created: string }
  | { state: "absent" }
  /** The blob or its proof was changed; `why` is a clause. */
  | { state: "wrong"; why: string };

/**
 * Creates the proof of a blob.
 *
 * @param created - time of the proof, RFC 3339 with any offset, signed as written; a newer state needs a later time
 * @param sign - signs with the owner's key
 * @returns the properties of the proof
 * @throws TwtxtError `bad-metadata` for texts with control characters
 * @see PROTOCOL 4
 */
export function signProof(
  blob: SignedFields,
  created: string,
  sign: (bytes: Uint8Array) => Uint8Array,
): Record<"created" | "sha256" | "signature", string> {
  if (hasControls(blob)) throw new TwtxtError("bad-metadata", "The metadata must not contain control characters.");
  const signature = Buffer.from(sign(signedBytes(blob, created))).toString("base64");
  return { created, sha256: blob.sha256, signature };
}

/**
 * Checks the proof of a blob against its owner's key.
 *
 * @param blob - as received, with the hash of the received contents
 */
export function examineProof(blob: BlobFields): Proof {
  const { created, sha256, signature } = blob.properties;
  if (created === undefined && sha256 === undefined && signature === undefined) return { state: "absent" };
  if (created === undefined || sha256 === undefined || signature === undefined) return wrong("its proof is incomplete");
  if (!isRfc3339(created)) return wrong('"created" of its proof is not an RFC 3339 time');
  if (sha256 !== blob.sha256) return wrong("its proof is for other contents");
  const bytes = Buffer.from(signature, "base64");
  const isBase64 = bytes.length === SIGNATURE_BYTES && bytes.toString("base64") === signature;
  const isSigned = () => isSignedBy(toVerifyingKey(parseKey(blob.owner)), signedBytes(blob, created), bytes);
  const isValid = isBase64 && !hasControls(blob) && isSigned();
  if (isValid) return { state: "right", created };
  return wrong("its owner did not sign this key, size, type, file name and visibility for these contents");
}

/** A line break would make the signed text ambiguous. */
function hasControls({ key, type, filename }: SignedFields): boolean {
  return [key, type, filename].some((text) => CONTROL.test(text));
}

function signedBytes({ owner, key, sha256, size, type, filename, isPublic }: SignedFields, created: string) {
  const lines = [FORMAT, owner, key, sha256, size, created, type, filename, isPublic ? "?1" : "?0"];
  return Buffer.from(lines.map((line) => `${line}\n`).join(""));
}

export function wrong(why: string): Proof {
  return { state: "wrong", why };
}
