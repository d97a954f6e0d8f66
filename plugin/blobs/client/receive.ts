// plugin/blobs/client/receive.ts: receives the contents of a blob, and says whether they are what its owner has put.
import { createHash } from "node:crypto";
import { TwtxtError } from "../../errors.js";
import type { Proof } from "../proof.js";
import type { Coming } from "./client.js";
import type { NewestStates } from "./newest.js";
import { type Judged, judge, judgeAndRemember, refuseWrong } from "./verdict.js";

/** A blob whose contents have come. */
export interface Received {
  /** With the size and hash of what has come. */
  blob: Judged;
  proof: Proof;
}

export interface ReceiveOptions {
  newest: NewestStates;
  /** Of contents of which nothing proves the size. */
  maxBytes: number;
  /** What to do where it is wrong, a sentence; default that for a blob of one's own. */
  wayOut?: string;
  /** Whether they are wanted even where they are wrong. */
  isAnyWanted: boolean;
  /** Takes the contents in. */
  write(chunks: AsyncIterable<Uint8Array>): Promise<void>;
}

/**
 * Receives a blob. What is wrong already by what is said of it is not read.
 *
 * @throws TwtxtError `blob-tampered` where it is not what its owner has put, unless any is wanted; `too-large`;
 *   `unreachable` where it breaks off
 */
export async function receiveBlob(coming: Coming, options: ReceiveOptions): Promise<Received> {
  const { newest, maxBytes, wayOut, isAnyWanted, write } = options;
  const { blob, chunks, close } = coming;
  const checked = (proof: Proof) => (isAnyWanted ? proof : refuseWrong(blob.key, proof, wayOut));
  try {
    const { size } = blob;
    const said = size === null ? null : checked(judge({ ...blob, size }, await newest.get(blob.key)));
    const limit = said?.state === "right" ? (size ?? 0) : maxBytes;
    const counted = counting(chunks(), limit, blob.key);
    await write(counted.chunks);
    const received = { ...blob, ...counted.come() };
    return { blob: received, proof: checked(await judgeAndRemember(received, newest)) };
  } finally {
    close();
  }
}

function counting(chunks: AsyncIterable<Uint8Array>, limit: number, key: string) {
  const hash = createHash("sha256");
  let size = 0;
  return {
    chunks: (async function* () {
      for await (const chunk of chunks) {
        size += chunk.length;
        if (size > limit)
          throw new TwtxtError("too-large", `${key}: more comes than the ${limit} bytes that it may have.`);
        hash.update(chunk);
        yield chunk;
      }
    })(),
    come: () => ({ size, sha256: hash.copy().digest("hex") }),
  };
}
