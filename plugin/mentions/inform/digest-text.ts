// plugin/mentions/inform/digest-text.ts: the texts of notifications, as a mail and as a short note.
import type { MentionType } from "../../site/mention-list.js";
import type { StoredMention } from "../mention.js";
import { plainLines, plainName, quotedLines, shortened } from "../plain-text.js";
import { decisionName, versionOf } from "../receive/event.js";
import { sourceOf } from "../reference.js";

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

/** A mail without its addresses. */
export interface Mail {
  subject: string;
  text: string;
  /** `<...@...>`: a mail that is sent again has the same one. */
  messageId: string;
}

/** A notification for a phone. */
export interface Note {
  /** ASCII characters, so that it can be a header. */
  title: string;
  /** The URL of this site that opens at a tap. */
  click: string;
  text: string;
}

/** What is told at once. A repetition has the same mentions and the same id. */
export interface News {
  /** 32 hex digits. */
  id: string;
  /** Shown and held ones, newest first. */
  mentions: StoredMention[];
  /** How many sealed messages are new. Nobody but their reader knows what is in them, or from whom they are. */
  sealed: number;
  /** Users whose inboxes are nearly full. */
  filling: string[];
}

/**
 * A digest as a mail. No header of it holds a word of a stranger's.
 *
 * @param page - where the author sees all mentions
 */
export function digestMail(news: News, page: string): Mail {
  const { id, mentions } = news;
  const passages = mentions.slice(0, MAIL_LIMIT).map(passageOf);
  const close = mentions.length === 0 ? [] : [closing(mentions.length - passages.length, page)];
  return {
    subject: titleOf(news, page),
    messageId: `<${id}@${new URL(page).hostname}>`,
    text: `${[...inboxLines(news), ...passages, ...close].join("\n\n\n")}\n`,
  };
}

/** The same in a few lines, for a telephone. */
export function digestNote(news: News, page: string): Note {
  const { mentions } = news;
  const lines = mentions.slice(0, NOTE_LIMIT).map(lineOf);
  const more = mentions.length - lines.length;
  return {
    title: titleOf(news, page),
    click: new URL(page).href,
    text: [...inboxLines(news), ...lines, ...(more > 0 ? [`And ${more} more.`] : [])].join("\n"),
  };
}

function titleOf({ mentions: { length }, sealed }: News, page: string): string {
  const { host } = new URL(page);
  const parts = [
    length === 0 ? "" : `${length} new ${length === 1 ? "mention" : "mentions"} of ${host}`,
    sealed === 0 ? "" : sealedMessages(sealed),
  ].filter((part) => part !== "");
  return parts.length > 0 ? parts.join(", ") : `An inbox at ${host} is nearly full`;
}

function sealedMessages(count: number): string {
  return `${count} new sealed ${count === 1 ? "message" : "messages"}`;
}

/** None of it is a stranger's. */
function inboxLines({ sealed, filling }: News): string[] {
  return [
    ...(sealed === 0 ? [] : [`${sealedMessages(sealed)}. To read: npx eleventy-twtxt message list`]),
    ...filling.map(
      (user) =>
        `The inbox of ${user} is more than four fifths full. When it is full, new messages are refused. To make room: npx eleventy-twtxt message delete ID`,
    ),
  ];
}

/** Who, what, where. Each line of a stranger's is marked, so that none passes for one of ours. */
function passageOf(mention: StoredMention): string {
  const { id, state, text } = mention;
  return [
    deed(mention),
    ...quotedLines(text),
    sourceOf(mention),
    ...(state === "held"
      ? [`Held. To show it: npx eleventy-twtxt mentions approve ${decisionName(id, versionOf(mention))}`]
      : []),
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
