// plugin/author/blobs/move-blobs.ts: the blobs of the author's former keys, and moving them to the current key.
import { withoutProof } from "../../blobs/metadata.js";
import { ifTwtxtError, type TwtxtError } from "../../errors.js";
import type { Machine } from "../machine.js";
import { type BlobSite, formerSites } from "./blob-site.js";
import { ownBlob, receiveFile } from "./received-file.js";

export interface FormerBlobs {
  site: BlobSite;
  /** `kex1...` */
  key: string;
  /** Of its blobs. */
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
  const { draft, received } = await receiveFile(source, {
    ...{ folder: null, opens: false, isAnyAccepted: false, namesKey: false },
  });
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
