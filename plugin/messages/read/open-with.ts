// plugin/messages/read/open-with.ts: opens a message with one of the author's keys.
import { TwtxtError } from "../../errors.js";
import type { SecretKey } from "../../keys/key.js";
import type { Opened } from "../saltpack/open.js";
import { open } from "../sealing.js";

/** The author's current key, then earlier ones. */
export type OwnKeys = readonly [SecretKey, ...SecretKey[]];

/** @throws TwtxtError as `open`; `not-a-recipient` if it was sealed to none of these keys */
export function openWith(message: Uint8Array | string, [key, ...others]: OwnKeys): Opened {
  try {
    return open(message, { key });
  } catch (error) {
    const [next, ...rest] = others;
    const isOfAnother = error instanceof TwtxtError && error.code === "not-a-recipient";
    if (next === undefined || !isOfAnother) throw error;
    return openWith(message, [next, ...rest]);
  }
}
