// plugin/blobs/client/own-blobs.ts: puts, changes and deletes the author's own blobs, each with a proof.
import type { Clock } from "../../clock.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import type { Signer } from "../../http/sign-request.js";
import { retry } from "../../store/retry.js";
import { type BlobFields, type Metadata, MIN_KEY_PREFIX, shortKey } from "../blob.js";
import { checkFilename, checkProperties, checkType, NEW, withoutProof } from "../metadata.js";
import { type Proof, signProof } from "../proof.js";
import type { BlobClient, Contents, RemoteBlob } from "./client.js";
import { describeLoss, type KnownBlobs, LOST_ADVICE, refuseWrong } from "./known-blobs.js";
import { isSealedType } from "./sealed-file.js";

/** A change of metadata. Omitted fields stay as they are. */
export interface MetadataChange {
  type?: string;
  filename?: string;
  isPublic?: boolean;
  /** Custom properties to add or replace. */
  properties?: Readonly<Record<string, string>>;
  /** Names of custom properties to remove. */
  without?: readonly string[];
}

export interface PutOptions {
  change: MetadataChange;
  /** The type and name of the file. They apply to new contents, unless `change` has others. */
  file: Pick<MetadataChange, "type" | "filename">;
  /** Whether to send contents that the site says it has. */
  isSentAnyway: boolean;
}

export interface ChangeResult {
  outcome: "new" | "replaced" | "changed" | "unchanged";
  /** As it is now. */
  blob: BlobFields;
  /** A warning, in sentences; `null` for none. */
  note: string | null;
  /** Whether it has a proof now. */
  isProven: boolean;
}

/** A blob at the site, verified. */
interface FoundBlob {
  blob: RemoteBlob & { size: number };
  proof: Exclude<Proof, { state: "wrong" }>;
}

const TOO_SHORT = new RegExp(`^[0-9a-f]{1,${MIN_KEY_PREFIX - 1}}$`, "i");
const UNSEALED =
  "The sealed blob was public. The new one is not sealed, so it is private: --public shares it, --encrypt seals it.";

/**
 * The author's blobs at a site. All methods throw TwtxtError as {@link BlobClient}; `blob-tampered` for a blob that is
 * not as its owner stored it; `precondition-failed` if another machine keeps changing it; `bad-metadata`.
 *
 * @see PROTOCOL 4
 */
export class OwnBlobs {
  constructor(
    readonly client: BlobClient,
    readonly known: KnownBlobs,
    private readonly signer: Signer,
    private readonly now: Clock,
  ) {}

  /** The metadata of a blob, verified. @throws TwtxtError as {@link notFound} */
  async find(key: string): Promise<FoundBlob> {
    const found = await this.#look(key);
    if (!found) throw await this.notFound(key);
    return found;
  }

  /**
   * Stores a blob, or replaces the one with this key. Contents that the site has are not sent again.
   *
   * @param options - see {@link PutOptions}
   */
  put(key: string, contents: Contents, { change, file, isSentAnyway }: PutOptions): Promise<ChangeResult> {
    return retried(key, async () => {
      const found = await this.#look(key);
      const isProven = found?.proof.state === "right";
      if (isProven && found.blob.sha256 === contents.sha256 && !isSentAnyway) {
        return this.#changeTo(found, applied(change, found.blob));
      }
      // Unproven metadata is not signed: it could make a private blob public.
      const before = isProven ? found.blob : NEW;
      const type = change.type ?? file.type ?? before.type;
      const wasSealed = before.isPublic && isSealedType(before.type) && !isSealedType(type);
      const isUnsealed = wasSealed && change.isPublic === undefined;
      const wanted = applied({ ...file, ...change }, isUnsealed ? { ...before, isPublic: false } : before);
      const blob = await this.#signed({ key, size: contents.size, sha256: contents.sha256, ...wanted });
      const loss = found ? null : describeLoss(await this.known.get(key));
      const { isNew, note } = await this.client.put(key, contents, blob, found?.blob.etag ?? null);
      const notes = [isUnsealed && UNSEALED, loss && `It was missing: ${loss}.`, note].filter(Boolean).join(" ");
      return this.#recorded({ outcome: isNew ? "new" : "replaced", blob, note: notes || null, isProven: true });
    });
  }

  /** Changes the metadata of a blob. @throws TwtxtError as {@link notFound} */
  change(key: string, change: MetadataChange): Promise<ChangeResult> {
    return retried(key, async () => {
      const found = await this.find(key);
      return this.#changeTo(found, applied(change, found.blob));
    });
  }

  /**
   * Deletes a blob, and records that it is deleted, also if it is already gone.
   *
   * @returns the response, `null` if there was no such blob; and the state that this machine knew before
   */
  async delete(key: string) {
    const known = await this.known.get(key);
    const response = await this.client.delete(key);
    if (response || known) {
      const created = await this.known.nextTime(key, this.now());
      await this.known.record({ key, created, sha256: known?.sha256 ?? "", isDeleted: true });
    }
    return { response, known };
  }

  /**
   * The error for a blob that the site does not have, with the key that may be meant.
   *
   * @returns `blob-tampered` for a lost blob, else `not-found`
   */
  async notFound(key: string): Promise<TwtxtError> {
    const loss = describeLoss(await this.known.get(key));
    if (loss !== null) return new TwtxtError("blob-tampered", `${key}: ${loss}. ${LOST_ADVICE}`);
    const blobs = await this.client.list();
    const named = blobs.filter(({ filename }) => filename === key).map((blob) => shortKey(blob.key));
    const hints = [
      named.length > 0 && ` The key of the file with this name is ${named.join(" or ")}.`,
      TOO_SHORT.test(key) && ` Type at least the first ${MIN_KEY_PREFIX} characters of a SHA-256.`,
    ];
    return new TwtxtError("not-found", `There is no blob ${key}.${hints.filter(Boolean).join("")}`);
  }

  async #look(key: string): Promise<FoundBlob | null> {
    const blob = await this.client.head(key);
    return blob && { blob, proof: refuseWrong(key, await this.known.verify(blob)) };
  }

  /** A blob without a proof gets none here: its contents, which were not read, may be anything. */
  async #changeTo({ blob: before, proof }: FoundBlob, wanted: Metadata): Promise<ChangeResult> {
    const { owner, key, size, sha256, etag } = before;
    const isProven = proof.state === "right";
    if (isProven && isSame(before, wanted)) return { outcome: "unchanged", blob: before, note: null, isProven };
    const unsigned = { owner, key, size, sha256, ...wanted };
    const blob = isProven ? await this.#signed(unsigned) : unsigned;
    const { note } = await this.client.change(key, blob, etag);
    return this.#recorded({ outcome: "changed", blob, note, isProven });
  }

  async #signed(unsigned: Omit<BlobFields, "owner">): Promise<BlobFields> {
    const blob = { ...unsigned, owner: this.signer.publicKey };
    const proof = signProof(blob, await this.known.nextTime(blob.key, this.now()), this.signer.sign);
    return { ...blob, properties: checkProperties({ ...blob.properties, ...proof }) };
  }

  async #recorded(result: ChangeResult): Promise<ChangeResult> {
    const { key, sha256, properties } = result.blob;
    const { created } = properties;
    if (result.isProven && created !== undefined) await this.known.record({ key, created, sha256, isDeleted: false });
    return result;
  }
}

/** The custom properties and the other metadata after a change. @throws TwtxtError `bad-metadata` */
function applied(
  { type, filename, isPublic, properties = {}, without = [] }: MetadataChange,
  before: Metadata,
): Metadata {
  const custom = Object.entries({ ...withoutProof(before.properties), ...properties });
  return {
    type: checkType(type ?? before.type),
    filename: checkFilename(filename ?? before.filename),
    isPublic: isPublic ?? before.isPublic,
    properties: checkProperties(Object.fromEntries(custom.filter(([name]) => !without.includes(name)))),
  };
}

function isSame(before: Metadata, wanted: Metadata): boolean {
  const toText = ({ type, filename, isPublic, properties }: Metadata) =>
    JSON.stringify([type, filename, isPublic, Object.entries(withoutProof(properties)).sort()]);
  return toText(before) === toText(wanted);
}

/** Tries once more if another machine changed the blob in between. */
function retried(key: string, work: () => Promise<ChangeResult>): Promise<ChangeResult> {
  const giveUp = () => {
    throw new TwtxtError("precondition-failed", `${key} is being changed by another machine. Check it, and try again.`);
  };
  const isChanged = (error: unknown) => error instanceof TwtxtError && error.code === "precondition-failed";
  return retry(work, { pauses: [0], mayRepeat: isChanged }).catch(ifTwtxtError(giveUp, "precondition-failed"));
}
