// plugin/author/blobs/move-blobs.ts: the blobs of the author's former keys, and moving them to the current key.
import type { BlobInfo } from "../../blobs/blob.js";
import { withoutProof } from "../../blobs/metadata.js";
import { ifTwtxtError, type TwtxtError } from "../../errors.js";
import type { Machine } from "../machine.js";
import { type BlobSite, formerSites } from "./blob-site.js";
import { ownBlob, receiveFile } from "./received-file.js";

export interface FormerBlobs {
  site: BlobSite;
  /** `kex1...` */
  key: string;
  blobs: BlobInfo[];
  /** Why they could not be listed, a sentence; `null` if they were. */
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
 * Lists the blobs of the author's former keys that are on this machine.
 *
 * @param file - an identity file with another former key
 * @throws TwtxtError `bad-identity`
 */
export async function listFormerBlobs(site: BlobSite, machine: Machine, file?: string): Promise<FormerBlobs[]> {
  const sites = await formerSites(site, file, machine);
  return Promise.all(
    sites.map(async (former) => {
      const key = former.author.identity.publicKey;
      const listing = former.blobs.client.list().then((blobs) => ({ blobs, fault: null }));
      const explain = ({ code, message }: TwtxtError) => (code === "not-allowed" ? NOT_LISTED : message);
      return {
        site: former,
        key,
        ...(await listing.catch(ifTwtxtError((error) => ({ blobs: [], fault: explain(error) })))),
      };
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
  for (const { site: from, blobs } of former) {
    for (const { key } of blobs) {
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
