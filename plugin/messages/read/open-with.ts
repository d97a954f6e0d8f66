// plugin/messages/read/open-with.ts: opens a message with whichever of one's own keys it was sealed to.
import { TwtxtError } from "../../errors.js";
import type { SecretKey } from "../../keys/key.js";
import type { Opened } from "../saltpack/open.js";
import { open } from "../sealing.js";

/** One's own keys: that of today, and after it those that the address had before. */
export type OwnKeys = readonly [SecretKey, ...SecretKey[]];

/** @throws TwtxtError as `open`; `not-a-recipient` where it was sealed to none of them */
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
