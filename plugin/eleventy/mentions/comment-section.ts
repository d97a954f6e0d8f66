// plugin/eleventy/mentions/comment-section.ts: the place under a post where readers answer: by a comment, or on their own site.

import { chooseCommentWords } from "../../options/comment-translations.js";
import { COMMENT_STATUS, type CommentWords, SHARED_STATUS, type SharedWords } from "../../options/comment-words.js";
import { chooseContactWords } from "../../options/contact-translations.js";
import { inboxOptions } from "../../options/inbox.js";
import type { MentionsOptions } from "../../options/mentions.js";
import { toLangAttribute } from "../../options/translations.js";
import type { Settings } from "../../options.js";
import { type CommentFormParts, commentForm } from "../../site/comment-form.js";
import { element, type MarkupElement } from "../../site/html.js";
import { PATHS } from "../../site/routes.js";
import { actionButton, lines, toWordData } from "../../site/write-form.js";
import type { PageAssets } from "../pages/page-assets.js";
import type { SiteUrls } from "../site-urls.js";

/** How a site takes comments. */
export interface CommentForm extends Pick<CommentFormParts, "action"> {
  /** The path of the endpoint, for the script. */
  endpoint: string;
  /** The path of the script, for templates. */
  script: string;
  /** The path at which readers ask for mail about answers; `null` for a site that sends none. */
  answers: string | null;
  /** The address of the site's author, whose contact form has the same key of the reader. */
  address: string;
  words: CommentFormParts["words"] & CommentWords & SharedWords;
  lang: { lang?: string };
  /** Whether the pages load the stylesheet. */
  isStyled: boolean;
}

interface Site {
  settings: Settings;
  urls: SiteUrls;
  assets: PageAssets;
}

/** @returns `null` for a site that takes no comments. @param lang - of the page */
export function createCommentForm(
  { settings, urls, assets }: Site,
  { comments }: MentionsOptions,
  lang: string,
): CommentForm | null {
  const [author] = urls.inboxes();
  if (!comments || !author || !urls.hasComments()) return null;
  const contact = chooseContactWords(lang, { words: inboxOptions(settings).words, lang: settings.lang });
  const own = { words: comments.words, lang: settings.lang };
  return {
    action: urls.absolute(PATHS.comments),
    endpoint: urls.href(PATHS.comments),
    script: assets.commentScript(),
    answers: comments.mail ? urls.href(PATHS.answers) : null,
    address: author.address,
    words: { ...contact, ...chooseCommentWords(lang, own) },
    lang: toLangAttribute(lang, own),
    isStyled: settings.styles,
  };
}

/**
 * @param isClosed - whether the post takes no more comments
 * @param ownSite - the form for a page on the reader's own site; `null` for none
 */
export function commentSection(
  form: CommentForm,
  { target, isClosed, ownSite }: { target: string; isClosed: boolean; ownSite: MarkupElement | null },
): MarkupElement {
  const { action, endpoint, answers, address, words, isStyled } = form;
  const buttons = [actionButton("cancel", words.cancel, true), actionButton("forget", words.forgetMe, true)];
  const parts = { action, words, hasMail: answers !== null, target, replyTo: "", typed: null, buttons };
  // Shown by `:target`, when a form without JavaScript has been sent.
  const waiting = { id: "twtxt-comment-held", class: "twtxt-held", ...(!isStyled && { hidden: "" }) };
  const data = toWordData<keyof (typeof COMMENT_STATUS & SharedWords)>(words, { ...COMMENT_STATUS, ...SHARED_STATUS });
  return element(
    "twtxt-comments",
    {
      class: "twtxt-comments",
      ...{ "data-address": address, "data-endpoint": endpoint, "data-target": target },
      ...(answers !== null && { "data-answers": answers }),
      ...form.lang,
      ...data,
    },
    ...lines([
      element("p", waiting, words.waiting),
      isClosed
        ? element("p", { class: "twtxt-closed" }, words.closed)
        : element("details", {}, element("summary", {}, words.comment), commentForm(parts)),
      ...(ownSite ? [element("details", {}, element("summary", {}, words.own), ownSite)] : []),
    ]),
  );
}
