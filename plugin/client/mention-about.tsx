// plugin/client/mention-about.tsx: the type of a mention, and the page of the site that it is about.
import type { FC } from "hono/jsx";
import type { MentionType } from "../site/mention-list.js";
import { isWeb } from "../site/safe-markup.js";

const VERBS: Readonly<Record<MentionType, string>> = {
  mention: "mentions",
  reply: "replies to",
  like: "likes",
  repost: "reposts",
  bookmark: "bookmarks",
};

interface MentionAboutProps {
  /** `null` while the mention is not verified. */
  type: MentionType | null;
  target: string;
  under: string | null;
}

export const MentionAbout: FC<MentionAboutProps> = ({ type, target, under }) => (
  <>
    {VERBS[type ?? "mention"]} <a href={under ?? target}>{toPath(under ?? target)}</a>
  </>
);

function toPath(url: string): string {
  return isWeb(url) ? new URL(url).pathname : url;
}
