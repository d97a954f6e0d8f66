// plugin/messages/saltpack/sealed.ts: a sealed message taken apart, as far as that goes without a key.
import { badMessage, messagePackReader, type Reader } from "./msgpack.js";

export const FORMAT_NAME = "saltpack";
export const MAJOR_VERSION = 2;
/** Signcryption. */
export const MODE = 3;
/** What one message may be sealed to; the specification has no bound. */
export const MAX_RECIPIENTS = 64;
export const MAX_CHUNK_BYTES = 2 ** 20;
export const KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;
/** What a secret box is larger than what it holds. */
const BOX_OVERHEAD = 16;

/** What a packet's box is larger than its chunk. */
export const PACKET_OVERHEAD = BOX_OVERHEAD + SIGNATURE_BYTES;

const KEY_BOX_BYTES = BOX_OVERHEAD + KEY_BYTES;
const HEADER_ITEMS = 6;
const PAIR_ITEMS = 2;

/** A message in its parts, all of them views of the bytes received. */
export interface SealedMessage {
  /** The header as it stands on the wire, which is what is hashed. */
  header: Uint8Array;
  /** X25519, 32 bytes. */
  ephemeralKey: Uint8Array;
  /** The sender's public key in a box of 48 bytes. */
  senderBox: Uint8Array;
  /** 1 to 64 of them. */
  recipients: { identifier: Uint8Array; payloadKeyBox: Uint8Array }[];
  /** One at least; the last one, and no other, is final. */
  packets: { box: Uint8Array; isFinal: boolean }[];
}

/**
 * Takes a sealed message apart and checks all of its form that can be seen without a key.
 *
 * @param bytes - the binary form
 * @throws TwtxtError `bad-message`
 * @see PROTOCOL 3.2; saltpack_signcryption_v2
 */
export function readSealed(bytes: Uint8Array): SealedMessage {
  const reader = messagePackReader(bytes);
  const header = reader.bin();
  return { header, ...readHeader(messagePackReader(header)), packets: readPackets(reader) };
}

function readHeader(reader: Reader): Omit<SealedMessage, "header" | "packets"> {
  const fields = readList(reader, HEADER_ITEMS, () => {
    if (reader.text() !== FORMAT_NAME) throw badMessage("it is not saltpack");
    const major = readList(reader, PAIR_ITEMS, () => [reader.uint(), reader.uint()])[0];
    if (major !== MAJOR_VERSION) throw badMessage(`it is not of version ${MAJOR_VERSION}`);
    if (reader.uint() !== MODE) throw badMessage("it is not both encrypted and signed");
    const ephemeralKey = readBin(reader, KEY_BYTES);
    const senderBox = readBin(reader, KEY_BOX_BYTES);
    return { ephemeralKey, senderBox, recipients: readRecipients(reader) };
  });
  if (!reader.isAtEnd()) throw badMessage("something follows in its header");
  return fields;
}

function readRecipients(reader: Reader): SealedMessage["recipients"] {
  const count = reader.array();
  if (count < 1 || count > MAX_RECIPIENTS) throw badMessage(`it is not to 1 to ${MAX_RECIPIENTS} recipients`);
  return Array.from({ length: count }, () =>
    readList(reader, PAIR_ITEMS, () => ({
      identifier: readBin(reader, KEY_BYTES),
      payloadKeyBox: readBin(reader, KEY_BOX_BYTES),
    })),
  );
}

function readPackets(reader: Reader): SealedMessage["packets"] {
  const packets: SealedMessage["packets"] = [];
  for (let isLast = false; !isLast; ) {
    const packet = readList(reader, PAIR_ITEMS, () => ({ box: reader.bin(), isFinal: reader.boolean() }));
    packets.push(packet);
    isLast = packet.isFinal;
    const mayBeEmpty = isLast && packets.length === 1;
    const chunkBytes = packet.box.length - PACKET_OVERHEAD;
    if (chunkBytes < (mayBeEmpty ? 0 : 1) || chunkBytes > MAX_CHUNK_BYTES) throw badMessage("a part has no right size");
  }
  if (!reader.isAtEnd()) throw badMessage("something follows its end");
  return packets;
}

/** Reads a list as it is known now. The specification may add to its end, and wants that passed over. */
function readList<T>(reader: Reader, known: number, readItems: () => T): T {
  const count = reader.array();
  if (count < known) throw badMessage("a list in it is too short");
  const items = readItems();
  reader.skip(count - known);
  return items;
}

function readBin(reader: Reader, size: number): Uint8Array {
  const bytes = reader.bin();
  if (bytes.length !== size) throw badMessage("a key in it has no right size");
  return bytes;
}
