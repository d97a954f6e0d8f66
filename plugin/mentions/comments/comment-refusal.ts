// plugin/mentions/comments/comment-refusal.ts: the page that says why a comment was refused, with what was typed.
import { type TwtxtError, toStatus } from "../../errors.js";
import { escapeHtml } from "../../site/html.js";
import { VISIBLE_NAME_LENGTH } from "../../site/visible-name.js";
import { type AnsweringSite, answerPage, backLink, ownPage } from "../receive/endpoint-page.js";
import { type CommentFields, TEXT_LENGTH } from "./comment-fields.js";

const TITLE = "This comment could not be added";

/** For readers without JavaScript. */
export function commentRefusal(error: TwtxtError, fields: CommentFields, site: AnsweringSite): Response {
  const content = `<h1>${TITLE}</h1>
<p>${escapeHtml(error.message)}</p>
${formHtml(fields)}
${backLink(ownPage(fields.target, site))}`;
  return answerPage(site, { title: TITLE, content, status: toStatus(error.code) });
}

function formHtml({ target, text, name, site, mail, "reply-to": replyTo }: CommentFields): string {
  const value = (typed: string) => `value="${escapeHtml(typed)}"`;
  return `<form class="twtxt-write" method="post">
<label>Your comment<textarea name="text" rows="6" required maxlength="${TEXT_LENGTH}" dir="auto">
${escapeHtml(text)}</textarea></label>
<label>Your name (optional)<input name="name" maxlength="${VISIBLE_NAME_LENGTH}" autocomplete="nickname" ${value(name)}></label>
<label>Your web site (optional)<input name="site" type="text" inputmode="url" autocomplete="url" ${value(site)}></label>
${mail === "" ? "" : `<input name="mail" type="email" autocomplete="email" aria-label="E-mail" ${value(mail)}>\n`}<input name="target" type="hidden" ${value(target)}>
<input name="reply-to" type="hidden" ${value(replyTo)}>
<button>Send</button>
</form>`;
}
