// plugin/mentions/inform/digest-text.ts: the texts of notifications, as a mail and as a short note.
import { NETWORK_NAMES, NETWORKS } from "../../options/syndicate.js";
import { ENGLISH, type Words } from "../../options/words.js";
import { describeMention, formatSentence } from "../../site/mention-sentence.js";
import { plainLines, shortened } from "../../site/plain-lines.js";
import { readWords, type StoredMention } from "../mention.js";
import { toMentionVersion } from "../receive/event.js";
import type { SiteIndex } from "../receive/site-index.js";
import { toSource } from "../reference.js";
import { plainName, quoteExcerpt } from "../verify/source-text.js";
import type { DecisionLinks } from "./decision-links.js";

/** Mentions quoted in a mail and in a note; the rest is counted. */
const MAIL_LIMIT = 50;
const NOTE_LIMIT = 10;
/** Characters per line of a note: ntfy turns more than 4,096 bytes into an attachment. */
const NOTE_LINE = 90;

export interface Mail {
  subject: string;
  text: string;
  /** `<...@...>`: a mail that is sent again has the same one. */
  messageId: string;
}

export interface Note {
  /** ASCII characters, so that it can be a header. */
  title: string;
  /** The URL of this site that opens at a tap. */
  click: string;
  text: string;
}

/** The contents of one notification. A repeat has the same mentions and id. */
export interface Digest {
  /** 32 hex digits. */
  id: string;
  /** Shown and held mentions, newest first. */
  mentions: StoredMention[];
  /** Number of new sealed messages. Only their recipient can read contents and sender. */
  sealed: number;
  /** Users whose inboxes are nearly full. */
  filling: string[];
  /** Why networks refuse the author's accounts, by network; absent for none. */
  refusals?: Record<string, string>;
}

/** How news is told, and how the author decides. */
export interface DigestOptions {
  siteIndex: Pick<SiteIndex, "feedUrl" | "addTitle">;
  /** `null` if mentions are decided with a key only. */
  links: Pick<DecisionLinks, "format"> | null;
  /** Where the author sees all mentions: an absolute URL of the site. */
  page: string;
  /** Hours between two mails. */
  digestHours: number;
}

/** The short name of a mention's version for `eleventy-twtxt mentions approve`: the first digits of its id and version. */
export function decisionName(id: string, version: string | null): string {
  return [id, version].flatMap((part) => part?.slice(0, 8) ?? []).join(".");
}

/** Formats a digest as a mail. Its headers contain no untrusted text. */
export function digestMail(news: Digest, options: Omit<DigestOptions, "digestHours">): Mail {
  const { id, mentions } = news;
  const { page } = options;
  const passages = mentions.slice(0, MAIL_LIMIT).map((mention) => formatPassage(mention, options));
  const more = mentions.length - passages.length;
  const close = more > 0 ? `And ${more} more. All of them: ${page}` : `All mentions: ${page}`;
  return {
    subject: formatTitle(news, page),
    messageId: `<${id}@${new URL(page).hostname}>`,
    text: `${[...inboxLines(news), ...passages, ...(mentions.length > 0 ? [close] : [])].join("\n\n\n")}\n`,
  };
}

export function digestNote(news: Digest, { page, links }: Pick<DigestOptions, "page" | "links">): Note {
  const { mentions } = news;
  const toLink = (mention: StoredMention) => (mention.state === "held" && links ? [links.format(mention)] : []);
  const lines = mentions.slice(0, NOTE_LIMIT).map((mention) => [formatLine(mention), ...toLink(mention)].join("\n"));
  const [only] = mentions.length === 1 ? mentions.flatMap(toLink) : [];
  const more = mentions.length - lines.length;
  return {
    title: formatTitle(news, page),
    click: only ?? new URL(page).href,
    text: [...inboxLines(news), ...lines, ...(more > 0 ? [`And ${more} more.`] : [])].join("\n"),
  };
}

function formatTitle({ mentions: { length }, sealed, filling, refusals }: Digest, page: string): string {
  const { host } = new URL(page);
  const parts = [
    length === 0 ? "" : `${length} new ${length === 1 ? "mention" : "mentions"} of ${host}`,
    sealed === 0 ? "" : sealedMessages(sealed),
  ].filter((part) => part !== "");
  if (parts.length === 0 && filling.length === 0 && refusals) return `Copies of posts of ${host} are refused`;
  return parts.length > 0 ? parts.join(", ") : `An inbox at ${host} is nearly full`;
}

function sealedMessages(count: number): string {
  return `${count} new sealed ${count === 1 ? "message" : "messages"}`;
}

/** Contains no untrusted text. */
function inboxLines({ sealed, filling, refusals = {} }: Digest): string[] {
  return [
    ...NETWORKS.filter((network) => network in refusals).map(
      (network) =>
        `${NETWORK_NAMES[network]} refuses your account, so copies of your posts wait. To see why: npx eleventy-twtxt accounts check`,
    ),
    ...(sealed === 0 ? [] : [`${sealedMessages(sealed)}. To read: npx eleventy-twtxt message list`]),
    ...filling.map(
      (user) =>
        `The inbox of ${user} is more than 80% full. A full inbox refuses new messages. To make room: npx eleventy-twtxt message delete ID`,
    ),
  ];
}

/** One mention with its quoted text. Every untrusted line is marked. */
function formatPassage(
  mention: StoredMention,
  { siteIndex, links }: Pick<DigestOptions, "siteIndex" | "links">,
): string {
  const { id, state } = mention;
  const command = `npx eleventy-twtxt mentions approve ${decisionName(id, toMentionVersion(mention))}`;
  return [
    formatHeadline(mention, siteIndex),
    ...quoteExcerpt(readWords(mention)),
    toSource(mention),
    ...(state === "held"
      ? [links ? `Held. To approve or reject it: ${links.format(mention)}` : `Held. To show it: ${command}`]
      : []),
  ].join("\n");
}

function formatLine(mention: StoredMention): string {
  const text = plainLines(readWords(mention)).join(" ");
  return shortened(`${plainName(mention)}${mention.state === "held" ? " (held)" : ""}: ${text}`, NOTE_LINE);
}

/** What a mention says about a page, such as "Bob replied to A wooden boat". */
export function formatHeadline(
  mention: StoredMention,
  siteIndex: DigestOptions["siteIndex"],
  words: Words = ENGLISH,
): string {
  const sentence = describeMention(siteIndex.addTitle(mention), siteIndex.feedUrl, words);
  return `${plainName(mention)} ${formatSentence(sentence)}`;
}
