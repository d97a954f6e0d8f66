// plugin/eleventy/unknown-mentions.ts: which of the texts that look like mentions a build warns about.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../http/one-line.js";
import type { Findings } from "./findings.js";
import { replaceFile } from "./output/write-files.js";
import type { Schedule } from "./posts/posts.js";

/** The texts in old posts that an earlier build has named, as `<input path> <text>`. */
const WARNED = ".eleventy-twtxt/unknown-mentions.json";
/** The mentions of older posts were sent, or never will be. PROTOCOL 2.3, "First run" */
const NEW_MS = 7 * 86_400_000;
/** Fenced blocks, indented blocks and spans of code in Markdown, and code in HTML. */
const CODE = /^ {0,3}(```+|~~~+)[\s\S]*?^ {0,3}\1|^(?: {4}|\t).*$|(`+)[^`][\s\S]*?\2|<(code|pre)\b[\s\S]*?<\/\3>/gim;

type Found = ReturnType<Findings["take"]>[number];

/**
 * The texts to warn about. Annotations such as `@Autowired`, which a post has in its code, are none. In old posts, each text
 * is named once: no one would be notified any more.
 */
export async function unknownMentions(
  found: readonly Found[],
  { dated }: Pick<Schedule, "dated">,
  { root, now }: { root: string; now: number },
): Promise<Found[]> {
  const inPosts = withFiles(found, (file) => dated.some(({ post }) => post.inputPath === file));
  if (inPosts.length === 0) return [];
  const code = dated.flatMap(({ post }) => post.rawInput?.match(CODE) ?? []).join("\n");
  const mentions = inPosts.filter(({ text }) => !code.includes(text));
  const recent = new Set(
    dated.filter(({ timestamp }) => now - Date.parse(timestamp) < NEW_MS).map(({ post }) => post.inputPath),
  );
  const warned = new Set([parseJson(await readFile(join(root, WARNED), "utf8").catch(() => "[]"))].flat());
  const old = mentions.flatMap(({ text, files }) =>
    files.filter((file) => !recent.has(file)).map((file) => `${file} ${text}`),
  );
  if (old.some((name) => !warned.has(name))) await replaceFile(join(root, WARNED), `${JSON.stringify(old)}\n`);
  return mentions.flatMap(({ text, files }) =>
    withFiles([{ text, files }], (file) => recent.has(file) || !warned.has(`${file} ${text}`)),
  );
}

function withFiles(found: readonly Found[], isWanted: (file: string) => boolean): Found[] {
  return found
    .map(({ text, files }) => ({ text, files: files.filter(isWanted) }))
    .filter(({ files }) => files.length > 0);
}
