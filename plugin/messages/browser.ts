// plugin/messages/browser.ts: the public API of messages for browsers, without address lookup.
import { noblePrimitives } from "./saltpack/noble-primitives.js";
import { Saltpack } from "./saltpack/saltpack.js";

export type { TwtxtErrorCode } from "../errors.js";
export { TwtxtError } from "../errors.js";
export type { SecretKey } from "../keys/key.js";
export { formatKey as encodeKey, parseKey as decodeKey } from "../keys/key.js";
export type { Message, MessageEvent, MessageLine, NewMessage } from "./plaintext.js";
export { formatMessage, parseMessage } from "./plaintext.js";
export { armor, dearmor } from "./saltpack/armor.js";
export type { SealOptions } from "./saltpack/saltpack.js";
export type { Opened } from "./saltpack/signcryption.js";

const saltpack = new Saltpack(noblePrimitives, (count) => crypto.getRandomValues(new Uint8Array(count)));
export const seal: Saltpack["seal"] = saltpack.seal.bind(saltpack);
export const open: Saltpack["open"] = saltpack.open.bind(saltpack);
export const secretKey: Saltpack["secretKey"] = saltpack.secretKey.bind(saltpack);
