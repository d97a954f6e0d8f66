// plugin/mentions/answers/tell-readers.ts: sends the mails that are due: confirmations and answers. PROTOCOL 2.6
import { createHash } from "node:crypto";
import type { Log } from "../../http/respond.js";
import type { SitePages } from "../../site/site.js";
import type { ReaderMail } from "../inform/mail.js";
import { readWords } from "../mention.js";
import type { MentionView } from "../receive/mention-view.js";
import { toSource } from "../reference.js";
import { plainName } from "../verify/source-text.js";
import { type Answer, answerMail, type MailContext } from "./answer-mails.js";
import { type AnswerReaders, type Due, MESSAGES, type Reader } from "./readers.js";

interface TellingParts {
  readers: AnswerReaders;
  view: MentionView;
  /** The nick of the site. */
  nick: string;
  pages: Pick<SitePages, "own" | "titles">;
  context: MailContext;
  /** @throws TwtxtError `mail-failed`, without the reader's address */
  send(mail: ReaderMail): Promise<void>;
  log: Log;
  isOver(): boolean;
}

/**
 * Sends the mails that are due. Of concurrent calls, in one process or several, only one sends a mail. A later call repeats
 * one that has failed.
 */
export async function tellReaders(parts: TellingParts): Promise<void> {
  const { readers, context, send, log, isOver } = parts;
  for (const due of await readers.listDue()) {
    if (isOver()) return;
    const all = due.thread === null ? [] : findAnswers(due.reader, due.thread, parts);
    const told = new Set(due.thread === null ? [] : due.reader.threads[due.thread]?.told);
    const answers = all.filter(({ name }) => !told.has(name));
    if (!isNews(due, answers) || !(await readers.claim(due))) continue;
    try {
      await send(answerMail(due, answers, context));
      const names = all.map(({ name }) => name);
      await readers.finish(due, names);
    } catch (error) {
      log(`A mail to a reader failed; a later run tries again. ${(error as Error).message}`, { level: "error" });
    }
  }
}

function isNews({ reader, thread }: Due, answers: readonly Answer[]): boolean {
  if (thread === null) return true;
  return thread === MESSAGES ? reader.threads[MESSAGES]?.waits !== null : answers.length > 0;
}

/** All shown answers to a reader's comments on a post, but for the reader's own. */
function findAnswers(reader: Reader, thread: string, { view, nick, pages }: TellingParts): Answer[] {
  const comments = (reader.threads[thread]?.comments ?? []).flatMap((id) => view.get(id) ?? []);
  return comments.flatMap((comment) => {
    const { shown, own } = view.findAnswers(comment);
    const others = shown.filter(({ identity }) => identity !== comment.identity);
    return [
      ...others.map((answer) => ({
        name: toName(answer.id),
        author: plainName(answer),
        text: readWords(answer),
        url: answer.author.guest ? thread : toSource(answer),
      })),
      ...own.map(({ timestamp, page }) => {
        const twt = pages.own?.find(({ source }) => source === page);
        const text = twt?.text ?? pages.titles?.[page ?? ""] ?? "";
        return { name: toName(timestamp), author: nick, text, url: page ?? thread };
      }),
    ];
  });
}

function toName(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 10);
}
