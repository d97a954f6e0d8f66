// plugin/client/output.tsx: long texts in a fixed font, such as the output of a program.
import type { FC } from "hono/jsx";

/** A text that scrolls, also with the keys. @param id - of a text that grows while the page is shown */
export const Output: FC<{ label: string; text: string; id?: string }> = ({ label, text, id }) => (
  <section class="output" aria-label={label} tabindex={0}>
    <pre id={id} data-live={id && ""}>
      {text}
    </pre>
  </section>
);
