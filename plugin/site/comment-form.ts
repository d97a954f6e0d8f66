// plugin/site/comment-form.ts: the form for comments, under a post and on the page of the endpoint.
import type { CommentWords } from "../options/comment-words.js";
import { element, type MarkupElement } from "./html.js";
import { label, mailFields, toValue, writeForm } from "./write-form.js";

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

/** What a reader types. */
interface TypedComment {
  text: string;
  name: string;
  site: string;
  mail: string;
}

export interface CommentFormParts {
  /** The endpoint, absolute: a plugin may add the path prefix to paths of forms. */
  action: string;
  words: Pick<CommentWords, "text" | "site" | "note"> & { name: string; send: string; mail: string; stopMail: string };
  /** Whether the site sends mail about answers. */
  hasMail: boolean;
  target: string;
  /** The hash or URL of the reply that the comment answers; empty for the post. */
  replyTo: string;
  /** `null` for a form of the build. */
  typed: TypedComment | null;
  buttons: readonly MarkupElement[];
}

export function commentForm(parts: CommentFormParts): MarkupElement {
  const { action, words, hasMail, target, replyTo, typed, buttons } = parts;
  const hidden = (name: string, value: string) => element("input", { name, type: "hidden", value });
  const site = { name: "site", type: "url", autocomplete: "url", placeholder: "https://", ...toValue(typed?.site) };
  return writeForm(
    { method: "post", action },
    {
      words,
      limits: { rows: "4", maxlength: TEXT_LENGTH },
      ...(typed && { typed }),
      fields: [
        label(words.site, element("input", site)),
        ...(hasMail ? mailFields(words, typed?.mail) : []),
        hidden("target", target),
        hidden("reply-to", replyTo),
        TRAP,
      ],
      note: words.note,
      buttons,
    },
  );
}
