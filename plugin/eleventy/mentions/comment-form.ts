// plugin/eleventy/mentions/comment-form.ts: the place under a post where readers answer: by a comment, or on their own site.
import { COMMENT_STATUS, type CommentWords, SHARED_STATUS, type SharedWords } from "../../options/comment-words.js";
import { element, type MarkupElement } from "../../site/html.js";
import { actionButton, label, lines, mailFields, toWordData, writeForm } from "../pages/write-form.js";

/** The maximum length of a comment, in UTF-16 units. */
const TEXT_LENGTH = "2000";
/** The field that people do not see. Programs that fill it in are refused. */
const TRAP = element(
  "p",
  { hidden: "" },
  label(
    "",
    element("input", { name: "subject", tabindex: "-1", autocomplete: "off", "aria-label": "Leave this empty" }),
  ),
);

/** How a site takes comments. */
export interface CommentForm {
  /** The endpoint, absolute: a plugin may add the path prefix to paths of forms. */
  action: string;
  /** Its path, for the script. */
  endpoint: string;
  /** The path of the script, for templates. */
  script: string;
  /** The path at which readers ask for mail about answers; `null` for a site that sends none. */
  answers: string | null;
  /** The address of the site's author, whose contact form has the same key of the reader. */
  address: string;
  words: CommentWords & SharedWords & { name: string; send: string; mail: string; stopMail: string };
  /** Whether the pages load the stylesheet. */
  isStyled: boolean;
}

/**
 * @param isClosed - whether the post takes no more comments
 * @param ownSite - the form for a page on the reader's own site; `null` for none
 */
export function commentSection(
  form: CommentForm,
  { target, isClosed, ownSite }: { target: string; isClosed: boolean; ownSite: MarkupElement | null },
  lang: string,
): MarkupElement {
  const { endpoint, address, words, isStyled } = form;
  // Shown by `:target`, when a form without JavaScript has been sent.
  const waiting = { id: "twtxt-comment-held", class: "twtxt-held", ...(!isStyled && { hidden: "" }) };
  const data = toWordData<keyof (typeof COMMENT_STATUS & SharedWords)>(words, { ...COMMENT_STATUS, ...SHARED_STATUS });
  return element(
    "twtxt-comments",
    {
      class: "twtxt-comments",
      ...{ "data-address": address, "data-endpoint": endpoint, "data-target": target },
      ...(form.answers !== null && { "data-answers": form.answers }),
      ...(lang !== "en" && { lang }),
      ...data,
    },
    ...lines([
      element("p", waiting, words.waiting),
      isClosed
        ? element("p", { class: "twtxt-closed" }, words.closed)
        : element("details", {}, element("summary", {}, words.comment), writeComment(form, target)),
      ...(ownSite ? [element("details", {}, element("summary", {}, words.own), ownSite)] : []),
    ]),
  );
}

function writeComment({ action, answers, words }: CommentForm, target: string): MarkupElement {
  const hidden = (name: string, value: string) => element("input", { name, type: "hidden", value });
  const site = element("input", { name: "site", type: "url", autocomplete: "url", placeholder: "https://" });
  return writeForm(
    { method: "post", action },
    {
      words,
      limits: { rows: "4", maxlength: TEXT_LENGTH },
      fields: [
        label(words.site, site),
        ...(answers === null ? [] : mailFields(words)),
        hidden("target", target),
        hidden("reply-to", ""),
        TRAP,
      ],
      note: words.note,
      buttons: [actionButton("cancel", words.cancel, true), actionButton("forget", words.forgetMe, true)],
    },
  );
}
