// plugin/site/write-form.ts: the form in which readers write, on the contact page and under posts.
import { element, type Markup, type MarkupElement } from "./html.js";
import { VISIBLE_NAME_LENGTH } from "./visible-name.js";

interface FormParts {
  /** The labels of text and name, and the button. */
  words: { text: string; name: string; send: string };
  /** Of the text. */
  limits: Record<string, string>;
  /** What the reader has typed; nothing by default. */
  typed?: { text: string; name: string };
  /** Below the fields for text and name. */
  fields?: readonly MarkupElement[];
  note: string;
  /** The buttons at the end. */
  buttons: readonly MarkupElement[];
}

/** @param attributes - of the form */
export function writeForm(attributes: Record<string, string>, parts: FormParts): MarkupElement {
  const { words, limits, typed, fields = [], note, buttons } = parts;
  const name = { name: "name", maxlength: String(VISIBLE_NAME_LENGTH), autocomplete: "nickname" };
  // A browser ignores the first line break.
  const text = typed ? [`\n${typed.text}`] : [];
  return element(
    "form",
    { class: "twtxt-write", ...attributes },
    ...lines([
      label(words.text, element("textarea", { name: "text", required: "", dir: "auto", ...limits }, ...text)),
      label(words.name, element("input", { ...name, ...toValue(typed?.name) })),
      ...fields,
      element("p", {}, element("button", {}, words.send), " ", element("span", { role: "status" })),
      element("p", { class: "twtxt-note" }, note),
      element("p", { class: "twtxt-actions" }, ...lines(buttons)),
    ]),
  );
}

/**
 * The field for a mail address, and what the script says about mail.
 *
 * @param typed - absent on a page that is built before the site knows whether it sends mail: there the script shows the field
 */
export function mailFields({ mail, stopMail }: { mail: string; stopMail: string }, typed?: string): MarkupElement[] {
  const address = { name: "mail", type: "email", maxlength: "254", autocomplete: "email" };
  const field = element("input", { ...address, ...toValue(typed) });
  const state = [element("span", {}), " ", actionButton("stopMail", stopMail, false)];
  return [label(mail, field, typed === undefined ? { hidden: "" } : {}), element("p", { hidden: "" }, ...state)];
}

export function label(text: string, field: MarkupElement, attributes: { hidden?: "" } = {}): MarkupElement {
  return element("label", attributes, text, field);
}

/** The value of a field; nothing for an empty one. */
export function toValue(typed = ""): { value?: string } {
  return typed === "" ? {} : { value: typed };
}

/** A button with which the script does something. */
export function actionButton(name: string, text: string, isHidden: boolean): MarkupElement {
  return element("button", { type: "button", name, ...(isHidden && { hidden: "" }) }, text);
}

/** The words for a script, which has the English ones itself. */
export function toWordData<Name extends string>(
  words: Readonly<Record<Name, string>>,
  english: Readonly<Record<Name, string>>,
): Record<string, string> {
  const own = (Object.keys(english) as Name[]).filter((name) => words[name] !== english[name]);
  if (own.length === 0) return {};
  return { "data-words": JSON.stringify(Object.fromEntries(own.map((name) => [name, words[name]]))) };
}

/** Items on lines of their own. Without white space if there are none, so that the CSS selector `:empty` matches. */
export function* lines(items: Iterable<MarkupElement>): Iterable<Markup> {
  let isFirst = true;
  for (const item of items) {
    if (isFirst) yield "\n";
    isFirst = false;
    yield item;
    yield "\n";
  }
}
