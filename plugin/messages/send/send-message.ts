// plugin/messages/send/send-message.ts: seals a message and passes it to the outbox.
import { hash } from "node:crypto";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { readDomain } from "../../keys/address.js";
import { isGuestAtSameSite, readGuestKey } from "../../keys/guest.js";
import { parseKey, type SecretKey } from "../../keys/key.js";
import { type ResolvedRecipient, type ResolveOptions, resolveRecipients } from "../lookup/recipients.js";
import { formatMessage, type MessageEvent } from "../plaintext.js";
import { dearmor } from "../saltpack/armor.js";
import { MESSAGE_BYTES } from "../sealed-bytes.js";
import { seal } from "../sealing.js";
import type { Outbox, RecipientReport } from "./outbox.js";

export interface MessageToSend {
  /** Addresses, in any case; repeats count once. */
  recipients: readonly string[];
  text: string;
  events?: readonly MessageEvent[];
  /** Whether to keep the sealed message after delivery; default `true`. */
  keepCopy?: boolean;
}

interface SendOptions extends ResolveOptions {
  from: { address: string; key: SecretKey };
  outbox: Outbox;
  now: Clock;
}

/** Minimum characters of armor per byte, white space included. */
const ARMOR_GROWTH = 1.43;
/** Allowance for rounding in armor blocks and length fields, in bytes. */
const SLACK = 48;

/**
 * Looks up all recipients, seals a message for them and its sender, and passes it to the outbox. New keys are pinned.
 *
 * @returns the message, which was delivered or waits in the outbox; `id` is that in inboxes
 * @throws TwtxtError `key-changed`, `bad-address`, `no-such-address` and `unreachable`, with a line for each failing
 *   recipient; `too-large`, with how much text fits; `bad-usage` for none or more than 63 recipients; as {@link checkGuests}.
 *   Nothing is sent then. After `store-failed` the message may be in the outbox
 * @see PROTOCOL 3.2, "Sealing"
 */
export async function sendMessage(
  message: MessageToSend,
  options: SendOptions,
): Promise<{ id: string; recipients: ResolvedRecipient[]; reports: RecipientReport[] }> {
  const { contacts, outbox, from } = options;
  checkGuests(message.recipients, from.address);
  const recipients = await resolveRecipients(message.recipients, options);
  const sealed = sealMessage(recipients, message, options);
  for (const { found } of recipients) if (found) await contacts.pin(found);

  const id = hash("sha256", dearmor(sealed));
  const reports = await outbox.send({ id, sealed, recipients, keepCopy: message.keepCopy ?? true });
  return { id, recipients, reports };
}

/**
 * Refuses guests of other sites, whose inboxes accept messages from the authors there only.
 *
 * @param from - the sender's address
 * @throws TwtxtError `not-allowed`
 * @see PROTOCOL 3.5
 */
export function checkGuests(recipients: readonly string[], from: string): void {
  const other = recipients.find((address) => readGuestKey(address) !== null && !isGuestAtSameSite(address, from));
  if (other === undefined) return;
  throw new TwtxtError(
    "not-allowed",
    `${other} is a guest of ${readDomain(other)}. Only the authors of that site can write to its guests. If you are one of them, choose your address there: --as ADDRESS`,
  );
}

/** @throws TwtxtError `too-large` */
function sealMessage(
  recipients: readonly ResolvedRecipient[],
  { text, events = [] }: MessageToSend,
  { from, now }: SendOptions,
) {
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
    `The text has ${plaintext.length - frame} bytes (a line break counts as 3). For ${recipients.length} recipients, the limit is ${Math.max(0, plaintext.length - frame - excess)} bytes.`,
  );
}
