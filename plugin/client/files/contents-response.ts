// plugin/client/files/contents-response.ts: responses with the contents of files. Nothing in them can run.
import type { Draft } from "../../author/files.js";
import type { ReceivedFile } from "../../author/received-file.js";
import { ANY_TYPE, dispositionOf, filenameFrom } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import type { Preview } from "./stored-files.js";

const SANDBOX = "sandbox; default-src 'none'";

/** A raster picture, as its own type. */
export function pictureResponse({ type, bytes }: Preview): Response {
  return new Response(bytes, { headers: { "content-type": type, "content-security-policy": SANDBOX } });
}

/**
 * A file to save, of any type, under its own name.
 *
 * @throws TwtxtError `not-allowed` for a file that stays sealed
 */
export function downloadResponse({ draft, received, opening }: ReceivedFile): Response {
  const { blob } = received;
  if (opening.why !== null) throw new TwtxtError("not-allowed", `It stays sealed: ${opening.why}`);
  const { file } = opening;
  return new Response(file ? Uint8Array.from(file.bytes) : ReadableStream.from(chunksOf(draft)), {
    headers: {
      "content-type": ANY_TYPE,
      "content-length": String(file?.bytes.length ?? blob.size),
      "content-disposition": dispositionOf("attachment", filenameFrom((file ?? blob).filename) || blob.key),
      "content-security-policy": SANDBOX,
      // Otherwise, the whole file is read for one.
      etag: `"${blob.sha256}"`,
    },
  });
}

/** Deletes the file when it is read, or when the browser no longer reads. */
async function* chunksOf(draft: Draft): AsyncGenerator<Uint8Array> {
  try {
    yield* draft.chunks();
  } finally {
    await draft.clear();
  }
}
