// plugin/options/words.ts: the English words of lists of mentions and of the timeline, and the choice of a language.
// options/translations.ts has other languages.

export const ENGLISH = {
  title: "Mentions",
  newer: "Newer",
  older: "Older",
  none: "No mentions yet.",
  mention: "mentioned this",
  reply: "replied",
  like: "likes this",
  repost: "reposted this",
  bookmark: "bookmarked this",
  mentionYou: "mentioned you",
  replyYou: "replied to you",
  mentionOf: "mentioned {page}",
  replyOf: "replied to {page}",
  likeOf: "likes {page}",
  repostOf: "reposted {page}",
  bookmarkOf: "bookmarked {page}",
  replies: "Replies",
  mentions: "Mentioned by",
  likes: "Likes",
  reposts: "Reposts",
  bookmarks: "Bookmarks",
  author: "Author",
  guest: "Guest",
  answer: "Reply",
  waits: "waits for approval",
  via: "via",
  inReplyTo: "In reply to",
  more: "Show more",
  moreItems: "Show {count} more",
  removed: "A reply was removed",
  form: "Have you written about this?",
  send: "Send",
  timeline: "Timeline",
  noTwts: "No twts yet.",
  unread: "Not up to date",
  lastRead: "last read",
  neverRead: "not read yet",
  unreachable: "cannot be reached",
  slow: "does not answer in time",
  gone: "no longer exists",
  failed: "answers with an error",
  noFeed: "is not a feed",
  deleted: "This post was deleted",
  replyWith: "Reply from a twtxt client with:",
  alsoOn: "Also on",
};

export type Words = typeof ENGLISH;

export const UNREAD_REASONS = [
  "unreachable",
  "slow",
  "gone",
  "failed",
  "noFeed",
] as const satisfies readonly (keyof Words)[];

export type UnreadReason = (typeof UNREAD_REASONS)[number];

export interface OwnWords<T> {
  words?: { [Name in keyof T]?: string | undefined };
  lang?: string | undefined;
}

/** Such as `de` of `de-AT`. */
export function baseLanguage(lang: string): string {
  return lang.toLowerCase().split("-")[0] ?? "";
}

/** The words of lists about several pages alone. */
export const LIST_WORDS = [
  "mentionYou",
  "replyYou",
  "mentionOf",
  "replyOf",
  "likeOf",
  "repostOf",
  "bookmarkOf",
] as const satisfies readonly (keyof Words)[];

/** The words of comments alone. */
export const COMMENT_MARKS = ["guest", "waits", "answer"] as const satisfies readonly (keyof Words)[];

export const TIMELINE_WORDS = [
  "timeline",
  "noTwts",
  "unread",
  "lastRead",
  "neverRead",
  ...UNREAD_REASONS,
] as const satisfies readonly (keyof Words)[];

/** The words of a form by language, such as `de`. */
export type Translations<T> = Readonly<Record<string, T>> & { en: T };

/**
 * Creates a function that returns the words of a language, such as `de` or `de-AT`, with those that the author has set. The
 * words of an unknown language are English. Own words without a language are for all languages.
 */
export function createWordChooser<T extends Record<string, string>>(translations: Translations<T>) {
  return (lang = "en", { words: given = {}, lang: givenLang = lang }: OwnWords<T> = {}): T => {
    const words = translations[baseLanguage(lang)] ?? translations.en;
    const own = baseLanguage(givenLang) === baseLanguage(lang) ? given : {};
    const set = Object.entries(own).filter(([, word]) => word !== undefined);
    return { ...words, ...Object.fromEntries(set) };
  };
}

/** Replaces `{name}` by values. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (written, name) => values[name] ?? written);
}
