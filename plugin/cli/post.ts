// plugin/cli/post.ts: `eleventy-twtxt post` writes a note into a folder that it may ask for, and publishes it by git.
import { rm } from "node:fs/promises";
import { readText } from "../author/files.js";
import { misuse } from "../author/invocation.js";
import { endSignal } from "../author/machine.js";
import { readPost } from "../author/notes/front-matter.js";
import {
  checkNotesFolder,
  composeNote,
  exampleFolder,
  foldersOfNotes,
  hasTemplateCode,
  previewNote,
  rememberedNotesFolder,
  rememberNotesFolder,
  TEMPLATE_CODE_NOTE,
  writeNote,
} from "../author/notes/notes.js";
import {
  afterPush,
  type Publication,
  type Publishable,
  planPublication,
  publish,
  publishableNote,
  whyFollow,
} from "../author/notes/publish.js";
import { parseReply, type Reply, toReplyTo } from "../author/notes/reply.js";
import { loadSite, type Site } from "../author/site.js";
import type { TwtxtError } from "../errors.js";
import { PREVIEW_FOLDER } from "../site/site.js";
import { command } from "./command.js";
import { FOLDER, flag, HOSTS_OPTION, type Kind, option, optional, SETTINGS_OPTION, text } from "./options.js";
import { canAsk, isConfirmed, lineShownSafely, type Terminal } from "./terminal.js";

const NAME = "post";
const NO_EDITOR = "--edit needs the name of your editor in $VISUAL or $EDITOR, such as EDITOR=nano.";
const NOT_ASKED = "--publish asks before it publishes, so it needs a terminal. Leave it out, and run git yourself.";

const REPLY: Kind<Reply> = {
  name: "TWT",
  expected:
    'a hash and a feed URL, such as "abcdefg https://bob.example/twtxt.txt", or a reference, such as "https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z"',
  parse: parseReply,
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
    publish: flag("publishes the note by git: shows the commands, and runs them if you agree"),
    "dry-run": flag("prints what would be written, and writes nothing"),
    ...HOSTS_OPTION,
    ...SETTINGS_OPTION,
  },
  words: optional(text("TEXT", "one text, in quotes")),
  example: `$ eleventy-twtxt post "Hello from my own site."
notes/20261120-093000.md`,
  async run({ folder, edit, settings, "dry-run": isDryRun, ...values }, word, terminal) {
    if (values.publish && !canAsk(terminal)) throw misuse(NAME, NOT_ASKED);
    const replyTo = values["reply-to"] && (await toReplyTo(values["reply-to"], values));
    const editor = terminal.environment.VISUAL || terminal.environment.EDITOR;
    if (edit && !editor) throw misuse(NAME, NO_EDITOR);
    const site = await loadSite(terminal, settings);
    const body = await readNote(word, terminal, edit);
    const choice = await chooseNotesFolder(site, folder, terminal);
    if (choice === null) {
      terminal.say("Nothing was written.");
      return 1;
    }
    const note = await composeNote({ folder: choice.folder, body, replyTo }, site, terminal);
    if (hasTemplateCode(body)) terminal.say(TEMPLATE_CODE_NOTE);
    if (isDryRun) {
      const { file, content } = previewNote(note, terminal.now());
      terminal.print(content.replace(/\n$/, ""));
      terminal.say(`${site.shown(file)} would be written. Nothing was written.`);
      return 0;
    }
    if (choice.isNew) await rememberNotesFolder(choice.folder, site, terminal);
    const file = await writeNote(note, terminal.now());
    if (choice.isNew) {
      terminal.say(`Your next notes go into ${site.shown(choice.folder)} too. To change that: --folder DIR`);
    }
    const exitCode = edit && editor ? await terminal.open(editor, file) : 0;
    if (edit && (await isEmpty(file))) {
      await rm(file, { force: true });
      terminal.say("The note is empty, and was deleted.");
      return 1;
    }
    terminal.print(site.shown(file));
    if (values.publish && exitCode === 0) return publishIfConfirmed(await publishableNote(file), site, terminal);
    terminal.say(exitCode === 0 ? nextStep(site) : `The editor exited with code ${exitCode}. The note was saved.`);
    return exitCode === 0 ? 0 : 1;
  },
});

/** A note that cannot be read is not empty. */
async function isEmpty(file: string): Promise<boolean> {
  try {
    return readPost((await readText(file)) ?? "").content.trim() === "";
  } catch {
    return false;
  }
}

async function readNote(word: string | null, terminal: Terminal, mayBeEmpty: boolean): Promise<string> {
  const body = (word ?? (await terminal.readInput()) ?? "")
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .trim();
  if (body === "" && !mayBeEmpty) throw misuse(NAME, 'expected a text, such as "Hello from my own site.".');
  return body;
}

function nextStep({ settings: { host } }: Site): string {
  // Without a folder of its own, `serve` would show the preview to visitors.
  if (host === "node") {
    return `Look at it with npx @11ty/eleventy --serve --output=${PREVIEW_FOLDER}, then publish it with npx @11ty/eleventy.`;
  }
  const deploy = host === "netlify" ? "publish it with git add, git commit and git push" : "deploy it";
  return `Look at it with npx @11ty/eleventy --serve, then ${deploy}.`;
}

const NO = /^\s*no?\s*$/i;

/**
 * Shows the commands that publish new files, and runs them if the author agrees. Asks first whether the file of followed
 * feeds goes with them, if it has changed.
 *
 * @returns the exit code
 * @throws TwtxtError `not-published`
 */
async function publishIfConfirmed(content: Publishable, site: Site, terminal: Terminal): Promise<number> {
  const plan = await planWithFollow(content, site, terminal);
  for (const line of plan === null ? [] : formatPublication(plan)) terminal.say(line);
  if (plan === null || !(await isConfirmed("Run these commands?", terminal))) {
    terminal.say("Nothing was published. The note is saved.");
    return 1;
  }
  await publish(plan, {
    ...{ site, machine: terminal, signal: endSignal(terminal) },
    onCommand: ({ shown }) => terminal.say(`$ ${lineShownSafely(shown)}`),
    onOutput: (line) => terminal.say(lineShownSafely(line)),
  });
  terminal.say(`Published to ${plan.remote}. ${afterPush(site)}`);
  return 0;
}

/** @returns `null` if the author interrupts the question */
async function planWithFollow(content: Publishable, site: Site, terminal: Terminal): Promise<Publication | null> {
  const plan = await planPublication(content, { hasFollow: true, site, machine: terminal });
  if (plan.follow === null) return plan;
  terminal.say(lineShownSafely(whyFollow(plan.follow)));
  const answer = await terminal.ask(lineShownSafely(`Publish ${plan.follow}, too? [Y/n] `));
  if (answer === null) return null;
  return NO.test(answer) ? planPublication(content, { hasFollow: false, site, machine: terminal }) : plan;
}

function formatPublication({ commands, earlier, remote }: Publication): string[] {
  const others = earlier.map((subject) => lineShownSafely(`  ${subject}`));
  return [
    "To publish:",
    ...commands.map(({ shown }) => lineShownSafely(`  ${shown}`)),
    ...(others.length > 0 ? [`The push also publishes earlier commits that ${remote} does not have:`, ...others] : []),
  ];
}

const MAX_SHOWN = 9;

/**
 * Chooses the folder of a new note: the typed one, the remembered one, or the only one of the site. Otherwise asks.
 *
 * @param typed - the value of `--folder`, from the working directory
 * @returns the folder, absolute, and whether it is to be remembered; `null` after Ctrl-C or Ctrl-D
 * @throws TwtxtError `bad-usage` for a folder outside the site's sources, or if there is no terminal to ask on
 */
async function chooseNotesFolder(site: Site, typed: string | undefined, terminal: Terminal) {
  if (typed !== undefined) return { folder: checkNotesFolder(typed, site, terminal), isNew: true };
  const remembered = await rememberedNotesFolder(site, terminal);
  if (remembered !== null) return { folder: remembered, isNew: false };

  const folders = foldersOfNotes(site);
  const [only] = folders.length === 1 ? folders : [];
  if (only !== undefined && (site.settings.notes.hasAny || !canAsk(terminal))) return { folder: only, isNew: false };
  if (!canAsk(terminal)) throw unclear(folders, site);
  return askForFolder(folders, site, terminal);
}

async function askForFolder(folders: string[], site: Site, terminal: Terminal) {
  const choices = folders.length > 0 ? folders.slice(0, MAX_SHOWN) : [exampleFolder(site)];
  const [standard = ""] = choices;
  terminal.say(
    folders.length > 0
      ? "Which folder should your notes go into? Your posts are in:"
      : "Which folder should your notes go into? Your site has no posts yet. For example:",
  );
  for (const [at, folder] of choices.entries()) terminal.say(`  ${at + 1}  ${site.shown(folder)}`);
  const typed = await terminal.ask(`Type a number or another folder [${site.shown(standard)}]: `);
  if (typed === null) return null;
  const answer = typed.trim();
  const chosen = answer === "" ? standard : choices[Number(answer) - 1];
  return { folder: chosen ?? checkNotesFolder(answer, site, terminal), isNew: true };
}

function unclear(folders: string[], site: Site): TwtxtError {
  const where = folders.slice(0, MAX_SHOWN).map((folder) => site.shown(folder));
  const found = where.length === 0 ? "the site has no posts yet" : `there are posts in ${where.join(", ")}`;
  return misuse(
    "post",
    `cannot choose a folder for the note: ${found}. Name one once, and it is remembered: --folder ${where[0] ?? site.shown(exampleFolder(site))}.`,
  );
}
