// plugin/blobs/serve/damaged-contents.ts: contents that no longer have the hash of their blob, for example because a disk fails.
import { createHash } from "node:crypto";
import { TwtxtError } from "../../errors.js";
import { byobReader } from "../../store/chunks.js";
import type { BlobInfo } from "../blob.js";

type Described = Pick<BlobInfo, "key" | "size" | "sha256">;

/** Size of a read in bytes. */
const READ_BYTES = 256 * 1024;

/** The error of damaged contents, for the owner's log and for readers. */
export function damagedBlob({ key }: Described): TwtxtError {
  return new TwtxtError(
    "blob-damaged",
    `The stored contents of the blob ${key} are damaged: they do not have its SHA-256. Its owner can store the file again, with eleventy-twtxt blob put --again FILE, or restore a backup.`,
  );
}

/**
 * Contents that fail before their last bytes if they are damaged.
 *
 * @param contents - a byte stream; another stream is returned as it is
 * @param onCompared - called with the damage before the stream fails, or with `null` at its end
 */
export function comparedStream(
  contents: ReadableStream<Uint8Array>,
  blob: Described,
  onCompared: (damage: TwtxtError | null) => void,
): ReadableStream<Uint8Array> {
  const reader = byobReader(contents);
  if (!reader) return contents;
  const hash = createHash("sha256");
  let left = blob.size;
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: READ_BYTES,
    async pull(controller) {
      const request = controller.byobRequest as ReadableStreamBYOBRequest;
      const { value, done } = await reader.read(request.view as Uint8Array<ArrayBuffer>);
      if (value) hash.update(value);
      left -= value?.length ?? 0;
      if (done || left < 0 || (left === 0 && hash.digest("hex") !== blob.sha256)) {
        const damage = damagedBlob(blob);
        onCompared(damage);
        throw damage;
      }
      request.respondWithNewView(value as Uint8Array<ArrayBuffer>);
      if (left > 0) return;
      onCompared(null);
      controller.close();
      controller.byobRequest?.respond(0);
      await reader.cancel();
    },
    cancel: () => reader.cancel(),
  });
}
