// plugin/options/verbs.ts: default verbs of mentions by type.

/** The words between the author's name and the date. */
export const VERBS = {
  mention: "mentioned this",
  reply: "replied",
  like: "likes this",
  repost: "reposted this",
  bookmark: "bookmarked this",
};
