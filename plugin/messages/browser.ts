// plugin/messages/browser.ts: the public API of messages for browsers, without address lookup.
import { noblePrimitives } from "./saltpack/noble-primitives.js";
import { saltpackOn } from "./saltpack/saltpack.js";

export type { TwtxtErrorCode } from "../errors.js";
export { TwtxtError } from "../errors.js";
export { formatKey as encodeKey, parseKey as decodeKey } from "../keys/key.js";
export type { Message, MessageEvent, MessageLine, NewMessage } from "./line.js";
export { formatMessage, parseMessage } from "./line.js";
export { armor, dearmor } from "./saltpack/armor.js";
export type { Opened } from "./saltpack/open.js";
export type { SecretKey } from "./saltpack/primitives.js";
export type { SealOptions } from "./saltpack/saltpack.js";

export const { seal, open, secretKey } = saltpackOn(noblePrimitives, (count) =>
  crypto.getRandomValues(new Uint8Array(count)),
);
