// plugin/mentions/comments/comment-page.ts: the pages with the form for readers without JavaScript: to answer a reply, and for a refused comment.
import { type TwtxtError, type TwtxtErrorCode, toStatus } from "../../errors.js";
import type { HttpResponse } from "../../http/respond.js";
import type { CommentWords } from "../../options/comment-words.js";
import type { SharedWords } from "../../options/contact-words.js";
import { type CommentFormParts, commentForm } from "../../site/comment-form.js";
import { element, type MarkupElement, toHtml } from "../../site/html.js";
import { GUEST } from "../../site/visible-name.js";
import { type AnsweringSite, answerPage, backLink, ownPage, refusal } from "../receive/endpoint-page.js";
import type { CommentFields } from "./comment-fields.js";
import type { Answered } from "./guest-feed.js";

/** How the pages look. */
export interface CommentPages extends Pick<CommentFormParts, "action" | "hasMail"> {
  site: AnsweringSite;
  words: CommentFormParts["words"] & CommentWords & SharedWords & { guest: string };
  /** The language of the words. */
  lang: string;
}

/** Sentences for errors, instead of their messages. */
const SENTENCES: Partial<Record<TwtxtErrorCode, keyof (CommentWords & SharedWords)>> = {
  "comments-closed": "closed",
  "same-comment": "same",
  "too-many-comments": "busy",
  "too-many-pending": "full",
  blocked: "refused",
  "not-found": "closed",
};

/** The page to which "Reply" leads. */
export function replyPage(fields: CommentFields, { author }: Answered, pages: CommentPages): HttpResponse {
  const title = pages.words.replyTo.replace("{name}", () => (author.name === GUEST ? pages.words.guest : author.name));
  return writePage({ title, sentence: [], status: 200, cache: "private, no-store" }, fields, pages);
}

/** Says why a comment was refused, and keeps what was typed. */
export function commentRefusal(error: TwtxtError, fields: CommentFields, pages: CommentPages): HttpResponse {
  const { words, lang } = pages;
  const word = SENTENCES[error.code];
  // A form without a text is that of a reply.
  const mistake = fields.text === "" ? words.gone : words.check;
  const sentence = word ? element("p", {}, words[word]) : refusal(error.message, mistake, lang);
  return writePage({ title: words.failed, sentence: [sentence], status: toStatus(error.code) }, fields, pages);
}

function writePage(
  { title, sentence, ...answer }: { title: string; sentence: MarkupElement[]; status: number; cache?: string },
  { target, "reply-to": replyTo, ...typed }: CommentFields,
  { site, lang, ...pages }: CommentPages,
): HttpResponse {
  // Where a form cannot be sent, there is nothing to type.
  const isUseless = sentence.length > 0 && typed.text === "";
  const form = isUseless ? [] : [commentForm({ ...pages, target, replyTo, typed })];
  const parts = [...sentence, ...form].map(toHtml);
  return answerPage(site, { title, content: [...parts, backLink(ownPage(target, site))].join("\n"), lang, ...answer });
}
