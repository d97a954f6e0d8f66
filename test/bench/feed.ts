// test/bench/feed.ts: reproducible feeds of 1 and 10 MB.
import { wordsFrom } from "./blog.js";

const FEED_BYTES = 10_000_000;

const FIRST_TWT = Date.parse("2015-01-01T00:00:00Z");
const STEP = 3_671_000;

export interface LargeFeed {
  bytes: Uint8Array;
  /** The timestamps, in the order of the file. */
  timestamps: string[];
}

/** Oldest first. Every tenth twt has a mention, every twentieth a subject, some have several lines or an emoji. */
export function largeFeed(bytes = FEED_BYTES): LargeFeed {
  const lines = ["# nick = alice\n# url = https://alice.example/twtxt.txt\n\n"];
  const timestamps: string[] = [];
  for (let size = 0, i = 0; size < bytes; i += 1) {
    const timestamp = `${new Date(FIRST_TWT + i * STEP).toISOString().slice(0, 19)}Z`;
    const line = `${timestamp}\t${textOf(i)}\n`;
    timestamps.push(timestamp);
    lines.push(line);
    size += Buffer.byteLength(line);
  }
  return { bytes: new TextEncoder().encode(lines.join("")), timestamps };
}

/** A feed of a megabyte with mentions in its first, middle and last twt. */
export function mentioningFeed(url: string): {
  bytes: Uint8Array;
  timestamps: { first: string; middle: string; last: string };
} {
  const { bytes, timestamps } = largeFeed(1_000_000);
  const [first = "", middle = "", last = ""] = [timestamps[0], timestamps[timestamps.length >> 1], timestamps.at(-1)];
  let file = new TextDecoder().decode(bytes);
  for (const timestamp of [first, middle, last]) file = file.replace(`${timestamp}\t`, `${timestamp}\t@<dora ${url}> `);
  return { bytes: new TextEncoder().encode(file), timestamps: { first, middle, last } };
}

function textOf(i: number): string {
  const words = wordsFrom(i + 1);
  const subject = i % 20 === 7 ? "(#abcdefg) " : "";
  const mention = i % 10 === 7 ? `@<bob${i % 50} https://bob${i % 50}.example/twtxt.txt> ` : "";
  const secondLine = i % 15 === 4 ? `\u2028${words(6)}` : "";
  const emoji = i % 25 === 3 ? " 🌱" : "";
  return `${subject}${mention}${words(6 + (i % 11))}${secondLine}${emoji}`;
}
