// plugin/blobs/client/change.ts: puts and changes blobs of one's own, each with a proof, and no change of others is lost.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Signer } from "../../http/signature.js";
import type { Metadata } from "../blob.js";
import { checkFilename, checkProperties, checkType, NEW, withoutProof } from "../metadata.js";
import { type Proof, proofOf } from "../proof.js";
import type { BlobClient, Contents } from "./client.js";
import { lostBlob, missingBlob } from "./missing.js";
import { laterThan, type NewestStates } from "./newest.js";
import { isSealedType } from "./sealed-file.js";
import type { ShownBlob } from "./shown.js";
import { type Judged, judge, refuseWrong } from "./verdict.js";

/** What the owner wants to be said of a blob. What is left out stays as it is. */
export interface Wish {
  type?: string;
  filename?: string;
  isPublic?: boolean;
  /** The owner's own properties to be added or replaced. */
  properties?: Readonly<Record<string, string>>;
  /** Names of properties that are to go. */
  without?: readonly string[];
}

/** What has come of it. */
export interface Outcome {
  outcome: "new" | "replaced" | "changed" | "unchanged";
  /** As it is now. */
  blob: Judged;
  /** What went wrong beside it: a sentence; `null` for nothing. */
  note: string | null;
  /** Whether it has a proof now. */
  isProven: boolean;
}

/** What is put beside contents. */
export interface ToPut {
  wish: Wish;
  /** What the contents themselves tell, which counts where they are new and the owner wants nothing else. */
  found: Pick<Wish, "type" | "filename">;
  /** Whether they are sent also where the site says that it has them. */
  isSentAnyway: boolean;
}

export interface Owner {
  client: BlobClient;
  signer: Signer;
  newest: NewestStates;
  now: Clock;
}

const TRIES = 2;
const UNSEALED =
  "It was shared while it was sealed. What is there now is not, so it is private: --public shares it, --encrypt seals it.";

type Known = ShownBlob & { size: number };

/**
 * Puts a blob, new or in the place of another one, unless it is there already.
 *
 * @throws TwtxtError as {@link BlobClient}; `blob-tampered` where what is there is not what the owner has put;
 *   `precondition-failed` where somebody else is changing it; `bad-metadata`
 * @see PROTOCOL 4
 */
export function putBlob(
  owner: Owner,
  key: string,
  contents: Contents,
  { wish, found, isSentAnyway }: ToPut,
): Promise<Outcome> {
  return again(key, async () => {
    const { shown, proof } = await look(owner, key);
    const isThere = proof?.state === "right" && shown?.sha256 === contents.sha256;
    if (isThere && !isSentAnyway) return changeTo(owner, shown, proof, wished(shown, wish));

    // What the site says without a proof is not signed for: it could make public what was to be private.
    const known = shown && proof?.state === "right" ? shown : NEW;
    const type = wish.type ?? found.type ?? known.type;
    const isUnsealed = known.isPublic && isSealedType(known.type) && !isSealedType(type) && wish.isPublic === undefined;
    const wanted = wished(isUnsealed ? { ...known, isPublic: false } : known, { ...found, ...wish });
    const blob = await proven(owner, { key, size: contents.size, sha256: contents.sha256, ...wanted }, proof);
    const lost = shown ? null : lostBlob(await owner.newest.get(key));
    const remarks = [isUnsealed && UNSEALED, lost && `It was put again: ${lost}.`];
    const { isNew, note } = await owner.client.put(key, contents, blob, shown?.etag ?? null);
    const outcome = { blob, note: [...remarks, note].filter(Boolean).join(" ") || null, isProven: true };
    return remembered(owner, { ...outcome, outcome: isNew ? "new" : "replaced" });
  });
}

/**
 * Changes what is said of a blob.
 *
 * @throws TwtxtError as {@link putBlob}; `not-found`
 */
export function changeBlob(owner: Owner, key: string, wish: Wish): Promise<Outcome> {
  return again(key, async () => {
    const { shown, proof } = await look(owner, key);
    if (!shown || !proof) throw await missingBlob(key, owner);
    return changeTo(owner, shown, proof, wished(shown, wish));
  });
}

/** What the site shows, once it is judged. */
async function look({ client, newest }: Owner, key: string) {
  const shown = await client.head(key);
  return { shown, proof: shown && refuseWrong(key, judge(shown, await newest.get(key))) };
}

type Judgement = Exclude<Proof, { state: "wrong" }>;

async function changeTo(owner: Owner, shown: Known, proof: Judgement, wanted: Metadata): Promise<Outcome> {
  const { key, etag } = shown;
  // What was put without a proof may be anything by now: nobody signs for it unseen.
  const isProven = proof.state === "right";
  const blob = { owner: shown.owner, key, size: shown.size, sha256: shown.sha256, ...wanted };
  if (proof.state === "right" && isSame(shown, wanted)) {
    return remembered(owner, { outcome: "unchanged", blob: shown, note: null, isProven });
  }
  const changed = isProven ? await proven(owner, blob, proof) : blob;
  const { note } = await owner.client.change(key, changed, etag);
  return remembered(owner, { outcome: "changed", blob: changed, note, isProven });
}

/** Adds the proof, of a time after that of all states that are known. */
async function proven(
  { signer, newest, now }: Owner,
  unproven: Omit<Judged, "owner">,
  proof: Judgement | null,
): Promise<Judged> {
  const blob = { ...unproven, owner: signer.publicKey };
  const known = [(await newest.get(blob.key))?.created, proof?.state === "right" ? proof.created : undefined];
  const created = laterThan(
    known.filter((time) => time !== undefined),
    now(),
  );
  const properties = checkProperties({ ...blob.properties, ...proofOf(blob, created, signer.sign) });
  return { ...blob, properties };
}

async function remembered({ newest }: Owner, outcome: Outcome): Promise<Outcome> {
  const { key, sha256, properties } = outcome.blob;
  const { created } = properties;
  if (outcome.isProven && created !== undefined) await newest.remember({ key, created, sha256, isDeleted: false });
  return outcome;
}

/** @throws TwtxtError `bad-metadata` */
function wished(before: Metadata, { type, filename, isPublic, properties = {}, without = [] }: Wish): Metadata {
  const own = Object.entries({ ...withoutProof(before.properties), ...properties });
  return {
    type: checkType(type ?? before.type),
    filename: checkFilename(filename ?? before.filename),
    isPublic: isPublic ?? before.isPublic,
    properties: checkProperties(Object.fromEntries(own.filter(([name]) => !without.includes(name)))),
  };
}

function isSame(shown: Metadata, wanted: Metadata): boolean {
  const textOf = ({ type, filename, isPublic, properties }: Metadata) =>
    JSON.stringify([type, filename, isPublic, Object.entries(withoutProof(properties)).sort()]);
  return textOf(shown) === textOf(wanted);
}

/** Somebody else may change it in between, once. */
async function again(key: string, work: () => Promise<Outcome>): Promise<Outcome> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TwtxtError) || error.code !== "precondition-failed") throw error;
    }
  }
  throw new TwtxtError("precondition-failed", `${key} is being changed by somebody else. Look at it, and try again.`);
}
