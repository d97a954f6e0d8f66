// plugin/author/comments/isso.ts: reads the database of isso.
import { TwtxtError } from "../../errors.js";
import { later } from "../../later.js";
import { openDatabase, type SqlRow } from "../../store/sqlite-driver.js";
import type { ExportedComment } from "./comment-import.js";
import { decodeName } from "./xml-exports.js";

const markdown = later(() => import("markdown-it"));

const COMMENTS = `SELECT comments.id, comments.parent, comments.created, comments.mode, comments.text, comments.author,
  comments.website, threads.uri FROM comments JOIN threads ON threads.id = comments.tid ORDER BY comments.id`;

/** Of the column `mode`, see `isso/db/comments.py`. */
const APPROVED = 1;
const DELETED = 4;

/** Reads a database, which may be in use. @throws TwtxtError `bad-file` for another one */
export async function* readIsso(file: string): AsyncGenerator<ExportedComment> {
  const { default: MarkdownIt } = await markdown();
  const converter = new MarkdownIt({ html: true, linkify: true });
  for (const { id, parent, created, mode, text, author, website, uri } of readRows(file)) {
    yield {
      id: `isso ${id}`,
      parent: parent === null ? null : `isso ${parent}`,
      leftOut: mode === APPROVED ? null : mode === DELETED ? "deleted" : "not approved",
      pages: [String(uri)],
      name: decodeName(String(author ?? "")),
      site: decodeName(String(website ?? "")),
      html: converter.render(String(text ?? "")),
      time: Number(created) * 1000,
    };
  }
}

function readRows(file: string): SqlRow[] {
  const database = openDatabase(file, { isReadOnly: true });
  try {
    return database.prepare(COMMENTS).all();
  } catch (cause) {
    throw new TwtxtError("bad-file", `${file} is not a database of isso.`, { cause });
  } finally {
    database.close();
  }
}
