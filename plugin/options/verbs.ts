// plugin/options/verbs.ts: the default verbs of mentions, by their types.

/** The words between the author's name and the date. */
export const VERBS = {
  mention: "mentioned this",
  reply: "replied",
  like: "likes this",
  repost: "reposted this",
  bookmark: "bookmarked this",
};
