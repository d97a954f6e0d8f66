import { concatBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { arrayHead, binHead } from "../../../plugin/messages/saltpack/msgpack.js";
import { readSealed } from "../../../plugin/messages/saltpack/sealed.js";
import { nodePrimitives } from "../../../plugin/messages/sealing.js";
import { hex, openedByBob, sealed, utf8 } from "./vectors.js";

const badMessage = expect.objectContaining({ code: "bad-message" });

/** The parts of a message, encoded. */
interface Parts {
  name: Uint8Array;
  version: Uint8Array;
  mode: Uint8Array;
  ephemeralKey: Uint8Array;
  senderBox: Uint8Array;
  recipients: Uint8Array;
  more: Uint8Array;
  items: number;
  afterHeader: Uint8Array;
  packets: Uint8Array;
}

const bin = (size: number, byte = 9) => concatBytes(binHead(size), new Uint8Array(size).fill(byte));
const list = (...items: Uint8Array[]) => concatBytes(arrayHead(items.length), ...items);
const pair = list(bin(32), bin(48));
const [TRUE, FALSE, NIL] = [hex("c3"), hex("c2"), hex("c0")];

const good: Parts = {
  name: hex("a873616c747061636b"),
  version: hex("920200"),
  mode: hex("03"),
  ephemeralKey: bin(32, 1),
  senderBox: bin(48, 2),
  recipients: list(list(bin(32, 3), bin(48, 4)), pair),
  more: new Uint8Array(0),
  items: 6,
  afterHeader: new Uint8Array(0),
  packets: concatBytes(list(bin(81, 5), FALSE), list(bin(82, 6), TRUE)),
};

function messageOf(changes: Partial<Parts>): Uint8Array {
  const { name, version, mode, ephemeralKey, senderBox, recipients, more, items, afterHeader, packets } = {
    ...good,
    ...changes,
  };
  const header = concatBytes(
    arrayHead(items),
    name,
    version,
    mode,
    ephemeralKey,
    senderBox,
    recipients,
    more,
    afterHeader,
  );
  return concatBytes(binHead(header.length), header, packets);
}

describe("a parsed message", () => {
  it("has a header, keys, boxes and packets, as views of its bytes", () => {
    const bytes = messageOf({});
    const message = readSealed(bytes);
    const filled = (size: number, byte: number) => new Uint8Array(size).fill(byte);
    expect(message).toEqual({
      header: bytes.subarray(3, 3 + message.header.length),
      ephemeralKey: filled(32, 1),
      senderBox: filled(48, 2),
      recipients: [
        { identifier: filled(32, 3), payloadKeyBox: filled(48, 4) },
        { identifier: filled(32, 9), payloadKeyBox: filled(48, 9) },
      ],
      packets: [
        { box: filled(81, 5), isFinal: false },
        { box: filled(82, 6), isFinal: true },
      ],
    });
    expect(message.ephemeralKey.buffer).toBe(bytes.buffer);
  });

  it.each<[string, Partial<Parts>]>([
    ["a later minor version", { version: hex("920209") }],
    ["extra items in the version", { version: list(hex("02"), hex("00"), hex("00")) }],
    ["extra items in the header", { items: 8, more: concatBytes(NIL, list(NIL, list(TRUE))) }],
    ["extra items in a recipient's pair", { recipients: list(list(bin(32), bin(48), NIL, bin(300))) }],
    ["extra items in a packet", { packets: list(bin(81), TRUE, list(list(NIL))) }],
    ["an empty message", { packets: list(bin(80), TRUE) }],
    ["a full chunk", { packets: list(bin(2 ** 20 + 80), TRUE) }],
    ["64 recipients", { recipients: list(...Array<Uint8Array>(64).fill(pair)) }],
  ])("is valid: %s", (_what, changes) => {
    expect(readSealed(messageOf(changes)).packets.at(-1)?.isFinal).toBe(true);
  });

  it.each<[string, Partial<Parts>]>([
    ["another name", { name: hex("a873616c747061636c") }],
    ["a name in bytes", { name: hex("c40873616c747061636b") }],
    ["a longer name", { name: hex("a973616c747061636b00") }],
    ["version 1", { version: hex("920100") }],
    ["version 3", { version: hex("920300") }],
    ["a version without a minor version", { version: hex("9102") }],
    ["a version that is a number", { version: hex("02") }],
    ["another mode", { mode: hex("02") }],
    ["a mode in text", { mode: hex("a133") }],
    ["an ephemeral key of 31 bytes", { ephemeralKey: bin(31) }],
    ["an ephemeral key of 33 bytes", { ephemeralKey: bin(33) }],
    ["a sender's box of 47 bytes", { senderBox: bin(47) }],
    ["a sender's box of 16 bytes, for an empty key", { senderBox: bin(16) }],
    ["no recipients", { recipients: list() }],
    ["65 recipients", { recipients: list(...Array<Uint8Array>(65).fill(pair)) }],
    ["an identifier of 31 bytes", { recipients: list(list(bin(31), bin(48))) }],
    ["a payload key box of 49 bytes", { recipients: list(list(bin(32), bin(49))) }],
    ["a recipient without a box", { recipients: list(list(bin(32))) }],
    ["a recipient without an identifier", { recipients: list(list(NIL, bin(48))) }],
    ["a header of five items", { items: 5, recipients: new Uint8Array(0) }],
    ["a header that claims more items than it has", { items: 7 }],
    ["an item after the header's list", { afterHeader: NIL }],
    ["no packet", { packets: new Uint8Array(0) }],
    ["no final packet", { packets: list(bin(81), FALSE) }],
    ["a packet without a flag", { packets: list(bin(81)) }],
    ["a flag that is nil", { packets: list(bin(81), NIL) }],
    ["a flag that is 1", { packets: list(bin(81), hex("01")) }],
    ["a box in text", { packets: concatBytes(arrayHead(2), hex("d951"), new Uint8Array(81), TRUE) }],
    ["a box of 79 bytes", { packets: list(bin(79), TRUE) }],
    ["an empty chunk that is not final", { packets: concatBytes(list(bin(80), FALSE), list(bin(81), TRUE)) }],
    ["an empty final chunk after others", { packets: concatBytes(list(bin(81), FALSE), list(bin(80), TRUE)) }],
    ["a chunk of 1 MiB and a byte", { packets: list(bin(2 ** 20 + 81), TRUE) }],
    ["a packet after the final one", { packets: concatBytes(list(bin(81), TRUE), list(bin(81), TRUE)) }],
    ["a byte after the final packet", { packets: concatBytes(list(bin(81), TRUE), NIL) }],
  ])("is refused: %s", (_what, changes) => {
    expect(() => readSealed(messageOf(changes))).toThrow(badMessage);
  });

  it("opens with unknown items in a packet", () => {
    const message = sealed(utf8("hello"), nodePrimitives);
    const { header, packets } = readSealed(message);
    const [{ box } = { box: message }] = packets;
    const start = header.byteOffset + header.length;
    const longer = concatBytes(message.subarray(0, start), list(concatBytes(binHead(box.length), box), TRUE, NIL));
    expect(openedByBob(longer, nodePrimitives).plaintext).toEqual(utf8("hello"));
  });
});
