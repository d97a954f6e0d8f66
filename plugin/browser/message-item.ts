// plugin/browser/message-item.ts: a message of the contact form's conversation as an element.
import type { ContactStatus } from "../options/contact-words.js";
import { element } from "../site/html.js";
import { linkedText } from "../site/safe-markup.js";
import type { GuestMessage } from "./guest-store.js";
import { toDom } from "./to-dom.js";

interface MessageContext {
  words: ContactStatus;
  /** The author's address. */
  author: string;
  lang: string;
  retry(id: string): void;
}

export function messageItem(message: GuestMessage, context: MessageContext): HTMLElement {
  const { state, time, text } = message;
  const isOwn = state === "waiting" || state === "failed" || state === "sent";
  const { words, author, lang } = context;
  const date = timeFormat(lang).format(new Date(time));
  const from = element("span", { class: "p-author" }, isOwn ? words.you : author);
  const by = element("p", { class: "twtxt-by" }, from, " ", element("time", { datetime: time }, date));
  const body = element("p", { class: "twtxt-text", dir: "auto" }, ...linkedText(text));
  const item = toDom(element("li", { class: isOwn ? "twtxt-sent" : "twtxt-received" }, by, body));
  item.append(...createNotes(message, context));
  return item;
}

/** An English one for an invalid language: pages may have one. */
function timeFormat(lang: string): Intl.DateTimeFormat {
  const options = { dateStyle: "medium", timeStyle: "short" } as const;
  try {
    return new Intl.DateTimeFormat(lang, options);
  } catch {
    return new Intl.DateTimeFormat("en", options);
  }
}

function createNotes({ id, state, reason = "" }: GuestMessage, { words, author, retry }: MessageContext) {
  if (state === "sent" || state === "received") return [];
  if (state !== "failed") {
    const word = { waiting: words.sending, unverified: words.unverified, unreadable: words.unreadable }[state];
    return [toDom(element("p", { class: "twtxt-note" }, word.replace("{address}", author)))];
  }
  const note = toDom(element("p", { class: "twtxt-note" }, `${words.failed} ${reason} `));
  const button = toDom(element("button", { type: "button" }, words.retry));
  button.addEventListener("click", () => retry(id));
  note.append(button);
  return [note];
}
