// plugin/client/output.tsx: long texts in a fixed font, such as the output of a program.
import type { FC } from "hono/jsx";

interface OutputProps {
  /** For screen readers. */
  label: string;
  text: string;
  /** Of a text that grows while the page is shown. */
  id?: string;
}

/** A text that scrolls, also with the keys. */
export const Output: FC<OutputProps> = ({ label, text, id }) => (
  <section class="output" aria-label={label} tabindex={0}>
    <pre id={id} data-live={id && ""}>
      {text}
    </pre>
  </section>
);
