// plugin/messages/index.ts: the public API of messages, `eleventy-plugin-twtxt/messages`.
export type { TwtxtErrorCode } from "../errors.js";
export { TwtxtError } from "../errors.js";
export type { SecretKey } from "../keys/key.js";
export { formatKey as encodeKey, parseKey as decodeKey } from "../keys/key.js";
export type { Message, MessageEvent, MessageLine, NewMessage } from "./line.js";
export { formatMessage, parseMessage } from "./line.js";
export type { Found } from "./lookup/lookup.js";
export { lookup } from "./lookup/public-lookup.js";
export { armor, dearmor } from "./saltpack/armor.js";
export type { SealOptions } from "./saltpack/saltpack.js";
export type { Opened } from "./saltpack/signcryption.js";
export { open, seal, secretKey } from "./sealing.js";
