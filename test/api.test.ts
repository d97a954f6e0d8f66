import { describe, expect, it } from "vitest";
import * as api from "../plugin/index.js";
import { toSecretKey } from "../plugin/keys/ed25519.js";
import * as browser from "../plugin/messages/browser.js";
import * as messages from "../plugin/messages/index.js";

describe("the public API", () => {
  it("has these names and no others", () => {
    expect(Object.keys(api).sort()).toEqual([
      "TwtxtError",
      "default",
      "findMentions",
      "findTwts",
      "formatFeed",
      "formatMention",
      "parseFeed",
      "twtHash",
    ]);
  });

  // The examples from the docstrings.
  it("does what its documentation shows", () => {
    expect(api.parseFeed("# nick = bob\n\n2026-01-02T03:04:05Z\thello\n").twts[0]?.text).toBe("hello");
    expect(
      api.formatFeed({ fields: { nick: ["alice"] }, twts: [{ timestamp: "2026-01-02T03:04:05Z", text: "hello" }] }),
    ).toBe("# nick = alice\n\n2026-01-02T03:04:05Z\thello\n");
    expect(
      api.twtHash("https://example.com/twtxt.txt", { timestamp: "2026-07-01T00:00:00Z", text: "Hello World!" }),
    ).toBe("myzxbwxktuvs");
    expect(api.findMentions("hi @<bob https://bob.example/twtxt.txt>")).toEqual([
      { nick: "bob", url: "https://bob.example/twtxt.txt" },
    ]);
    expect(api.formatMention({ nick: "bob", url: "https://bob.example/twtxt.txt" })).toBe(
      "@<bob https://bob.example/twtxt.txt>",
    );
  });
});

describe("the public API of messages", () => {
  const everywhere = [
    "TwtxtError",
    "armor",
    "dearmor",
    "decodeKey",
    "encodeKey",
    "formatMessage",
    "open",
    "parseMessage",
    "seal",
    "secretKey",
  ];

  it("has these names and no others, also in a browser", () => {
    expect(Object.keys(messages).sort()).toEqual([...everywhere, "lookup"].sort());
    expect(Object.keys(browser).sort()).toEqual(everywhere);
  });

  // The example from docs/messages.md.
  it("does what its documentation shows", () => {
    const { decodeKey, encodeKey, formatMessage, open, parseMessage, seal, secretKey } = messages;
    const pair = (byte: number) => {
      const { publicKey } = toSecretKey(new Uint8Array(32).fill(byte));
      return new Uint8Array([...new Uint8Array(32).fill(byte), ...publicKey]);
    };
    const alice = secretKey(pair(1));
    const bob = secretKey(pair(2));
    const text = formatMessage({ time: "2026-11-20T09:12:00Z", from: "alice@alice.example", text: "hello" });
    const recipients = [decodeKey(encodeKey(bob.publicKey)), alice.publicKey];
    const armored = seal(new TextEncoder().encode(text), { sender: alice, recipients, armor: true });
    for (const key of [alice, bob]) {
      const { plaintext, sender } = open(armored, { key });
      expect(sender).toEqual(alice.publicKey);
      expect(parseMessage(new TextDecoder().decode(plaintext))).toMatchObject({
        address: "alice@alice.example",
        lines: [{ time: "2026-11-20T09:12:00Z", text: "hello" }],
      });
    }
  });
});
