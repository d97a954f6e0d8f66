// plugin/messages/send/send-message.ts: one message from its text to the outbox.

import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { parseKey, type SecretKey } from "../../keys/key.js";
import { formatMessage, type MessageEvent } from "../line.js";
import { type Resolved, type ResolveOptions, resolveAll } from "../lookup/recipients.js";
import { dearmor } from "../saltpack/armor.js";
import { MESSAGE_BYTES } from "../sealed-bytes.js";
import { seal } from "../sealing.js";
import type { Outbox, RecipientReport } from "./outbox.js";

/** What is to be said, and to whom. */
export interface MessageToSend {
  /** Addresses, in any case; one that is there twice gets it once. */
  recipients: readonly string[];
  text: string;
  events?: readonly MessageEvent[];
  /** Whether the sealed message is kept once it is delivered; default `true`. */
  keepCopy?: boolean;
}

export interface SendOptions extends ResolveOptions {
  /** Who sends it. */
  from: { address: string; key: SecretKey };
  outbox: Outbox;
  now: Clock;
}

/** A message that is delivered, or waits in the outbox. */
export interface SentMessage {
  /** As inboxes name it. */
  id: string;
  recipients: Resolved[];
  reports: RecipientReport[];
}

/** Characters of armor for a byte, white space included: never less. */
const ARMOR_GROWTH = 1.43;
/** By how much blocks of armor and the lengths inside of a message may change that. */
const SLACK = 48;

/**
 * Looks up all recipients, seals a message once for all of them and its sender, and hands it over to the outbox. Keys that
 * are seen for the first time are pinned.
 *
 * @throws TwtxtError `key-changed`, `bad-address`, `no-such-address` and `unreachable`, with a line on each recipient that
 *   is in trouble; `too-large`, which says how much text fits; `bad-usage` for nobody and for more than 63 people. Then
 *   nothing is sent. `store-failed`, after which the outbox may hold it
 * @see PROTOCOL 3.2, "Sealing"
 */
export async function sendMessage(message: MessageToSend, options: SendOptions): Promise<SentMessage> {
  const { contacts, outbox } = options;
  const recipients = await resolveAll(message.recipients, options);
  const sealed = sealFor(recipients, message, options);
  for (const { found } of recipients) if (found) await contacts.pin(found);

  const id = hex.encode(sha256(dearmor(sealed)));
  const reports = await outbox.send({ id, sealed, recipients, keepCopy: message.keepCopy ?? true });
  return { id, recipients, reports };
}

/** @throws TwtxtError `too-large` */
function sealFor(recipients: readonly Resolved[], { text, events = [] }: MessageToSend, { from, now }: SendOptions) {
  const written = (words: string) => {
    const time = formatTimestamp(now());
    return new TextEncoder().encode(formatMessage({ time, from: from.address, text: words, events }));
  };
  const plaintext = written(text);
  const keys = recipients.map(({ key }) => parseKey(key));
  const sealed = seal(plaintext, { sender: from.key, recipients: [...keys, from.key.publicKey], armor: true });
  if (sealed.length <= MESSAGE_BYTES) return sealed;

  const excess = Math.ceil((sealed.length - MESSAGE_BYTES) / ARMOR_GROWTH) + SLACK;
  const frame = written("").length;
  throw new TwtxtError(
    "too-large",
    `The text has ${plaintext.length - frame} bytes, where a line break counts for 3. For ${recipients.length} recipients at most ${Math.max(0, plaintext.length - frame - excess)} fit.`,
  );
}
