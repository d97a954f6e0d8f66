// plugin/cli/post.ts: `eleventy-twtxt post` writes a note.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createText, readText } from "../author/files.js";
import { misuse, userAgent } from "../author/invocation.js";
import { isBelow, type Site, siteAt } from "../author/site.js";
import { TwtxtError } from "../errors.js";
import { twtHash } from "../feed/hash.js";
import { parseReplyTo } from "../feed/subject.js";
import { toInstant } from "../feed/timestamp.js";
import { parseReference } from "../mentions/reference.js";
import { readArchives, readLiveFeed } from "../mentions/send/live-feed.js";
import { PREVIEW_FOLDER } from "../site/site.js";
import { optional } from "./arguments.js";
import { command } from "./command.js";
import { formatPost, readPost } from "./front-matter.js";
import { chooseNotesFolder, freeNoteTimes, type NotesFolder, noteName, rememberNotesFolder } from "./notes-folder.js";
import { FOLDER, flag, HOSTS_OPTION, type Kind, option, SETTINGS_OPTION, text } from "./options.js";
import type { Terminal } from "./terminal.js";

const NAME = "post";

type TwtReference = { feedUrl: string; timestamp: string };
/** The twt that a note replies to, by its hash or by its time. */
type Reply = { hash: string; nick: string | null; feedUrl: string } | TwtReference;

const MARK = "#:~:text=";

const REPLY: Kind<Reply> = {
  name: "TWT",
  expected:
    'a hash and a feed URL, such as "abcdefg https://bob.example/twtxt.txt", or a reference, such as "https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z"',
  parse(value) {
    if (!value.includes(MARK)) {
      const { hash, nick = null, feedUrl } = parseReplyTo(value) ?? {};
      return hash !== undefined && feedUrl ? { hash, nick, feedUrl } : null;
    }
    const { url, timestamps } = parseReference(value, "bad-usage");
    const [timestamp] = timestamps;
    return timestamp === undefined ? null : { feedUrl: url, timestamp };
  },
};

export const post = command({
  name: NAME,
  summary: "writes a note",
  usage: ['"TEXT" [options]', "[options] < FILE"],
  about:
    "Writes a note, dated now, into the folder of your notes, with their tags and layout, and prints the path of the new file. If your site does not show which folder that is, the command asks once on the terminal, and remembers the answer on this machine. The text may contain Markdown and mentions such as @<bob https://bob.example/twtxt.txt>.",
  options: {
    folder: option(FOLDER, "writes into this folder, and remembers it for the next notes"),
    "reply-to": option(
      REPLY,
      'replies to a twt: "HASH FEED-URL", with a nick between them if you like, or FEED-URL#:~:text=TIMESTAMP, which is looked up',
    ),
    edit: flag("opens the note in $VISUAL or $EDITOR"),
    "dry-run": flag("prints what would be written, and writes nothing"),
    ...HOSTS_OPTION,
    ...SETTINGS_OPTION,
  },
  words: optional(text("TEXT", "one text, in quotes")),
  example: `$ eleventy-twtxt post "Hello from my own site."
notes/20261120-093000.md`,
  async run({ folder, edit, settings, "dry-run": isDryRun, ...values }, word, terminal) {
    const replyTo = values["reply-to"] && (await replyToOf(values["reply-to"], values["allow-private-host"]));
    const editor = edit ? editorOf(terminal) : undefined;
    const site = await siteAt(terminal, settings);
    const body = await readNote(word, terminal, edit);
    const choice = await chooseNotesFolder(site, folder, terminal);
    if (choice === null) {
      terminal.say("Nothing was written.");
      return 1;
    }
    const like = await modelData(site, choice.folder, terminal);
    if (/\{[{%#]/.test(body)) {
      terminal.say('The text contains "{{", "{%" or "{#", which a template language of your site may interpret.');
    }
    const note: Note = {
      site,
      choice,
      contentAt: (time) => formatPost({ date: new Date(time), ...like, ...(replyTo && { replyTo }) }, `${body}\n`),
    };
    return isDryRun ? preview(note, terminal) : write(note, editor, terminal);
  },
});

interface Note {
  site: Site;
  choice: NotesFolder;
  /** @param time - milliseconds since 1970 */
  contentAt(time: number): string;
}

function preview({ site, choice: { folder }, contentAt }: Note, terminal: Terminal): number {
  const [time = 0] = freeNoteTimes(folder, terminal.now());
  terminal.print(contentAt(time).replace(/\n$/, ""));
  terminal.say(`${site.shown(join(folder, noteName(time)))} would be written. Nothing was written.`);
  return 0;
}

async function write({ site, choice, contentAt }: Note, editor: string | undefined, terminal: Terminal) {
  const { folder, isNew } = choice;
  if (isNew) await rememberNotesFolder(folder, site, terminal);
  const file = await create(folder, terminal.now(), contentAt);
  if (isNew) terminal.say(`Your next notes go into ${site.shown(folder)} too. To change that: --folder DIR`);
  const exitCode = editor === undefined ? 0 : await terminal.open(editor, file);
  if (editor !== undefined && (await isEmpty(file))) {
    await rm(file, { force: true });
    terminal.say("The note is empty, and was deleted.");
    return 1;
  }
  terminal.print(site.shown(file));
  terminal.say(exitCode === 0 ? nextStep(site) : `The editor exited with code ${exitCode}. The note was saved.`);
  return exitCode === 0 ? 0 : 1;
}

/** A note that cannot be read is not empty. */
async function isEmpty(file: string): Promise<boolean> {
  try {
    return readPost((await readText(file)) ?? "").content.trim() === "";
  } catch {
    return false;
  }
}

function editorOf({ environment }: Terminal): string {
  const editor = environment.VISUAL || environment.EDITOR;
  if (editor) return editor;
  throw misuse(NAME, "--edit needs the name of your editor in $VISUAL or $EDITOR, such as EDITOR=nano.");
}

async function readNote(word: string | null, terminal: Terminal, mayBeEmpty: boolean): Promise<string> {
  const body = (word ?? (await terminal.readInput()) ?? "")
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .trim();
  if (body === "" && !mayBeEmpty) throw misuse(NAME, 'expected a text, such as "Hello from my own site.".');
  return body;
}

/** The tags and the layout that a note does not inherit from its folder. */
async function modelData(
  { settings: { notes }, file, shown }: Site,
  folder: string,
  terminal: Terminal,
): Promise<Record<string, unknown>> {
  const plain = {
    ...(notes.tags.length > 0 && { tags: notes.tags }),
    ...(notes.layout !== null && { layout: notes.layout }),
  };
  const [home] = notes.folders;
  // The data of a folder does not apply to notes elsewhere.
  if (notes.like === null || home === undefined || !isBelow(file(home), folder)) return plain;
  const model = file(notes.like);
  try {
    const { tags, layout } = readPost((await readText(model)) ?? "").data;
    const own = [tags].flat().filter((tag) => notes.tags.some((shared) => shared === tag));
    return { ...(own.length > 0 && { tags: own }), ...(layout !== undefined && { layout }) };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    terminal.say(`The note does not take its tags and layout from ${shown(model)}: ${error.message}`);
    return plain;
  }
}

async function create(folder: string, now: number, contentAt: (time: number) => string): Promise<string> {
  for (const time of freeNoteTimes(folder, now)) {
    const file = join(folder, noteName(time));
    if (await createText(file, contentAt(time))) return file;
  }
  throw new TwtxtError("bad-file", `${folder} has a note for every second of the next day.`);
}

function nextStep({ settings: { host } }: Site): string {
  // Without a folder of its own, `serve` would show the preview to visitors.
  if (host === "node") {
    return `Look at it with npx @11ty/eleventy --serve --output=${PREVIEW_FOLDER}, then publish it with npx @11ty/eleventy.`;
  }
  const deploy = host === "netlify" ? "publish it with git add, git commit and git push" : "deploy it";
  return `Look at it with npx @11ty/eleventy --serve, then ${deploy}.`;
}

/**
 * The value for the front matter: `<hash> <nick> <feed url>`, without an unknown nick.
 *
 * @param reply - a time is looked up in the feed and its archives
 * @param allowPrivateHosts - `host:port`s in the author's own network
 * @throws TwtxtError `no-such-twt`, and errors of reading the feed
 */
async function replyToOf(reply: Reply, allowPrivateHosts: readonly string[]): Promise<string> {
  const { hash, nick, feedUrl } = "hash" in reply ? reply : await lookUp(reply, allowPrivateHosts);
  return [hash, ...(nick === null ? [] : [nick]), feedUrl].join(" ");
}

async function lookUp({ feedUrl, timestamp }: TwtReference, allowPrivateHosts: readonly string[]) {
  // Loaded on demand: most notes are not replies.
  const { createGuard } = await import("../http/guard.js");
  const ask = createGuard({ userAgent: userAgent(), allowPrivateHosts });
  const feed = await readLiveFeed(ask, feedUrl).catch((error: unknown) => {
    // The message of the outer error is for the author's own feed.
    throw Object(error).cause instanceof TwtxtError ? Object(error).cause : error;
  });
  const instant = toInstant(timestamp) ?? "";
  const isWanted = (twt: { instant: string }) => twt.instant === instant;
  const found = feed.twts.filter(isWanted);
  if (found.length === 0) found.push(...(await readArchives(ask, feed, instant)).twts.filter(isWanted));
  const [twt] = found;
  if (!twt) throw new TwtxtError("no-such-twt", `${feedUrl} has no twt at ${timestamp}.`);
  if (found.length === 1) return { hash: twtHash(feed.identity, twt), nick: feed.nick, feedUrl: feed.identity };
  throw new TwtxtError("no-such-twt", `${feedUrl} has ${found.length} twts at ${timestamp}: choose one by its hash.`);
}
