// plugin/cli/message/draft.ts: the text of a message: as it was typed, from standard input, or from an editor.

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { TwtxtError } from "../../errors.js";
import { createSecret } from "../../keys/secret-file.js";
import { misuse } from "../command.js";
import { dataFolder } from "../data-folder.js";
import { readText } from "../files.js";
import { typed } from "../invocation.js";
import type { Terminal } from "../terminal.js";

/** Where the text comes from. */
export type TextSource = { text: string } | { editor: string };

/**
 * Reads the text, or finds the editor for it.
 *
 * @param word - what stands behind the addresses
 * @throws TwtxtError `bad-usage` where there is neither
 */
export async function textSource(word: string | undefined, terminal: Terminal): Promise<TextSource> {
  const input = word ?? (await terminal.readInput());
  if (input !== null) {
    const text = tidied(input);
    if (text === "") throw misuse('message send: there is no text, such as "See you at nine?".', "message");
    return { text };
  }
  const editor = terminal.environment.VISUAL || terminal.environment.EDITOR;
  if (editor) return { editor };
  throw misuse(
    "message send: there is no text. Put it behind the addresses, or name your editor in $EDITOR, such as EDITOR=nano.",
    "message",
  );
}

/**
 * Lets somebody write a text, and hands it to whoever sends it. Where it is not sent, it is kept in a file.
 *
 * @param to - how the recipients are typed, to say how the file is sent
 * @param send - resolves to the exit code
 * @returns the exit code
 */
export async function sendFromEditor(
  editor: string,
  to: readonly string[],
  send: (text: string) => Promise<number>,
  terminal: Terminal,
): Promise<number> {
  const file = join(dataFolder(terminal), "drafts", `message-${randomBytes(4).toString("hex")}.txt`);
  await createSecret(file, "");
  terminal.say("Write, save and close the editor to send; an empty text sends nothing.");
  const keep = () =>
    terminal.say(
      `Your text is in ${file}. To send it, type: ${typed(`message send ${to.join(" ")}`)} < ${quoted(file)}`,
    );
  try {
    const exitCode = await terminal.open(editor, file);
    if (exitCode !== 0) terminal.say(`The editor ended with ${exitCode}. Nothing was sent.`);
    const text = tidied(await draftIn(file));
    if (text === "") {
      await rm(file, { force: true });
      if (exitCode === 0) terminal.say("The message is empty, and was not sent.");
      return 1;
    }
    if (exitCode !== 0) {
      keep();
      return 1;
    }
    const result = await send(text);
    await rm(file, { force: true });
    return result;
  } catch (error) {
    keep();
    throw error;
  }
}

async function draftIn(file: string): Promise<string> {
  const text = await readText(file);
  if (text === null) throw new TwtxtError("bad-file", "The text is not in UTF-8. Nothing was sent.");
  return text;
}

function tidied(text: string): string {
  return text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
}

function quoted(file: string): string {
  return /^[\w./@+-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`;
}
