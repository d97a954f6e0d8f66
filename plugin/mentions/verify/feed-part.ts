// plugin/mentions/verify/feed-part.ts: searches one file of a feed for a twt while it streams in.
import { TwtxtError } from "../../errors.js";
import { type FeedHeader, type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { findTwts } from "../../feed/find-twts.js";
import { toInstant } from "../../feed/timestamp.js";
import { LINE_LIMIT } from "../../feed/twt.js";
import { isFeed, startsAsMarkup } from "../../http/feed-file.js";

interface WantedTwt {
  timestamps: readonly string[];
  isMeant(twt: ParsedTwt): boolean;
}

export interface FeedPart {
  twt: ParsedTwt | null;
  hasMoment: boolean;
  /** Whether there is an older twt. The wanted one is then not in an earlier part. */
  hasOlder: boolean;
  /** `false` for an error page, for example. */
  isFeed: boolean;
  header: FeedHeader;
}

const LF = 0x0a;
/** Real feeds of 8 MB have half as many. */
const MAX_LINES = 200_000;

/**
 * Searches a file, and stops at the first twt with the exact timestamp and the mention. A twt of the same second with a
 * different timestamp counts only if the whole file has none with this one.
 *
 * @param body - closed on return
 * @throws TwtxtError what the body throws; `too-large`, also for over 200,000 lines, unless the twt was found before
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

class Search {
  /** The earliest reading of the timestamp. */
  readonly #moment: string;
  /** `undefined`: no twt has this timestamp; `null`: none of them has the mention. */
  #literal: ParsedTwt | null | undefined;
  /** The same for twts of the same second with a different timestamp. */
  #sameSecond: ParsedTwt | null | undefined;
  readonly #fields = new Map<string, string[]>();
  #isPage: boolean | null = null;
  #hasTwt = false;
  #hasOlder = false;

  constructor(private readonly wanted: WantedTwt) {
    this.#moment = wanted.timestamps.map((timestamp) => toInstant(timestamp) ?? "").sort()[0] ?? "";
  }

  get isOver(): boolean {
    return this.#isPage === true || Boolean(this.#literal);
  }

  get part(): FeedPart {
    const header: FeedHeader = Object.fromEntries(this.#fields);
    return {
      twt: (this.#literal === undefined ? this.#sameSecond : this.#literal) ?? null,
      hasMoment: this.#literal !== undefined || this.#sameSecond !== undefined,
      hasOlder: this.#hasOlder,
      isFeed: this.#hasTwt || isFeed({ twts: [], header }),
      header,
    };
  }

  /** @param lines - complete lines */
  read(lines: Buffer): void {
    this.#isPage ??= beginsPage(lines);
    if (this.#isPage) return;
    if (!this.#hasOlder) this.#readLines(lines);
    for (const timestamp of this.wanted.timestamps) {
      for (const twt of findTwts(lines, timestamp)) {
        const meant = () => (this.wanted.isMeant(twt) ? twt : null);
        if (twt.timestamp === timestamp) this.#literal ||= meant();
        else this.#sameSecond ||= meant();
      }
    }
  }

  /** Parses every line up to the first older twt, usually the first twt; the rest is searched much faster. */
  #readLines(lines: Buffer): void {
    const { header, twts } = parseFeed(lines);
    if (!this.#hasTwt) {
      for (const [name, values] of Object.entries(header)) {
        this.#fields.set(name, [...(this.#fields.get(name) ?? []), ...values]);
      }
    }
    this.#hasTwt ||= twts.length > 0;
    this.#hasOlder = twts.some(({ instant }) => instant < this.#moment);
  }
}

/** @returns `null` for white space only, which may precede either */
function beginsPage(lines: Buffer): boolean | null {
  const start = lines.toString("utf8", 0, 1024);
  return /^[\s\uFEFF]*$/.test(start) ? null : startsAsMarkup(start);
}

/**
 * Splits a body into pieces of complete lines. If the body breaks off, its last line is dropped, and so is the rest of an
 * overlong line.
 */
async function* wholeLines(body: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  let open: Uint8Array[] = [];
  let openBytes = 0;
  let lines = 0;
  for await (const piece of body) {
    lines += countLines(piece);
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

function countLines(piece: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < piece.length; at += 1) if (piece[at] === LF) count += 1;
  return count;
}
