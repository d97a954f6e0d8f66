// plugin/author/notes/own-posts.ts: the author's posts as files: lists, changes and deletes them.
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { ifTwtxtError, orBadFile, reworded, TwtxtError } from "../../errors.js";
import { ifThere, readText, replaceText } from "../files.js";
import type { Site } from "../site.js";
import { readPost, writeField } from "./front-matter.js";
import { findPostFile, foldersOfNotes, whyNoNotes } from "./notes.js";

/** A list of more posts would take long to read. */
const MAX_POSTS = 5000;

export interface OwnPost {
  /** From the root of the site. */
  file: string;
  /** Empty for a note. */
  title: string;
  body: string;
  /** As in its front matter, an ISO date; `null` for none. */
  date: string | null;
  isDeleted: boolean;
  /** Identifies its content, so that no change of another program is overwritten. */
  version: string;
}

/** The posts in the folders of the site's posts and notes, newest first. @throws TwtxtError `bad-file` */
export async function listPosts(site: Site): Promise<OwnPost[]> {
  const folders = foldersOfNotes(site).filter((folder) => whyNoNotes(folder, site) === null);
  const names = await Promise.all(
    folders.map(async (folder) => {
      const all = (await orBadFile(ifThere(readdir(folder)))) ?? [];
      return all.filter((name) => name.endsWith(".md")).map((name) => relative(site.file("."), join(folder, name)));
    }),
  );
  const files = [...new Set(names.flat())].sort().reverse().slice(0, MAX_POSTS);
  // A file that is no post, or that another program removes, is not listed.
  const posts = await Promise.all(files.map((file) => readOwnPost(file, site).catch(ifTwtxtError(() => null))));
  return posts.filter((post) => post !== null).sort((a, b) => ((a.date ?? "") < (b.date ?? "") ? 1 : -1));
}

/**
 * @param file - from the root of the site
 * @throws TwtxtError `not-found`, `bad-file`, `bad-front-matter`
 */
export async function readOwnPost(file: string, site: Site): Promise<OwnPost> {
  return parseOwnPost(file, await readPostText(file, site));
}

function parseOwnPost(file: string, text: string): OwnPost {
  const { data, content } = readPost(text);
  return {
    file,
    title: typeof data.title === "string" ? data.title : "",
    body: content.trim(),
    date: data.date instanceof Date && !Number.isNaN(data.date.getTime()) ? data.date.toISOString() : null,
    isDeleted: data.twt === "deleted",
    version: createHash("sha256").update(text).digest("hex"),
  };
}

/**
 * Changes the text and the title of a post. All other front matter stays as it is written.
 *
 * @param version - of the post that the author has changed
 * @throws TwtxtError `bad-usage` if the file has changed since; `not-found`, `bad-file`, `bad-front-matter`
 */
export async function changePost(
  { file, version, title, body }: Pick<OwnPost, "file" | "version" | "title" | "body">,
  site: Site,
): Promise<void> {
  if (body === "") throw new TwtxtError("bad-usage", "The post is empty. To remove it, delete it.");
  await rewrite({ file, version }, site, (text, old) => {
    const titled = title === old.title ? text : withField(text, "title", title);
    return withBody(titled, `${body}\n`);
  });
}

/**
 * Deletes a post: its text goes, and `twt: deleted` in its front matter makes its page say so.
 *
 * @throws TwtxtError as {@link changePost}
 */
export function deletePost(post: Pick<OwnPost, "file" | "version">, site: Site): Promise<void> {
  return rewrite(post, site, (text) => withBody(withField(text, "twt", "deleted"), ""));
}

async function rewrite(
  { file, version }: Pick<OwnPost, "file" | "version">,
  site: Site,
  change: (text: string, old: OwnPost) => string,
): Promise<void> {
  const text = await readPostText(file, site);
  const old = parseOwnPost(file, text);
  if (old.version !== version) {
    throw new TwtxtError(
      "bad-usage",
      "Another program has changed the post since the page was shown. Nothing was saved.",
    );
  }
  const explain = ({ message }: TwtxtError) => `${file} was not changed: ${message}. Change it in your editor.`;
  const write = async () => replaceText(findPostFile(file, site), change(text, old));
  await write().catch(reworded(explain, "bad-front-matter"));
}

async function readPostText(file: string, site: Site): Promise<string> {
  const text = await readText(findPostFile(file, site));
  if (text === null) throw new TwtxtError("bad-file", `${file} is not a text in UTF-8.`);
  return text;
}

function withField(text: string, key: string, value: string): string {
  return writeField(text, key, value)?.text ?? text;
}

function withBody(text: string, body: string): string {
  const { content } = readPost(text);
  return text.slice(0, text.length - content.length) + body;
}
