// plugin/index.ts: the public API.
export type { TwtxtErrorCode } from "./errors.js";
export { TwtxtError } from "./errors.js";
export type { FieldName, ParsedFeed, ParsedTwt } from "./feed/feed.js";
export { findTwts, formatFeed, parseFeed } from "./feed/feed.js";
export { twtHash } from "./feed/hash.js";
export type { Mention } from "./feed/mention.js";
export { findMentions, formatMention } from "./feed/mention.js";
export type { Twt } from "./feed/twt.js";
export type { Post, TwtxtOptions } from "./options.js";
export { twtxt as default } from "./plugin.js";
