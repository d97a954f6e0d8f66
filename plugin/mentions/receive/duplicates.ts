// plugin/mentions/receive/duplicates.ts: compares mentions that have the same contents under another URL or for another target.
import type { StoredMention } from "../mention.js";

type ComparedMention = Pick<
  StoredMention,
  "identity" | "isDeclared" | "instant" | "published" | "type" | "author" | "text" | "target" | "under"
>;

/**
 * Two mentions that are duplicates share at least one of these keys: the source, and the words with host and time.
 *
 * Duplicates occur because a feed may have two URLs without declaring one, a page may answer over http and https, a
 * blog's index repeats its posts, and a twt that mentions both the feed and a post is sent for each.
 *
 * @see PROTOCOL 2.4, "The proof"
 */
export function duplicateKeys(found: ComparedMention): string[] {
  return [sourceKey(found.identity, found.instant), wordsKey(found)];
}

/** Host, time, author and text; of a page without a time, type and author. A page without an author has its own URL there. */
function wordsKey(found: ComparedMention): string {
  const { identity, type, author, text } = found;
  const time = toTime(found);
  const who = time === null ? [type, author.name, author.url === identity ? "" : author.url] : [time, author.name];
  return `${readHost(found)} ${who.join(" ")}\n${text}`;
}

/** The key of mentions from a URL, over http or https. @param instant - of a twt; `null` for a page */
export function sourceKey(url: string, instant: string | null): string {
  return `${withoutScheme(url)} ${instant ?? ""}`;
}

/**
 * Whether a mention replaces its duplicate: the same source is shown in more places, or a twt replaces a page of the
 * same author, since a blog's index drops what its feed keeps. A page never replaces another source, because it can
 * claim any author and time.
 */
export function supersedes(found: ComparedMention, old: StoredMention): boolean {
  if (old.state === "rejected" || !isWithin(old, found)) return false;
  return isSameSource(old, found) ? !isWithin(found, old) : isSamePage(old, found);
}

/** Whether a stored mention has the same contents in the same place, or the author rejected it. */
export function isDuplicate(known: StoredMention, found: ComparedMention): boolean {
  if (!isSameSource(known, found)) return isCopy(known, found);
  const isRejected = known.state === "rejected";
  if (known.target === found.target || (isRejected && found.instant !== null)) return true;
  return hasSameWords(known, found) && (isRejected || isWithin(found, known) || isWithin(known, found));
}

function isSameSource(known: ComparedMention, found: ComparedMention): boolean {
  return known.instant === found.instant && withoutScheme(known.identity) === withoutScheme(found.identity);
}

/**
 * Whether a source with another URL repeats a known one. A host may have several users, so a feed that declares its own
 * URL is not a copy of another, and another user's page does not replace a twt.
 */
function isCopy(known: StoredMention, found: ComparedMention): boolean {
  if (isUndatedCopy(known, found)) return known.state === "rejected" || isWithin(found, known);
  if (!hasSameWords(known, found)) return false;
  const isRejected = known.state === "rejected";
  if (found.instant === null) return isRejected || isWithin(found, known);
  if (known.instant === null) return isSamePage(known, found) && (isRejected || isWithin(known, found));
  return !found.isDeclared && (isRejected || isWithin(found, known) || isWithin(known, found));
}

/**
 * Whether a page without a date repeats another one of its host, such as `like.php/2` and `like.php/1`. A canonical link
 * tells two pages apart that look alike.
 */
function isUndatedCopy(known: ComparedMention, found: ComparedMention): boolean {
  const isAnonymous = [known, found].every(({ isDeclared, ...each }) => toTime(each) === null && !isDeclared);
  return isAnonymous && wordsKey(found) === wordsKey(known);
}

/** Whether a page names the author of a twt as its author. */
function isSamePage(page: ComparedMention, twt: ComparedMention): boolean {
  return page.instant === null && twt.instant !== null && page.author.url === twt.author.url;
}

/** @returns `false` for a page without a publication time, since two likes from one host look alike */
function hasSameWords(known: ComparedMention, found: ComparedMention): boolean {
  return toTime(found) !== null && found.text !== "" && wordsKey(found) === wordsKey(known);
}

/** Whether the second is shown in every place of the first. */
function isWithin(first: ComparedMention, second: ComparedMention): boolean {
  const places = [second.target, second.under];
  return places.includes(first.target) && (first.under === null || places.includes(first.under));
}

function toTime({ instant, published }: Pick<ComparedMention, "instant" | "published">): string | null {
  return instant ?? published;
}

/** Identities are normalized, so slicing gives the same host as `URL`, a hundred times faster. */
export function readHost({ identity }: Pick<ComparedMention, "identity">): string {
  const start = identity.indexOf("//") + 2;
  const end = identity.indexOf("/", start);
  return end < 0 ? identity.slice(start) : identity.slice(start, end);
}

function withoutScheme(url: string): string {
  return url.slice(url.indexOf("//"));
}
