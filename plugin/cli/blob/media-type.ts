// plugin/cli/blob/media-type.ts: the media type of a file, by its first bytes and its name.
import { fileTypeFromBuffer } from "file-type";
import mime from "mime";
import { ANY_TYPE } from "../../blobs/metadata.js";
import type { FileContents } from "./contents.js";

/** Forms that others are made of: there the name says more. */
const CONTAINERS = ["application/zip", "application/gzip", "application/xml", "application/x-cfb", "application/ogg"];

/**
 * The type of a file. The bytes win where they are sure.
 *
 * @param filename - empty for none
 * @returns with `charset=utf-8` for a text that is UTF-8; `application/octet-stream` where nothing tells
 */
export async function mediaTypeOf(
  filename: string,
  { start, isUtf8 }: Pick<FileContents, "start" | "isUtf8">,
): Promise<string> {
  const byName = mime.getType(filename);
  const byBytes = (await fileTypeFromBuffer(start))?.mime;
  if (byBytes !== undefined && !(byName !== null && CONTAINERS.includes(byBytes))) return byBytes;
  const type = byName ?? ANY_TYPE;
  return type.startsWith("text/") && isUtf8 ? `${type}; charset=utf-8` : type;
}
