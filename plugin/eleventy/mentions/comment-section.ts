// plugin/eleventy/mentions/comment-section.ts: the place under a post where readers answer: by a comment, or on their own site.
import { chooseCommentWords } from "../../options/comment-translations.js";
import { COMMENT_STATUS } from "../../options/comment-words.js";
import { chooseContactWords } from "../../options/contact-translations.js";
import { SHARED_STATUS, type SharedWords } from "../../options/contact-words.js";
import { inboxOptions } from "../../options/inbox.js";
import type { MentionsOptions } from "../../options/mentions.js";
import { toLangAttribute } from "../../options/translations.js";
import { commentForm } from "../../site/comment-form.js";
import { element, type MarkupElement } from "../../site/html.js";
import { PATHS } from "../../site/routes.js";
import { lines, toWordData } from "../../site/write-form.js";
import type { PageAssets } from "../pages/page-assets.js";

/** The place for comments under the posts of a site. */
export interface CommentSection {
  /** The endpoint, absolute. */
  action: string;
  /** The path of the script, for templates. */
  script: string;
  /** The label for the address of a reader's own page. */
  ownPage: string;
  /**
   * @param isClosed - whether the post takes no more comments
   * @param ownSite - the form for a page on the reader's own site; `null` for none
   */
  write(post: { target: string; isClosed: boolean; ownSite: MarkupElement | null }): MarkupElement;
}

/** @returns `null` for a site that takes no comments. @param lang - of the page */
export function createCommentSection(
  assets: PageAssets,
  { comments }: MentionsOptions,
  lang: string,
): CommentSection | null {
  const { urls } = assets;
  const { settings } = urls;
  const [author] = urls.inboxes();
  if (!comments || !author || !urls.has("comments")) return null;
  const own = { words: comments.words, lang: settings.lang };
  const contact = chooseContactWords(lang, { ...own, words: inboxOptions(settings).words });
  const words = { ...contact, ...chooseCommentWords(lang, own) };
  const action = urls.absolute(PATHS.comments);
  const form = { action, words, hasMail: comments.mail, replyTo: "", typed: null };
  // Shown by `:target`, when a form without JavaScript has been sent.
  const waiting = { id: "twtxt-comment-held", class: "twtxt-held", ...(!settings.styles && { hidden: "" }) };
  const attributes = {
    class: "twtxt-comments",
    // The contact form of this author has the same key of the reader.
    ...{ "data-address": author.address, "data-endpoint": urls.href(PATHS.comments) },
    ...(comments.mail && { "data-answers": urls.href(PATHS.answers) }),
    ...toLangAttribute(lang, own),
    ...toWordData<keyof (typeof COMMENT_STATUS & SharedWords)>(words, { ...COMMENT_STATUS, ...SHARED_STATUS }),
  };
  const fold = (summary: string, content: MarkupElement) =>
    element("details", {}, element("summary", {}, summary), content);
  const write: CommentSection["write"] = ({ target, isClosed, ownSite }) =>
    element(
      "twtxt-comments",
      { ...attributes, "data-target": target },
      ...lines([
        element("p", waiting, words.waiting),
        isClosed
          ? element("p", { class: "twtxt-closed" }, words.closed)
          : fold(words.comment, commentForm({ ...form, target })),
        ...(ownSite ? [fold(words.own, ownSite)] : []),
      ]),
    );
  return { action, script: assets.script("comments"), ownPage: words.page, write };
}
