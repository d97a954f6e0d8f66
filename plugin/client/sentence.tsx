// plugin/client/sentence.tsx: a sentence of this program in a page.
import type { FC } from "hono/jsx";
import { typedHints } from "../author/invocation.js";

const CODE = /`([^`\n]+)`/;

/** Shows what stands in backticks as code, such as a command to type. */
export const Sentence: FC<{ text: string }> = ({ text }) => (
  <>
    {typedHints(text)
      .split(CODE)
      .map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}
  </>
);
