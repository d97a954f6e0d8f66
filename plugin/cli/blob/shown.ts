// plugin/cli/blob/shown.ts: blobs as a person and as a program gets to see them.
import { shortKey } from "../../blobs/client/short-key.js";
import type { Judged } from "../../blobs/client/verdict.js";
import type { Proof } from "../../blobs/proof.js";
import { oneLine } from "../../http/one-line.js";
import { sharedUrlOf } from "../../site/blob-url.js";

const UNITS = ["KiB", "MiB", "GiB"];

/** @example sizeText(1_300_000) // "1.2 MiB" */
export function sizeText(bytes: number): string {
  let size = bytes;
  let unit = "bytes";
  for (const larger of UNITS) {
    if (size < 1024) break;
    size /= 1024;
    unit = larger;
  }
  return unit === "bytes" ? `${bytes} bytes` : `${size.toFixed(1)} ${unit}`;
}

/** Who may read it, in a word. */
export function visibility({ isPublic }: Pick<Judged, "isPublic">): "public" | "private" {
  return isPublic ? "public" : "private";
}

/** By which a blob is asked for: its URL, where everybody may. */
export function placeOf(blob: Judged, sharedUrl: string): string {
  return blob.isPublic ? sharedUrlOf(sharedUrl, blob) : blob.key;
}

/** All that is known of it, for `--json`. */
export function factsOf(blob: Judged, sharedUrl: string) {
  const { key, size, sha256, type, filename, isPublic, properties } = blob;
  const shared = isPublic ? sharedUrlOf(sharedUrl, blob) : null;
  return { key, size, sha256: sha256 || null, type, filename, public: isPublic, properties, shared };
}

/** What its proof is worth, for `--json`. */
export function proofFacts(proof: Proof) {
  return { state: proof.state, created: proof.state === "right" ? proof.created : null, why: wrongness(proof) };
}

export function wrongness(proof: Proof): string | null {
  return proof.state === "wrong" ? proof.why : null;
}

/**
 * A link to paste in a post: the site turns `blob:KEY` into the shared URL.
 *
 * @param name - of the file, where the blob has none
 */
export function markdownOf({ key, type, filename }: Judged, name = ""): string {
  const text = oneLine(filename || name || shortKey(key)).replace(/[\\[\]]/g, "\\$&");
  return `${type.startsWith("image/") ? "!" : ""}[${text}](blob:${key})`;
}
