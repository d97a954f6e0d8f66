// plugin/mentions/answers/tell-readers.ts: writes and sends the mails that are due: confirmations and answers. PROTOCOL 2.6
import { hash } from "node:crypto";
import type { Log } from "../../http/respond.js";
import type { AnswerWords } from "../../options/answer-words.js";
import { fillIn } from "../../options/words.js";
import type { SitePages } from "../../site/site.js";
import type { ReaderMail } from "../inform/mail.js";
import { readWords } from "../mention.js";
import type { MentionView } from "../receive/mention-view.js";
import { toSource } from "../reference.js";
import { plainName, quoteExcerpt } from "../verify/source-text.js";
import { type AnswerReaders, type Due, MESSAGES, type Reader } from "./readers.js";

/** Answers quoted in a mail; the rest is counted. */
const QUOTED = 20;

/** An answer to a reader's comment. */
interface Answer {
  /** Identifies it among the answers to a reader. */
  name: string;
  /** The author's name, as plain text. */
  author: string;
  text: string;
  /** Where to read it. */
  url: string;
}

export interface MailContext {
  words: AnswerWords;
  host: string;
  /** The URL below which the readers' links are. */
  links: string;
  /** The page on which guests read their messages. */
  contactPage: string;
}

interface TellingParts {
  readers: AnswerReaders;
  view: MentionView;
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
  return hash("sha256", text, "base64url").slice(0, 10);
}

/**
 * Writes a mail. Its headers have no untrusted text.
 *
 * @param answers - those that the reader was not told of; none for a confirmation and for private messages
 */
function answerMail(due: Due, answers: readonly Answer[], context: MailContext): ReaderMail {
  const { guest, reader, thread } = due;
  const { words, host, links, contactPage } = context;
  const link = `${links}/${guest}?k=${reader.key}`;
  const values = { host, link, page: thread ?? "", count: String(answers.length), contact: contactPage };
  const say = (word: keyof AnswerWords) => fillIn(words[word], values);
  const [subject, paragraphs] =
    thread === null
      ? [say("confirmSubject"), [say("confirmText"), link, say("confirmElse")]]
      : thread === MESSAGES
        ? [say("messageSubject"), [say("messageText"), contactPage, say("stopText"), link]]
        : [say("answerSubject"), [say("answerText"), ...quote(answers), say("stopText"), link]];
  const names = [
    guest,
    reader.key,
    thread,
    reader.since,
    reader.threads[thread ?? ""]?.waits,
    ...answers.map(({ name }) => name),
  ];
  const id = hash("sha256", names.join("\n")).slice(0, 32);
  return {
    to: reader.address,
    subject,
    text: `${paragraphs.join("\n\n")}\n`,
    messageId: `<${id}@${host.replace(/:\d+$/, "")}>`,
    // RFC 8058
    headers: { "List-Unsubscribe": `<${link}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" },
  };
}

function quote(answers: readonly Answer[]): string[] {
  const quoted = answers
    .slice(0, QUOTED)
    .map(({ author, text, url }) => [author, ...quoteExcerpt(text), url].join("\n"));
  const more = answers.length - quoted.length;
  return [...quoted, ...(more > 0 ? [`+ ${more}`] : [])];
}
