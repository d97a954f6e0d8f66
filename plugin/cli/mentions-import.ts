// plugin/cli/mentions-import.ts: `eleventy-twtxt mentions import` imports comments and mentions from other systems.
import { resolve } from "node:path";
import * as v from "valibot";
import { counted, listed } from "../author/amounts.js";
import { CommentImport } from "../author/comments/comment-import.js";
import { openExport } from "../author/comments/open-export.js";
import { readText } from "../author/files.js";
import { misuse } from "../author/invocation.js";
import { SiteMentions } from "../author/mentions/site-mentions.js";
import { loadSite, publishedSite } from "../author/site.js";
import { TwtxtError } from "../errors.js";
import { ManagedMention } from "../mentions/receive/managed-mention.js";
import { readWebmentionExport } from "../mentions/receive/webmention-io.js";
import { flag, type Kind, repeatable, type SITE_API_OPTIONS, type ValuesOf } from "./options.js";
import { formatTable, printData, type Terminal } from "./terminal.js";

/** Pages of a report that are listed if they are not on this site. */
const MISSING_PAGES = 10;

const MOVE: Kind<{ from: string; to: string }> = {
  name: "OLD=NEW",
  expected: "two paths, such as /2014/05/=/posts/",
  parse(text) {
    const [, from = "", to = ""] = /^(\/[^=]*)=(\/[^=]*)$/.exec(text) ?? [];
    return from === "" ? null : { from, to };
  },
};

export const IMPORT_OPTIONS = {
  "dry-run": flag("reads comments and counts them by page, and imports nothing"),
  move: repeatable(MOVE, "comments on pages below the path OLD are imported for those below NEW"),
};

/** What an import needs of the output of `mentions export`. */
const EXPORT = v.object({ mentions: v.array(v.omit(ManagedMention, ["id", "version", "under", "title"])) });

type Values = ValuesOf<typeof IMPORT_OPTIONS & typeof SITE_API_OPTIONS>;

export async function importFiles(values: Values, files: string[], terminal: Terminal): Promise<number> {
  for (const file of files) {
    const comments = await openExport(resolve(terminal.folder, file));
    if (comments) {
      const site = await publishedSite(await loadSite(terminal, values.settings));
      await importComments(file, await CommentImport.read(site, comments, values.move), values, terminal);
    } else await importMentions(file, values, terminal);
  }
  return 0;
}

async function importComments(
  file: string,
  comments: CommentImport,
  { "dry-run": isDry, ...values }: Values,
  terminal: Terminal,
): Promise<void> {
  const onProgress = (done: number) => terminal.say(`${done} of at most ${comments.found}`);
  const site = isDry ? null : await SiteMentions.open(values, terminal);
  const result = await site?.import(comments.mentions(), onProgress);
  if (isDry) for await (const _ of comments.mentions());
  const pages = listCounts(comments.byPage);
  const missing = listCounts(comments.withoutPage);
  const leftOut = [...comments.leftOut].map(([why, count]) => [count, why] as const);
  if (isDry)
    printData({ pages, missing, leftOut: Object.fromEntries(comments.leftOut) }, toRows(pages), values, terminal);
  const counts = listed([
    [result?.known ?? 0, "that your site has already"],
    [result?.ignored ?? 0, "that your live site refused: deploy it as it is built here"],
    [comments.cut, "with a long text, which is cut"],
    [leftOut.reduce((sum, [count]) => sum + count, 0), `left out (${listed(leftOut)})`],
    [toSum(missing), `on ${counted(missing.length, "page")} that your site does not have`],
  ]);
  const first = result ? `${result.imported} imported` : `${toSum(pages)} to import`;
  const found = counted(comments.found, "comment");
  terminal.say(`${file}: ${found}: ${first}${counts && `, ${counts}`}.${isDry ? " Nothing was imported." : ""}`);
  if (missing.length === 0) return;
  for (const row of toRows(missing.slice(0, MISSING_PAGES))) terminal.say(`  ${row}`);
  if (missing.length > MISSING_PAGES) terminal.say(`  and ${missing.length - MISSING_PAGES} more: --dry-run --json`);
  terminal.say("If such a page has another path now, name both, and import the file again: --move /2014/05/=/posts/");
}

type PageCounts = ReturnType<typeof listCounts>;

/** The largest first. */
function listCounts(counts: ReadonlyMap<string, number>) {
  return [...counts].map(([url, count]) => ({ url, count })).sort((one, other) => other.count - one.count);
}

function toSum(counts: PageCounts): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function toRows(counts: PageCounts): string[] {
  return formatTable(counts.map(({ url, count }) => [String(count), url]));
}

async function importMentions(file: string, values: Values, terminal: Terminal): Promise<void> {
  if (values["dry-run"]) throw misuse("mentions import", "--dry-run is for comments: XML, or the database of isso.");
  const site = await SiteMentions.open(values, terminal);
  const { mentions, unreadable } = await readExport(resolve(terminal.folder, file));
  const onProgress = (done: number) => terminal.say(`${done} of ${mentions.length}`);
  const { imported, known, ignored } = await site.import(mentions, onProgress);
  const early = mentions.filter(({ received }) => received && Date.parse(received) > terminal.now()).length;
  const others = listed([
    [known, "the same as one that your site has"],
    [ignored, "skipped: their targets are not pages of this site, nor of the option mentions.aliases"],
    [early, "with a time in the future, stored with the present time"],
    [unreadable, "skipped: private, or without source and target"],
  ]);
  terminal.say(`${file}: ${imported} imported${others && `, ${others}`}.`);
}

/** @throws TwtxtError `bad-file` */
async function readExport(file: string) {
  const content = await readText(file);
  let json: unknown;
  try {
    json = JSON.parse((content ?? "").replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new TwtxtError("bad-file", `${file} is not JSON.`, { cause });
  }
  const own = v.safeParse(EXPORT, json);
  if (!own.success) return readWebmentionExport(json);
  const mentions = own.output.mentions.flatMap(({ state, ...mention }) => (state === "shown" ? [mention] : []));
  return { mentions, unreadable: 0 };
}
