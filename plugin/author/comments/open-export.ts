// plugin/author/comments/open-export.ts: tells the formats of exports apart by their first bytes.
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { TwtxtError } from "../../errors.js";
import type { ExportedComment } from "./comment-import.js";
import { readIsso } from "./isso.js";
import { readXmlExport } from "./xml-exports.js";

const SQLITE = "SQLite format 3\0";
const GZIP = "\x1f\x8b";
/** Byte order marks of files that an editor has saved. */
const ENCODINGS = [
  ["\xff\xfe", "utf-16le"],
  ["\xfe\xff", "utf-16be"],
] as const;
const START_BYTES = 64;

/**
 * Reads the comments of an export of Disqus (also compressed, as it comes), WordPress or isso.
 *
 * @returns `null` for a file that is neither XML nor a database, or that cannot be read
 */
export async function openExport(file: string): Promise<AsyncIterable<ExportedComment> | null> {
  const bytes = await buffer(createReadStream(file, { end: START_BYTES - 1 })).catch(() => Buffer.alloc(0));
  const start = bytes.toString("latin1");
  if (start.startsWith(SQLITE)) return readIsso(file);
  const isCompressed = start.startsWith(GZIP);
  const encoding = ENCODINGS.find(([mark]) => start.startsWith(mark))?.[1] ?? "utf-8";
  const isXml = encoding !== "utf-8" || /^(?:\xef\xbb\xbf)?\s*</.test(start);
  return isCompressed || isXml ? readXmlExport(readTexts(file, { isCompressed, encoding })) : null;
}

/** @throws TwtxtError `bad-file` */
async function* readTexts(
  file: string,
  { isCompressed, encoding }: { isCompressed: boolean; encoding: string },
): AsyncGenerator<string> {
  const bytes = createReadStream(file);
  const decoder = new TextDecoder(encoding);
  try {
    for await (const chunk of isCompressed ? pipeline(bytes, createGunzip(), () => {}) : bytes) {
      yield decoder.decode(chunk, { stream: true });
    }
  } catch (cause) {
    throw new TwtxtError("bad-file", `${file} cannot be read: ${Object(cause).message}.`, { cause });
  }
}
