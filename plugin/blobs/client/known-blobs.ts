// plugin/blobs/client/known-blobs.ts: what this machine knows about an owner's blobs, to detect changed, old and lost ones.
import { hash } from "node:crypto";
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { toInstant } from "../../feed/timestamp.js";
import { Collection } from "../../store/collection.js";
import type { Store } from "../../store/store.js";
import { type BlobFields, isContentAddress } from "../blob.js";
import { examineProof, type Proof, wrong } from "../proof.js";

const STATE = v.object({
  key: v.string(),
  created: v.string(),
  sha256: v.string(),
  isDeleted: v.boolean(),
});

/**
 * A state of a blob. `created` is the time of the owner's proof or of the deletion; `sha256` is that of the contents in
 * hex, empty if unknown.
 */
export type BlobState = v.InferOutput<typeof STATE>;

/**
 * The newest state of each blob of one owner at one site, as far as this machine knows. All methods throw TwtxtError
 * `store-failed`.
 *
 * @see PROTOCOL 4, "Owner's proof"
 */
export class KnownBlobs {
  /** By the hashes of their keys, some of which are not valid keys of a store. */
  readonly #states: Collection<BlobState>;

  /**
   * @param store - of this machine
   * @param origin - of the site
   */
  constructor(store: Store, { origin, owner }: { origin: string; owner: string }) {
    this.#states = new Collection(store, `newest/${hash("sha256", origin)}/${owner}/`, STATE, (key) =>
      hash("sha256", key),
    );
  }

  /** @returns `null` for a blob that this machine has never seen */
  get(key: string): Promise<BlobState | null> {
    return this.#states.get(key);
  }

  /** All states, in no order, and a message for each record that cannot be read. */
  async list(): Promise<{ states: BlobState[]; damaged: string[] }> {
    const damaged: string[] = [];
    const states = await this.#states.list(({ message }) => damaged.push(message));
    return { states, damaged };
  }

  /** Records a state, unless a newer one is recorded. */
  async record(state: BlobState): Promise<void> {
    await this.#states.update(state.key, (old) => {
      return old === null || isLater(state.created, old.created) ? state : null;
    });
  }

  /** The time for a new state of a blob: now, or just after the newest known state if the clock is behind. */
  async nextTime(key: string, now: number): Promise<string> {
    const known = await this.get(key);
    const after = known ? Date.parse(known.created.toUpperCase()) + 1 : now;
    return new Date(Math.max(now, after)).toISOString();
  }

  /**
   * Verifies a blob, and records its state if its proof is right.
   *
   * @returns `wrong` also for a state older than the newest known one, and for a blob that has lost its proof
   */
  async verify(blob: BlobFields): Promise<Proof> {
    const { key, sha256 } = blob;
    if (isContentAddress(key) && sha256 !== key) {
      return wrong("its contents do not match its key, which is their SHA-256");
    }
    const proof = examineProof(blob);
    if (proof.state === "wrong") return wrong(`it is not as its owner stored it: ${proof.why}`);
    const known = await this.get(key);
    const why = known && describeRollback(proof, known);
    if (why !== null) return wrong(why);
    if (proof.state === "right") await this.record({ key, created: proof.created, sha256, isDeleted: false });
    return proof;
  }
}

/** How a site shows an older state than the known one, a clause; `null` if it does not. */
function describeRollback(proof: Exclude<Proof, { state: "wrong" }>, { created, isDeleted }: BlobState): string | null {
  if (proof.state === "absent") {
    // The operator of the site could remove a proof too.
    const before = isDeleted ? `was deleted on ${created}` : `had a proof of ${created}`;
    return `it ${before}, and the site now shows it without a proof`;
  }
  if (isDeleted && !isLater(proof.created, created)) {
    return `it was deleted on ${created}, and the site shows it again, as of ${proof.created}`;
  }
  if (isLater(created, proof.created)) {
    return `the site shows an old version, of ${proof.created}; the newest one is of ${created}`;
  }
  return null;
}

/** Why a site should have a blob that it lacks, a clause; `null` if it need not have it. */
export function describeLoss(known: BlobState | null): string | null {
  if (known === null || known.isDeleted) return null;
  return `it was stored on ${known.created}, and the site no longer has it: the site or another machine of yours deleted it`;
}

/** What to do about a lost blob, a sentence. */
export const LOST_ADVICE =
  "To store it again, type `blob put FILE`; to record on this machine that it is gone, type `blob rm KEY`.";

/** What to do about a wrong blob of the author's own, a sentence. */
export const WRONG_ADVICE =
  "To save what the site has, type `blob get KEY --unverified`; to store your file again, type `blob put --again FILE`, or `blob rm KEY` and then `blob put FILE`.";

/** What to do about a wrong blob of another owner, a sentence. */
export const WRONG_SHARED_ADVICE =
  "Ask its owner, who can store it again. To save what the site has, type `blob get URL --unverified`.";

/**
 * @param advice - what to do about it, a sentence
 * @throws TwtxtError `blob-tampered` for a wrong blob
 */
export function refuseWrong(key: string, proof: Proof, advice = WRONG_ADVICE): Exclude<Proof, { state: "wrong" }> {
  if (proof.state === "wrong") throw new TwtxtError("blob-tampered", `${key}: ${proof.why}. ${advice}`);
  return proof;
}

/** Whether the first of two RFC 3339 times is later. They may have any offset and any number of decimals. */
export function isLater(a: string, b: string): boolean {
  return sortable(a) > sortable(b);
}

function sortable(time: string): string {
  const decimals = /\.(\d*[1-9])/.exec(time)?.[1] ?? "";
  return `${toInstant(time)}.${decimals}`;
}
