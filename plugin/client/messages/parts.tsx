// plugin/client/messages/parts.tsx: parts of the pages of messages.

import { raw } from "hono/html";
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { toHtml } from "../../site/html.js";
import { linkedText } from "../../site/linked-text.js";
import { plainLines } from "../../site/plain-lines.js";
import { boundedMarks } from "../../site/safe-markup.js";
import { DATES } from "../dates.js";

/** @param time - `YYYY-MM-DDThh:mm:ssZ` */
export const Time: FC<{ time: string }> = ({ time }) => <time datetime={time}>{DATES.format(new Date(time))}</time>;

/** The text of a message, without control characters and changes of direction. Its URLs are links. */
export const Text: FC<{ text: string }> = ({ text }) => (
  <p class="text" dir="auto">
    {raw(
      linkedText(plainLines(boundedMarks(text)).join("\n"))
        .map(toHtml)
        .join(""),
    )}
  </p>
);

/** Whether all messages are there. */
export const Status: FC<{ fault: string | null; opening: number }> = ({ fault, opening }) => (
  <>
    {fault !== null && (
      <p class="notice failure">{fault} New messages appear when it answers again; nothing is lost meanwhile.</p>
    )}
    {opening > 0 && (
      <p class="muted" data-busy="">
        Opening {counted(opening, "message")}.
      </p>
    )}
  </>
);
