// plugin/index.ts: the public API.
export type { TwtxtErrorCode } from "./errors.js";
export { TwtxtError } from "./errors.js";
export type { ParsedFeed, ParsedTwt } from "./feed/feed.js";
export { formatFeed, parseFeed } from "./feed/feed.js";
export { findTwts } from "./feed/find-twts.js";
export { twtHash } from "./feed/hash.js";
export type { FieldName } from "./feed/header.js";
export type { Mention } from "./feed/mention.js";
export { findMentions, formatMention } from "./feed/mention.js";
export type { Twt } from "./feed/twt.js";
export type { DefaultText, Post, TwtxtOptions } from "./options.js";
export { twtxt as default } from "./plugin.js";
