// plugin/mentions/answers/answer-mails.ts: the mails to readers: the confirmation, and answers. Headers have no untrusted text.
import { createHash } from "node:crypto";
import { type AnswerWords, fillIn } from "../../options/answer-words.js";
import type { ReaderMail } from "../inform/mail.js";
import { excerpt, quotedLines } from "../verify/source-text.js";
import { type Due, MESSAGES } from "./readers.js";

/** Answers quoted in a mail; the rest is counted. */
const QUOTED = 20;

/** An answer to a reader's comment. */
export interface Answer {
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
  /** The host of the site. */
  host: string;
  /** The URL below which the readers' links are. */
  links: string;
  /** The page on which guests read their messages. */
  contactPage: string;
}

/** @param answers - those that the reader was not told of; none for a confirmation and for private messages */
export function answerMail(due: Due, answers: readonly Answer[], context: MailContext): ReaderMail {
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
  const id = createHash("sha256").update(names.join("\n")).digest("hex").slice(0, 32);
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
    .map(({ author, text, url }) => [author, ...quotedLines(excerpt(text)), url].join("\n"));
  const more = answers.length - quoted.length;
  return [...quoted, ...(more > 0 ? [`+ ${more}`] : [])];
}
