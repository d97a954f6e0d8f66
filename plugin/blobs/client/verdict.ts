// plugin/blobs/client/verdict.ts: whether a blob is what its owner has put: by its proof and by what this machine knows.
import { TwtxtError } from "../../errors.js";
import { type BlobInfo, isContentAddress } from "../blob.js";
import { examineProof, type Proof } from "../proof.js";
import { type BlobState, isLater, type NewestStates } from "./newest.js";

/** A blob that is judged: with its size and hash as they were received, or as they are claimed. */
export type Judged = Omit<BlobInfo, "created" | "modified">;

/**
 * Judges a blob.
 *
 * @param newest - what this machine knows of it; `null` for nothing
 * @returns what a proof is, where `wrong` is also an older state, or one without a proof where there was one; `why` is a
 *   clause
 * @see PROTOCOL 4, "Owner's proof"
 */
export function judge(blob: Judged, newest: BlobState | null): Proof {
  if (isContentAddress(blob.key) && blob.sha256 !== blob.key) {
    return wrong("the site shows other contents than its key, their SHA-256, says");
  }
  const proof = examineProof(blob);
  if (proof.state === "wrong") return wrong(`it is not as its owner has put it: ${proof.why}`);
  if (newest === null) return proof;
  return proof.state === "absent" ? unproven(newest) : dated(proof, newest);
}

function dated(proof: Proof & { state: "right" }, { created, isDeleted }: BlobState): Proof {
  if (isDeleted && !isLater(proof.created, created)) {
    return wrong(`the site shows again, as of ${proof.created}, what was removed on ${created}`);
  }
  if (isLater(created, proof.created)) {
    return wrong(`the site shows an older state, of ${proof.created}, than was put on ${created}`);
  }
  return proof;
}

/** Whoever runs the site could take a proof away as well. */
function unproven({ created, isDeleted }: BlobState): Proof {
  const before = isDeleted ? `was removed on ${created}` : `had a proof of its owner's of ${created}`;
  return wrong(`it ${before}, and the site shows it without one`);
}

/** Judges a blob of which all is known, and keeps its state where it is the newest one. */
export async function judgeAndRemember(blob: Judged, newest: NewestStates): Promise<Proof> {
  const { key, sha256 } = blob;
  const proof = judge(blob, await newest.get(key));
  if (proof.state === "right") await newest.remember({ key, created: proof.created, sha256, isDeleted: false });
  return proof;
}

/** What to do about a blob of one's own that is wrong. */
export const WAY_OUT =
  "`blob get KEY --unverified` saves what is there; `blob put --again FILE`, or `blob rm KEY` and then `blob put FILE`, put yours anew.";

/** What to do about another owner's blob that is wrong. */
export const WAY_OUT_OF_OTHERS =
  "Its owner or host can tell why, and the owner can put it again; `blob get URL --unverified` saves what is there.";

/**
 * @param wayOut - what to do about it, a sentence
 * @throws TwtxtError `blob-tampered` for a blob that is not what its owner has put
 */
export function refuseWrong<T extends Proof>(key: string, proof: T, wayOut = WAY_OUT): Exclude<T, { state: "wrong" }> {
  if (proof.state === "wrong") throw new TwtxtError("blob-tampered", `${key}: ${proof.why}. ${wayOut}`);
  return proof as Exclude<T, { state: "wrong" }>;
}

function wrong(why: string): Proof {
  return { state: "wrong", why };
}
