// plugin/mentions/inform/digest-text.ts: what a mail and a webhook say of new mentions.
import type { MentionType } from "../../eleventy/mention-list.js";
import type { StoredMention } from "../mention.js";
import { plainLines, plainName, quotedLines, shortened } from "../plain-text.js";
import { sourceOf } from "../reference.js";
import type { Mail } from "./mail.js";
import type { Note } from "./webhook.js";

const VERBS: Record<MentionType, string> = {
  mention: "mentioned",
  reply: "replied to",
  like: "liked",
  repost: "reposted",
  bookmark: "bookmarked",
};

/** How many are quoted in one mail, and in one note; the rest is counted. */
const MAIL_LIMIT = 50;
const NOTE_LIMIT = 10;
/** Characters of one line in a note: ntfy takes 4,096 bytes in all before it makes a file of it. */
const NOTE_LINE = 90;

/** What is told at once. A repetition has the same mentions and the same id. */
export interface News {
  /** 32 hex digits. */
  id: string;
  /** Shown and held ones, newest first; never none. */
  mentions: StoredMention[];
}

/**
 * A digest as a mail. No header of it holds a word of a stranger's.
 *
 * @param page - where the author sees all mentions
 */
export function digestMail({ id, mentions }: News, page: string): Mail {
  const passages = mentions.slice(0, MAIL_LIMIT).map(passageOf);
  return {
    subject: titleOf(mentions, page),
    messageId: `<${id}@${new URL(page).hostname}>`,
    text: `${[...passages, closing(mentions.length - passages.length, page)].join("\n\n\n")}\n`,
  };
}

/** The same in a few lines, for a telephone. */
export function digestNote(mentions: readonly StoredMention[], page: string): Note {
  const lines = mentions.slice(0, NOTE_LIMIT).map(lineOf);
  const more = mentions.length - lines.length;
  return {
    title: titleOf(mentions, page),
    click: new URL(page).href,
    text: [...lines, ...(more > 0 ? [`And ${more} more.`] : [])].join("\n"),
  };
}

function titleOf({ length }: readonly StoredMention[], page: string): string {
  return `${length} new ${length === 1 ? "mention" : "mentions"} of ${new URL(page).host}`;
}

/** Who, what, where. Each line of a stranger's is marked, so that none passes for one of ours. */
function passageOf(mention: StoredMention): string {
  const { id, state, text } = mention;
  return [
    deed(mention),
    ...quotedLines(text),
    sourceOf(mention),
    ...(state === "held" ? [`Held. To show it: eleventy-twtxt mentions approve ${id}`] : []),
  ].join("\n");
}

function lineOf(mention: StoredMention): string {
  const text = plainLines(mention.text).join(" ");
  return shortened(`${plainName(mention)}${mention.state === "held" ? " (held)" : ""}: ${text}`, NOTE_LINE);
}

function deed(mention: StoredMention): string {
  return `${plainName(mention)} ${VERBS[mention.type]} ${mention.under ?? mention.target}`;
}

function closing(more: number, page: string): string {
  return more > 0 ? `And ${more} more. All of them: ${page}` : `All mentions: ${page}`;
}
