// plugin/mentions/verify/feed-part.ts: one file of a feed, searched for a twt while it arrives.
import { TwtxtError } from "../../errors.js";
import { type FeedHeader, type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { findTwts } from "../../feed/find-twts.js";
import { toInstant } from "../../feed/timestamp.js";
import { LINE_LIMIT } from "../../feed/twt.js";
import { isFeed, startsAsMarkup } from "../../http/feed-file.js";

/** The twt that is looked for. */
export interface WantedTwt {
  /** Its timestamp, in the forms that it may have been meant in. */
  timestamps: readonly string[];
  /** Whether a twt of that moment says what it is said to say. */
  isMeant(twt: ParsedTwt): boolean;
}

/** What was found in a file. */
export interface FeedPart {
  /** The wanted twt; `null` where none of that moment says what it should. */
  twt: ParsedTwt | null;
  /** Whether there is a twt of that moment at all. */
  hasMoment: boolean;
  /** Whether there is a twt of an earlier moment. Then the wanted one stands in no earlier part. */
  hasOlder: boolean;
  /** Whether this is a feed, and not, say, a page that says why there is none. */
  isFeed: boolean;
  header: FeedHeader;
}

const LF = 0x0a;
/** Eight megabytes of people's feeds have half as many. */
const MAX_LINES = 200_000;

/**
 * Searches a file, and stops reading as soon as a twt with the very timestamp says what it should. One of the same second
 * with another timestamp counts only where the whole file has none with this one.
 *
 * @param body - let go of when this returns
 * @throws TwtxtError what the body throws; `too-large`, also for more than 200,000 lines, only where the twt was not found before
 * @see PROTOCOL 2.4, "The proof"
 */
export async function searchPart(body: AsyncIterable<Uint8Array>, wanted: WantedTwt): Promise<FeedPart> {
  const search = new Search(wanted);
  try {
    for await (const lines of wholeLines(body)) {
      search.read(lines);
      if (search.isOver) break;
    }
  } catch (error) {
    const isTooLarge = error instanceof TwtxtError && error.code === "too-large";
    if (!isTooLarge || search.part.twt === null) throw error;
  }
  return search.part;
}

/** Reads a file from its start, some lines at a time. */
class Search {
  readonly #wanted: WantedTwt;
  /** The earliest moment that may be meant. */
  readonly #moment: string;
  readonly #literal: Found = { isThere: false, meant: null };
  readonly #sameSecond: Found = { isThere: false, meant: null };
  readonly #header: FeedHeader = {};
  #isPage: boolean | null = null;
  #hasTwt = false;
  #hasOlder = false;

  constructor(wanted: WantedTwt) {
    this.#wanted = wanted;
    this.#moment = wanted.timestamps.map((timestamp) => toInstant(timestamp) ?? "").sort()[0] ?? "";
  }

  get isOver(): boolean {
    return this.#isPage === true || this.#literal.meant !== null;
  }

  get part(): FeedPart {
    return {
      twt: this.#literal.isThere ? this.#literal.meant : this.#sameSecond.meant,
      hasMoment: this.#literal.isThere || this.#sameSecond.isThere,
      hasOlder: this.#hasOlder,
      isFeed: this.#hasTwt || isFeed({ twts: [], header: this.#header }),
      header: this.#header,
    };
  }

  /** @param lines - whole ones */
  read(lines: Buffer): void {
    this.#isPage ??= beginsPage(lines);
    if (this.#isPage) return;
    if (!this.#hasOlder) this.#readLines(lines);
    for (const timestamp of this.#wanted.timestamps) {
      for (const twt of findTwts(lines, timestamp)) {
        const found = twt.timestamp === timestamp ? this.#literal : this.#sameSecond;
        found.isThere = true;
        if (found.meant === null && this.#wanted.isMeant(twt)) found.meant = twt;
      }
    }
  }

  /** Line by line, up to the first older twt. That is mostly the first of all; the rest is searched much faster. */
  #readLines(lines: Buffer): void {
    const { header, twts } = parseFeed(lines);
    if (!this.#hasTwt) {
      for (const [name, values] of Object.entries(header)) {
        this.#header[name] = [...(this.#header[name] ?? []), ...values];
      }
    }
    this.#hasTwt ||= twts.length > 0;
    this.#hasOlder = twts.some(({ instant }) => instant < this.#moment);
  }
}

/** Twts of the wanted moment. */
interface Found {
  isThere: boolean;
  /** The first that says what it should. */
  meant: ParsedTwt | null;
}

/** @returns `null` for white space, which may begin either */
function beginsPage(lines: Buffer): boolean | null {
  const start = lines.toString("utf8", 0, 1024);
  return /^[\s\uFEFF]*$/.test(start) ? null : startsAsMarkup(start);
}

/**
 * A body in pieces that end with a line. The last line of a body that breaks off is left out: it may say something else. The rest
 * of a line that is far longer than lines may be is left out as well.
 */
async function* wholeLines(body: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  let open: Uint8Array[] = [];
  let openBytes = 0;
  let lines = 0;
  for await (const piece of body) {
    lines += linesIn(piece);
    if (lines > MAX_LINES) throw new TwtxtError("too-large", `The feed has more than ${MAX_LINES} lines.`);
    const isTooLong = openBytes > LINE_LIMIT;
    const end = piece.lastIndexOf(LF) + 1;
    if (end > 0) {
      yield Buffer.concat([...open, piece.subarray(isTooLong ? piece.indexOf(LF) : 0, end)]);
      open = [];
      openBytes = 0;
    } else if (isTooLong) continue;
    open.push(piece.subarray(end));
    openBytes += piece.length - end;
  }
  if (openBytes > 0) yield Buffer.concat(open);
}

function linesIn(piece: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < piece.length; at += 1) if (piece[at] === LF) count += 1;
  return count;
}
