// plugin/cli/post.ts: `eleventy-twtxt post` writes a note.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { TwtxtError } from "../errors.js";
import { PREVIEW_FOLDER } from "../site/site.js";
import { allowedHosts } from "./allowed-hosts.js";
import { misuse, readArguments } from "./command.js";
import { createText, readText } from "./files.js";
import { formatPost, readPost } from "./front-matter.js";
import { freeNoteTimes, noteName } from "./note-name.js";
import { chooseNotesFolder, rememberNotesFolder } from "./notes-folder.js";
import { replyToOf } from "./reply-to.js";
import { isBelow, type Site, siteAt } from "./site.js";
import type { Terminal } from "./terminal.js";

export const name = "post";
export const summary = "writes a note";
export const help = `Usage: eleventy-twtxt post "TEXT" [options]
       eleventy-twtxt post [options] < FILE

Writes a note, dated now, into the folder of your notes, with their tags and layout, and prints the
path of the new file. Where your site does not show which folder that is, a question on the terminal
asks once, and the answer is remembered on this machine. Markdown and mentions such as
@<bob https://bob.example/twtxt.txt> may be in the text.

  --folder DIR                 writes into this folder, and remembers it for the next notes
  --reply-to "HASH FEED-URL"   replies to the twt of this hash, in the feed of this URL; a nick may
                               stand between them
  --reply-to REFERENCE         the same by FEED-URL#:~:text=TIMESTAMP, which is looked up
  --allow-private-host HOST:PORT
                               a host of your own network that may be asked all the same
  --edit                       opens the note in $VISUAL or $EDITOR
  --dry-run                    prints what would be written, and writes nothing
  --settings FILE              the settings of the site (default .eleventy-twtxt/settings.json)

Example:
  $ eleventy-twtxt post "Hello from my own site."
  notes/20261120-093000.md`;

const OPTIONS = {
  folder: { type: "string" },
  "reply-to": { type: "string" },
  "allow-private-host": { type: "string", multiple: true },
  edit: { type: "boolean" },
  "dry-run": { type: "boolean" },
} as const;

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  const allowed = allowedHosts(values["allow-private-host"], name);
  const replyTo = values["reply-to"] === undefined ? undefined : await replyToOf(values["reply-to"], allowed);
  const editor = values.edit ? editorOf(terminal) : undefined;
  const site = await siteAt(terminal, values.settings);
  const text = await readNote(positionals, terminal, editor !== undefined);
  const choice = await chooseNotesFolder(site, values.folder, terminal);
  if (choice === null) {
    terminal.say("Nothing was written.");
    return 1;
  }
  const { folder } = choice;
  const like = await modelData(site, folder, terminal);

  const contentAt = (time: number) =>
    formatPost({ date: new Date(time), ...like, ...(replyTo && { replyTo }) }, `${text}\n`);
  if (/\{[{%#]/.test(text))
    terminal.say('The text holds "{{", "{%" or "{#", which a template language of your site may take for its own.');
  if (values["dry-run"]) {
    const [time = 0] = freeNoteTimes(folder, terminal.now());
    terminal.print(contentAt(time).replace(/\n$/, ""));
    terminal.say(`${site.shown(join(folder, noteName(time)))} would be written. Nothing was written.`);
    return 0;
  }
  if (choice.isNew) await rememberNotesFolder(folder, site, terminal);
  const file = await create(folder, terminal.now(), contentAt);
  if (choice.isNew) terminal.say(`Your next notes go into ${site.shown(folder)} too; --folder names another one.`);
  const exitCode = editor === undefined ? 0 : await terminal.open(editor, file);
  if (editor !== undefined && (await isEmpty(file))) {
    await rm(file, { force: true });
    terminal.say("The note is empty, and was not kept.");
    return 1;
  }
  terminal.print(site.shown(file));
  terminal.say(exitCode === 0 ? nextStep(site) : `The editor ended with ${exitCode}. The note is there.`);
  return exitCode === 0 ? 0 : 1;
}

/** Whether its author has left a note without a word. What cannot be read any more holds something. */
async function isEmpty(file: string): Promise<boolean> {
  try {
    return readPost((await readText(file)) ?? "").content.trim() === "";
  } catch {
    return false;
  }
}

function editorOf({ environment }: Terminal): string {
  const editor = environment.VISUAL || environment.EDITOR;
  if (!editor)
    throw misuse("post: --edit needs the name of your editor in $VISUAL or $EDITOR, such as EDITOR=nano.", name);
  return editor;
}

async function readNote(words: string[], terminal: Terminal, mayBeEmpty: boolean): Promise<string> {
  if (words.length > 1) throw misuse(`post: expected one text, got ${words.length}; put it into quotes.`, name);
  const text = (words[0] ?? (await terminal.readInput()) ?? "")
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .trim();
  if (text === "" && !mayBeEmpty) throw misuse('post: there is no text, such as "Hello from my own site.".', name);
  return text;
}

/** The tags and the layout that a note needs and does not get from the data of its folder. */
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
  // The data of the model's folder is not for a note elsewhere.
  if (notes.like === null || home === undefined || !isBelow(file(home), folder)) return plain;
  const model = file(notes.like);
  try {
    const { tags, layout } = readPost((await readText(model)) ?? "").data;
    const own = [tags].flat().filter((tag) => notes.tags.some((shared) => shared === tag));
    return { ...(own.length > 0 && { tags: own }), ...(layout !== undefined && { layout }) };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    terminal.say(`The note could not be made like ${shown(model)}: ${error.message}`);
    return plain;
  }
}

async function create(folder: string, now: number, contentAt: (time: number) => string): Promise<string> {
  for (const time of freeNoteTimes(folder, now)) {
    const file = join(folder, noteName(time));
    if (await createText(file, contentAt(time))) return file;
  }
  throw new TwtxtError("bad-file", `${folder} has no second left for a note.`);
}

function nextStep({ settings: { host } }: Site): string {
  // `serve` shows visitors the pages of a preview that has no folder of its own.
  if (host === "node") {
    return `Look at it with npx @11ty/eleventy --serve --output=${PREVIEW_FOLDER}, then publish it with npx @11ty/eleventy.`;
  }
  const deploy = host === "netlify" ? "publish it with git add, git commit and git push" : "deploy it";
  return `Look at it with npx @11ty/eleventy --serve, then ${deploy}.`;
}
