// plugin/client/mention-about.tsx: what a mention says about a page of the site, with a link to the page.
import type { FC } from "hono/jsx";
import { type MentionSentence, pageLabel } from "../site/mention-sentence.js";

export const MentionAbout: FC<{ sentence: MentionSentence }> = ({ sentence: { before, page, after } }) => (
  <>
    {before}
    {page && (
      <a href={page.href}>
        <cite dir="auto">{pageLabel(page)}</cite>
      </a>
    )}
    {after}
  </>
);
