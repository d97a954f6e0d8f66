// plugin/messages/saltpack/sealed.ts: the binary format of sealed messages.
import { arrayHead, badMessage, bin, boolean, MessagePackReader } from "./msgpack.js";

const FORMAT_NAME = "saltpack";
const MAJOR_VERSION = 2;
const SIGNCRYPTION_MODE = 3;
/** Our own limit. The specification has none. */
export const MAX_RECIPIENTS = 64;
export const MAX_CHUNK_BYTES = 2 ** 20;
export const KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;
/** The tag of a secret box. */
const BOX_OVERHEAD = 16;
/** The bytes of a packet's box that are not its chunk. */
export const PACKET_OVERHEAD = BOX_OVERHEAD + SIGNATURE_BYTES;

const KEY_BOX_BYTES = BOX_OVERHEAD + KEY_BYTES;
const HEADER_ITEMS = 6;
const PAIR_ITEMS = 2;

/** `["saltpack", [2, 0], 3, ...]`, the constant start of a header. */
export const HEADER_HEAD = Uint8Array.of(
  0x90 | HEADER_ITEMS,
  0xa0 | FORMAT_NAME.length,
  ...new TextEncoder().encode(FORMAT_NAME),
  0x90 | PAIR_ITEMS,
  MAJOR_VERSION,
  0,
  SIGNCRYPTION_MODE,
);

/** The parts of a message, as views of its bytes. */
export interface SealedMessage {
  /** As received, since its bytes are hashed. */
  header: Uint8Array;
  /** X25519, 32 bytes. */
  ephemeralKey: Uint8Array;
  /** The sender's public key in a box of 48 bytes. */
  senderBox: Uint8Array;
  /** 1 to 64. */
  recipients: { identifier: Uint8Array; payloadKeyBox: Uint8Array }[];
  /** At least one. Only the last one is final. */
  packets: Packet[];
}

interface Packet {
  box: Uint8Array;
  isFinal: boolean;
}

export function packetParts({ box, isFinal }: Packet): Uint8Array[] {
  return [arrayHead(PAIR_ITEMS), ...bin(box), boolean(isFinal)];
}

/**
 * Parses a message and checks its format.
 *
 * @param bytes - the binary form
 * @throws TwtxtError `bad-message`
 * @see PROTOCOL 3.2; saltpack_signcryption_v2
 */
export function readSealed(bytes: Uint8Array): SealedMessage {
  const reader = new MessagePackReader(bytes);
  const header = reader.bin();
  return { header, ...readHeader(new MessagePackReader(header)), packets: readPackets(reader) };
}

function readHeader(reader: MessagePackReader): Omit<SealedMessage, "header" | "packets"> {
  const fields = readList(reader, HEADER_ITEMS, () => {
    if (reader.text() !== FORMAT_NAME) throw badMessage("it is not in the format saltpack");
    const major = readList(reader, PAIR_ITEMS, () => [reader.uint(), reader.uint()])[0];
    if (major !== MAJOR_VERSION) throw badMessage(`its version is not ${MAJOR_VERSION}`);
    if (reader.uint() !== SIGNCRYPTION_MODE) throw badMessage("it is not both encrypted and signed");
    const ephemeralKey = readBin(reader, KEY_BYTES);
    const senderBox = readBin(reader, KEY_BOX_BYTES);
    return { ephemeralKey, senderBox, recipients: readRecipients(reader) };
  });
  if (!reader.isAtEnd()) throw badMessage("its header is followed by other bytes");
  return fields;
}

function readRecipients(reader: MessagePackReader): SealedMessage["recipients"] {
  const count = reader.array();
  if (count < 1 || count > MAX_RECIPIENTS) throw badMessage(`it must have 1 to ${MAX_RECIPIENTS} recipients`);
  return Array.from({ length: count }, () =>
    readList(reader, PAIR_ITEMS, () => ({
      identifier: readBin(reader, KEY_BYTES),
      payloadKeyBox: readBin(reader, KEY_BOX_BYTES),
    })),
  );
}

function readPackets(reader: MessagePackReader): Packet[] {
  const packets: Packet[] = [];
  for (let isLast = false; !isLast; ) {
    const packet = readList(reader, PAIR_ITEMS, () => ({ box: reader.bin(), isFinal: reader.boolean() }));
    packets.push(packet);
    isLast = packet.isFinal;
    const mayBeEmpty = isLast && packets.length === 1;
    const chunkBytes = packet.box.length - PACKET_OVERHEAD;
    if (chunkBytes < (mayBeEmpty ? 0 : 1) || chunkBytes > MAX_CHUNK_BYTES)
      throw badMessage("a packet has an invalid size");
  }
  if (!reader.isAtEnd()) throw badMessage("it is followed by other bytes");
  return packets;
}

/** Reads the known items of a list. Later versions of the specification may append items, which must be ignored. */
function readList<T>(reader: MessagePackReader, known: number, readItems: () => T): T {
  const count = reader.array();
  if (count < known) throw badMessage("a list is too short");
  const items = readItems();
  reader.skip(count - known);
  return items;
}

function readBin(reader: MessagePackReader, size: number): Uint8Array {
  const bytes = reader.bin();
  if (bytes.length !== size) throw badMessage("a key has an invalid size");
  return bytes;
}
