// plugin/mentions/send/ledger-keys.ts: the keys of the ledger's records. They have all that a comparison with the feed needs.
import { type FinalOutcome, type FinishedMention, LINK_TEXT } from "./ledger-records.js";
import { type LiveMention, shortHash } from "./live-feed.js";

/** The last letter of a record's key. */
const LETTERS: Record<FinalOutcome, string> = { sent: "s", failed: "f", "not-asked": "r", "no-endpoint": "n" };
const DONE_KEY = /\/done\/(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)z-([0-9a-f]{32})-([0-9a-f]{16})-([sfrn])$/;
const RECORD = /\/((retry|done|gone)\/(?:\d{8}t\d{6}z-)?([0-9a-f]{32})(?:-[0-9a-f]{16})?(?:-([sfrn]))?)$/;

/** A record as its key describes it. */
export interface LedgerName {
  key: string;
  /** The key without the folder of the feed. */
  name: string;
  kind: "retry" | "done" | "gone";
  pair: string;
  /** `null` for a mention that waits. */
  ending: FinalOutcome | null;
}

/** The folder of a feed: each feed in a store has a ledger of its own. */
export function feedFolder(feedUrl: string): string {
  return `sent/${shortHash(feedUrl, 16)}`;
}

/** The record of a mention that needs no further attempt with this text. */
export function doneKey(folder: string, { instant, pair, text }: LiveMention, ending: FinalOutcome): string {
  return `${folder}/done/${compact(instant)}-${pair}-${text}-${LETTERS[ending]}`;
}

/** The record of a mention that was removed. */
export function goneKey(
  folder: string,
  { instant, pair }: Pick<LiveMention, "instant" | "pair">,
  ending: FinalOutcome,
): string {
  return `${folder}/gone/${compact(instant)}-${pair}-${LETTERS[ending]}`;
}

/** Parses the key of {@link doneKey}. @returns none for another key */
export function parseDoneKey(key: string): FinishedMention[] {
  const match = DONE_KEY.exec(key);
  if (!match) return [];
  const [, year, month, day, hour, minute, second, pair = "", text = "", letter] = match;
  const instant = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const ending = parseLetter(letter);
  return ending ? [{ key, pair, instant, text, isLink: text === LINK_TEXT, ending }] : [];
}

/** Parses the key of any record of a mention. @returns none for another key */
export function parseLedgerKey(key: string): LedgerName[] {
  const [, name, kind, pair, letter] = RECORD.exec(key) ?? [];
  if (name === undefined || pair === undefined) return [];
  return [{ key, name, kind: kind as LedgerName["kind"], pair, ending: parseLetter(letter) ?? null }];
}

function parseLetter(letter: string | undefined): FinalOutcome | undefined {
  return (Object.keys(LETTERS) as FinalOutcome[]).find((name) => LETTERS[name] === letter);
}

function compact(instant: string): string {
  return instant.replace(/[-:]/g, "").toLowerCase();
}
