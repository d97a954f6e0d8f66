// plugin/mentions/send/ledger-keys.ts: the keys of the ledger's records. They have all that a comparison with the feed needs.
import { type FinalOutcome, type FinishedMention, LINK_TEXT } from "./ledger-records.js";
import { type LiveMention, shortHash } from "./live-feed.js";

/** The last letter of a record's key. */
const LETTERS: Record<FinalOutcome, string> = { sent: "s", failed: "f", "not-asked": "r", "no-endpoint": "n" };
const RECORD =
  /\/(?<name>(?<kind>retry|done|gone)\/(?:(?<time>\d{8}t\d{6}z)-)?(?<pair>[0-9a-f]{32})(?:-(?<text>[0-9a-f]{16}))?(?:-(?<letter>[sfrn]))?)$/;

export interface LedgerName {
  key: string;
  /** The key without the folder of the feed. */
  name: string;
  kind: "retry" | "done" | "gone";
  pair: string;
  /** Of its twt; empty for a mention that waits. */
  instant: string;
  /** See {@link LiveMention}; empty for a mention that waits or is gone. */
  text: string;
  /** `null` for a mention that waits. */
  ending: FinalOutcome | null;
}

export function feedFolder(feedUrl: string): string {
  return `sent/${shortHash(feedUrl, 16)}`;
}

/** The record of a mention that needs no further attempt with this text. */
export function doneKey(folder: string, { instant, pair, text }: LiveMention, ending: FinalOutcome): string {
  return `${folder}/done/${compact(instant)}-${pair}-${text}-${LETTERS[ending]}`;
}

export function goneKey(
  folder: string,
  { instant, pair }: Pick<LiveMention, "instant" | "pair">,
  ending: FinalOutcome,
): string {
  return `${folder}/gone/${compact(instant)}-${pair}-${LETTERS[ending]}`;
}

/** Parses the key of any record of a mention. @returns none for another key */
export function parseLedgerKey(key: string): LedgerName[] {
  const { name, kind, time = "", pair, text = "", letter } = RECORD.exec(key)?.groups ?? {};
  if (name === undefined || pair === undefined) return [];
  const instant = time.replace(/^(....)(..)(..)t(..)(..)(..)z$/, "$1-$2-$3T$4:$5:$6Z");
  return [{ key, name, kind: kind as LedgerName["kind"], pair, instant, text, ending: parseLetter(letter) ?? null }];
}

/** Parses the key of {@link doneKey}. @returns none for another key */
export function parseDoneKey(key: string): FinishedMention[] {
  return parseLedgerKey(key).flatMap(({ kind, pair, instant, text, ending }) =>
    kind === "done" && ending ? [{ key, pair, instant, text, isLink: text === LINK_TEXT, ending }] : [],
  );
}

function parseLetter(letter: string | undefined): FinalOutcome | undefined {
  return (Object.keys(LETTERS) as FinalOutcome[]).find((name) => LETTERS[name] === letter);
}

function compact(instant: string): string {
  return instant.replace(/[-:]/g, "").toLowerCase();
}
