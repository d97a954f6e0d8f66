// plugin/client/messages/text-and-time.tsx: the text and the time of a message.

import { raw } from "hono/html";
import type { FC } from "hono/jsx";
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
