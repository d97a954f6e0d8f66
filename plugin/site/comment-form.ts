// plugin/site/comment-form.ts: the form for comments, under a post and on the page of the endpoint.
import type { CommentWords } from "../options/comment-words.js";
import type { ContactWords } from "../options/contact-words.js";
import { element, type MarkupElement } from "./html.js";
import { actionButton, label, mailFields, toValue, writeForm } from "./write-form.js";

/** The maximum length of a comment, in characters. */
export const COMMENT_LENGTH = 2000;
/** The name of the field that people do not see. Programs that fill it in are refused. */
export const TRAP = "subject";

export interface CommentFormParts {
  /** The endpoint, absolute: a plugin may add the path prefix to paths of forms. */
  action: string;
  words: CommentWords & Pick<ContactWords, "name" | "send" | "mail" | "stopMail">;
  /** Whether the site sends mail about answers. */
  hasMail: boolean;
  target: string;
  /** The hash or URL of the reply that the comment answers; empty for the post. */
  replyTo: string;
  /** What a reader has typed; `null` for a form of the build, which has a script. */
  typed: Record<"text" | "name" | "site" | "mail", string> | null;
}

export function commentForm({ action, words, hasMail, target, replyTo, typed }: CommentFormParts): MarkupElement {
  const hidden = (name: string, value: string) => element("input", { name, type: "hidden", value });
  const unseen = { name: TRAP, tabindex: "-1", autocomplete: "off", "aria-label": words.leaveEmpty };
  const site = { name: "site", type: "url", autocomplete: "url", placeholder: "https://", ...toValue(typed?.site) };
  return writeForm(
    { method: "post", action },
    {
      words,
      limits: { rows: "4", maxlength: String(COMMENT_LENGTH) },
      ...(typed && { typed }),
      fields: [
        label(words.site, element("input", site)),
        ...(hasMail ? mailFields(words, typed?.mail) : []),
        hidden("target", target),
        hidden("reply-to", replyTo),
        element("p", { hidden: "" }, label("", element("input", unseen))),
      ],
      note: words.note,
      buttons: typed ? [] : [actionButton("cancel", words.cancel, true), actionButton("forget", words.forgetMe, true)],
    },
  );
}
