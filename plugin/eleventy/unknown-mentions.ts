// plugin/eleventy/unknown-mentions.ts: which of the texts that look like mentions a build warns about.
import type { Findings } from "./findings.js";
import type { Schedule } from "./posts/posts.js";

/** The mentions of older posts were sent, or never will be. PROTOCOL 2.3, "First run" */
const NEW_MS = 7 * 86_400_000;
/** Fenced blocks, indented blocks and spans of code in Markdown, and code in HTML. */
const CODE = /^ {0,3}(```+|~~~+)[\s\S]*?^ {0,3}\1|^(?: {4}|\t).*$|(`+)[^`][\s\S]*?\2|<(code|pre)\b[\s\S]*?<\/\3>/gim;

type Found = ReturnType<Findings["take"]>[number];

/** The texts in new posts, without annotations such as `@Autowired`, which a post has in its code. */
export function unknownMentions(found: readonly Found[], { dated }: Pick<Schedule, "dated">, now: number): Found[] {
  const recent = dated.filter(({ timestamp }) => now - Date.parse(timestamp) < NEW_MS);
  const isRecent = (file: string) => recent.some(({ post }) => post.inputPath === file);
  const inPosts = found
    .map(({ text, files }) => ({ text, files: files.filter(isRecent) }))
    .filter(({ files }) => files.length > 0);
  if (inPosts.length === 0) return [];
  const code = dated.flatMap(({ post }) => post.rawInput?.match(CODE) ?? []).join("\n");
  return inPosts.filter(({ text }) => !code.includes(text));
}
