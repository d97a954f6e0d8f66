// plugin/options/words.ts: the English words of lists of mentions. options/translations.ts has other languages.

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
  replies: "Replies",
  mentions: "Mentioned by",
  likes: "Likes",
  reposts: "Reposts",
  bookmarks: "Bookmarks",
  author: "Author",
  more: "Show more",
  form: "Have you written about this?",
  send: "Send",
};

export type Words = typeof ENGLISH;
