// plugin/author/blobs/received-file.ts: receives, verifies and opens blobs, the author's own and those that others share, and moves those of former keys.
import type { Download } from "../../blobs/client/client.js";
import {
  getShared,
  type ReceivedBlob,
  type ReceiveOptions,
  receiveBlob,
  type SharedUrl,
} from "../../blobs/client/download.js";
import { WRONG_SHARED_ADVICE } from "../../blobs/client/known-blobs.js";
import { isSealedType, MAX_SEALED_BYTES, parseSealedFile, type SealedFile } from "../../blobs/client/sealed-file.js";
import { withoutProof } from "../../blobs/metadata.js";
import { ifTwtxtError, TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { formatKey } from "../../keys/key.js";
import { type OwnKeys, openWith } from "../../messages/sealing.js";
import { sizeText } from "../amounts.js";
import { loadAuthor, ownKeys } from "../author.js";
import { createTemporaryFile, type Draft } from "../files.js";
import { typed } from "../invocation.js";
import { type AuthorChoice, endSignal, type HostChoice, type Machine } from "../machine.js";
import { createNetwork } from "../network.js";
import { type BlobSite, formerSites, knownBlobs } from "./blob-site.js";

/** An opened file is for its recipient only, also where other users share the machine. */
const SECRET_MODE = 0o600;
/** Another owner's file may be large, and the connection slow; the guard still ends one that stalls. */
const SHARED_TIMEOUT_MS = 6 * 3600_000;
const MAX_UNPROVEN_BYTES = 100 * 2 ** 20;

export interface BlobSource extends Pick<ReceiveOptions, "known" | "maxBytes" | "advice"> {
  download: Download;
  /** The author's keys. @throws TwtxtError `no-identity`; `bad-usage` if there are several authors */
  keys(): Promise<OwnKeys>;
}

/**
 * A blob that another owner shares.
 *
 * @param signal - aborts the request; default: at the end of the process
 * @throws TwtxtError as `getShared`
 */
export async function sharedBlob(
  shared: SharedUrl,
  choice: AuthorChoice & HostChoice,
  machine: Machine,
  signal: AbortSignal = endSignal(machine),
): Promise<BlobSource> {
  const { ask } = createNetwork(choice, { totalMs: SHARED_TIMEOUT_MS });
  return {
    download: await getShared(shared, (url, request) => ask(url, { ...request, signal })),
    known: knownBlobs(shared, machine),
    maxBytes: MAX_UNPROVEN_BYTES,
    advice: WRONG_SHARED_ADVICE,
    keys: async () => ownKeys(await loadAuthor(choice, machine), machine),
  };
}

/**
 * A blob of the author's own.
 *
 * @throws TwtxtError `not-found`; `blob-tampered` for a lost blob; and as the client
 */
export async function ownBlob(
  key: string,
  { blobs, maxBytes, author }: BlobSite,
  machine: Machine,
): Promise<BlobSource> {
  const download = await blobs.client.get(key);
  if (!download) throw await blobs.notFound(key);
  return { download, known: blobs.known, maxBytes, keys: () => ownKeys(author, machine) };
}

/** An opened file, or why a sealed one stays sealed, a sentence. Both are `null` for a blob that is not to be opened. */
export interface Opening {
  /** `signer` is the key that sealed it, `kex1...`. */
  file: (SealedFile & { signer: string }) | null;
  why: string | null;
}

interface ReceiveFileOptions {
  /** The folder of the final name; default: the file has none. */
  folder?: string | null;
  opens: boolean;
  /** Whether wrong blobs are accepted too. */
  isAnyAccepted?: boolean;
  /** Whether the author has named one of several keys. */
  namesKey?: boolean;
}

export interface ReceivedFile {
  /** The contents as the site has them. The caller moves or clears it. */
  draft: Draft;
  received: ReceivedBlob;
  /** In memory. */
  opening: Opening;
}

/**
 * Receives a blob into a file without a name.
 *
 * @throws TwtxtError as `receiveBlob`; `bad-file`; `no-identity` for a named key, `bad-identity` and `bad-usage` as the keys
 */
export async function receiveFile(source: BlobSource, options: ReceiveFileOptions): Promise<ReceivedFile> {
  const { download, keys, ...receiving } = source;
  const { folder = null, opens, isAnyAccepted = false, namesKey = false } = options;
  const isSealed = isSealedType(download.blob.type);
  const draft = await createTemporaryFile(folder, isSealed ? SECRET_MODE : undefined);
  try {
    const received = await receiveBlob(download, { ...receiving, isAnyAccepted, write: draft.write });
    const opening =
      opens && isSealed ? await openFile(draft, received.blob.size, { keys, namesKey }) : { file: null, why: null };
    return { draft, received, opening };
  } catch (error) {
    await draft.clear();
    throw error;
  } finally {
    download.close();
  }
}

const REASONS: Partial<Record<TwtxtErrorCode, string>> = {
  "not-a-recipient": "It is not sealed to a key of yours.",
  "no-identity": `There is no key on this machine. To restore the key that it was sealed to, type \`${typed("keys restore ADDRESS")}\`.`,
};

async function openFile(
  draft: Draft,
  size: number,
  { keys, namesKey }: Pick<BlobSource, "keys"> & { namesKey: boolean },
): Promise<Opening> {
  if (size > MAX_SEALED_BYTES) {
    return { file: null, why: `It is larger than the ${sizeText(MAX_SEALED_BYTES)} that can be opened.` };
  }
  try {
    const { plaintext, sender } = openWith(await draft.bytes(), await keys());
    return { file: { ...parseSealedFile(plaintext), signer: formatKey(sender) }, why: null };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    // A sealed file may be wanted even without a key. A named key that is missing is a mistake.
    const isMistake = error.code === "no-identity" && namesKey;
    if (isMistake || ["bad-identity", "bad-usage"].includes(error.code)) throw error;
    return { file: null, why: REASONS[error.code] ?? error.message };
  }
}

/** What the author should know about a received file, in sentences. */
export function listRemarks({ received: { blob, proof }, opening: { file, why } }: ReceivedFile): string[] {
  const signer = file?.signer === blob.owner ? "its owner" : "not its owner";
  return [
    ...(proof.state === "wrong" ? [`UNVERIFIED: ${proof.why}.`] : []),
    ...(proof.state === "absent" ? ["there is no proof that its owner stored this."] : []),
    ...(why === null ? [] : [`it stays sealed: ${why}`]),
    ...(file === null ? [] : [`sealed by ${file.signer}, ${signer}.`]),
  ];
}

export interface FormerBlobs {
  site: BlobSite;
  /** `kex1...` */
  key: string;
  count: number;
  bytes: number;
  /** Why they could not be counted, a sentence; `null` if they were. */
  fault: string | null;
}

export interface MovedBlob {
  key: string;
  isMoved: boolean;
  /** Why it was not moved, a clause; `null` if it was. */
  why: string | null;
}

const NOT_LISTED =
  "The site does not know this key. Add it to the option blobs.formerKeys, build and deploy: its files stay, and can be moved.";

/**
 * Counts the blobs of the author's former keys that are on this machine.
 *
 * @param file - an identity file with another former key
 * @throws TwtxtError `bad-identity`
 */
export async function countFormerBlobs(site: BlobSite, machine: Machine, file?: string): Promise<FormerBlobs[]> {
  const sites = await formerSites(site, file, machine);
  return Promise.all(
    sites.map(async (former) => {
      const key = former.author.identity.publicKey;
      const counting = former.blobs.client.newest(1).then(({ count, bytes }) => ({ count, bytes, fault: null }));
      const explain = ({ code, message }: TwtxtError) => (code === "not-allowed" ? NOT_LISTED : message);
      const none = ifTwtxtError((error: TwtxtError) => ({ count: 0, bytes: 0, fault: explain(error) }));
      return { site: former, key, ...(await counting.catch(none)) };
    }),
  );
}

/**
 * Moves blobs to the current key, one after the other: each is verified, stored under the current key, and then deleted. A
 * move that was interrupted goes on where it ended.
 *
 * @param site - of the current key
 * @throws TwtxtError `unreachable` while iterating, if it is interrupted
 */
export async function* moveBlobs(
  former: readonly FormerBlobs[],
  site: BlobSite,
  machine: Machine,
): AsyncGenerator<MovedBlob> {
  for (const { site: from, count } of former) {
    for (const { key } of count > 0 ? await from.blobs.client.list() : []) {
      const why = await moveBlob(key, from, site, machine).catch(
        ifTwtxtError(({ message }) => message.replace(/\.$/, "")),
      );
      if (why !== null) site.signal.throwIfAborted();
      yield { key, isMoved: why === null, why };
    }
  }
}

/** @returns why it stays, a clause; `null` if it was moved */
async function moveBlob(key: string, from: BlobSite, to: BlobSite, machine: Machine): Promise<string | null> {
  const source = await ownBlob(key, from, machine);
  const { draft, received } = await receiveFile(source, { opens: false });
  try {
    const { size, sha256, type, filename, isPublic, properties } = received.blob;
    const there = await to.blobs.client.head(key);
    if (there && (there.sha256 !== sha256 || there.isPublic !== isPublic)) {
      return "your key has another file with this key. Delete one of them";
    }
    const change = { type, filename, isPublic, properties: withoutProof(properties) };
    const contents = { size, sha256, chunks: draft.chunks };
    if (!there) await to.blobs.put(key, contents, { change, file: { type, filename }, isSentAnyway: false });
    await from.blobs.delete(key);
    return null;
  } finally {
    await draft.clear();
  }
}
