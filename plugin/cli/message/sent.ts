// plugin/cli/message/sent.ts: `message sent`: the author's own copies, which the author's keys open.
import { TwtxtError } from "../../errors.js";
import { parseMessage } from "../../messages/line.js";
import { type OwnKeys, openWith } from "../../messages/read/open-with.js";
import { misuse, readArguments } from "../command.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { namedBy, shortId } from "./ids.js";
import { mailboxOf } from "./mailbox.js";
import { textOf } from "./shown.js";
import { followedBy, indented } from "./wrap.js";

export async function sent(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("message sent", args, OWN_SITE_OPTIONS);
  if (positionals.length > 1) throw misuse("message sent: takes one id at the most.", "message");
  const mailbox = await mailboxOf(values, terminal);
  const all = await mailbox.outbox().sent();
  const wanted = positionals.length === 0 ? all : namedBy(positionals, all, "copy of yours");
  const copies = wanted.map(({ id, created, to, sealed }) => ({
    id,
    created,
    to,
    text: ownText(sealed, mailbox.keys),
  }));
  if (values.json) {
    terminal.print(JSON.stringify(copies, null, 2));
    return 0;
  }
  const columns = terminal.columns();
  for (const { id, created, to, text } of copies) {
    const head = `${shortId(id)}  ${created}  to ${to.join(", ")}`;
    const shown = text ?? "(sealed by another key than the one here)";
    const lines = positionals.length === 0 ? followedBy(shown, head, columns) : [head, ...indented(shown, columns)];
    for (const line of lines) terminal.print(line);
  }
  if (positionals.length === 0) terminal.say(`${copies.length} ${copies.length === 1 ? "copy" : "copies"}.`);
  return 0;
}

/**
 * What the author has written.
 *
 * @returns `null` for what none of the author's keys opens
 */
export function ownText(sealed: string, keys: OwnKeys): string | null {
  try {
    return textOf({ message: parseMessage(new TextDecoder().decode(openWith(sealed, keys).plaintext)) });
  } catch (error) {
    if (error instanceof TwtxtError) return null;
    throw error;
  }
}
