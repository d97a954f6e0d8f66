// plugin/cli/blob/put.ts: `blob put`: puts files.

import { shortKey } from "../../blobs/client/short-key.js";
import { TwtxtError } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import { isBlobKey } from "../../site/blob-url.js";
import { misuse, readArguments } from "../command.js";
import { typed } from "../invocation.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import { lineShownSafely, type Terminal } from "../terminal.js";
import { sealingFor } from "./encrypt.js";
import { blobOwner, endingOf, NAME } from "./owner.js";
import { progressOf } from "./progress.js";
import { type PutResult, putAll } from "./put-all.js";
import { factsOf, markdownOf, placeOf, sizeText, visibility } from "./shown.js";
import { type Sources, sourcesOf } from "./sources.js";
import { WISH_OPTIONS, wishIn } from "./wish.js";

const OPTIONS = {
  ...OWN_SITE_OPTIONS,
  ...WISH_OPTIONS,
  key: { type: "string" },
  markdown: { type: "boolean" },
  encrypt: { type: "boolean" },
  to: { type: "string", multiple: true },
  again: { type: "boolean" },
  concurrency: { type: "string" },
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>["values"];

const CONCURRENCY = 4;
const MOST_AT_ONCE = 32;

export async function put(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("blob put", args, OPTIONS);
  const wish = wishIn(values);
  checkUsage(values, positionals);
  const concurrency = concurrencyIn(values);
  const signal = endingOf(terminal);
  const owner = await blobOwner(values, terminal, signal);
  const seal = values.encrypt ? await sealingFor(values.to ?? [], owner.author, values, terminal) : null;
  const found = await sourcesOf(positionals, { terminal, maxBytes: owner.maxBytes, signal });
  try {
    for (const line of found.leftOut) terminal.say(lineShownSafely(line));
    checkSources(found, values);
    const total = found.sources.reduce((sum, { size }) => sum + size, 0);
    const progress = progressOf(terminal, total);
    const tell = (result: PutResult) => progress.above(() => report(result, values, owner.sharedUrl, terminal));
    const unread = found.unread.map(({ shown, error }) => ({ source: { shown, filename: "" }, outcome: null, error }));
    for (const result of unread) tell(result);
    const work = { owner, wish, key: values.key, seal, isSentAnyway: values.again ?? false, progress, signal };
    const results = await putAll(found.sources, work, { concurrency, tell }).finally(progress.end);
    return conclude([...unread, ...results], values, owner.sharedUrl, terminal);
  } finally {
    await found.clear();
  }
}

/** @throws TwtxtError `bad-usage` */
function checkUsage({ key, to, encrypt }: Values, words: readonly string[]): void {
  if (words.length === 0) throw misusedPut('say which file, or "-" for standard input.');
  if (words.filter((word) => word === "-").length > 1) throw misusedPut('standard input, "-", is there once.');
  if (key !== undefined && !isBlobKey(key)) throw misusedPut(`--key is 1 to 128 of A-Z a-z 0-9 . _ -, got "${key}".`);
  if (to && !encrypt) throw misusedPut("--to says for whom to --encrypt.");
  const strange = to?.find((address) => parseAddress(address) === null);
  if (strange !== undefined) throw misusedPut(`--to is an address such as bob@bob.example, got "${strange}".`);
}

/** @throws TwtxtError `bad-usage`; `bad-file` for no file at all */
function checkSources({ sources, unread }: Sources, { key, filename }: Values): void {
  const count = sources.length + unread.length;
  if (count === 0) throw new TwtxtError("bad-file", "There is no file to put.");
  if (count > 1 && (key ?? filename) !== undefined) throw misusedPut("--key and --filename are for one file.");
}

/** @throws TwtxtError `bad-usage` */
function concurrencyIn({ concurrency, encrypt }: Values): number {
  // What is sealed is in memory as a whole.
  if (concurrency === undefined) return encrypt ? 1 : CONCURRENCY;
  const number = /^\d{1,2}$/.test(concurrency) ? Number(concurrency) : 0;
  if (number >= 1 && number <= MOST_AT_ONCE) return number;
  throw misusedPut(`--concurrency is a number from 1 to ${MOST_AT_ONCE}, got "${concurrency}".`);
}

function misusedPut(why: string): TwtxtError {
  return misuse(`${NAME} put: ${why}`, NAME);
}

function linesOf({ source, outcome, error }: PutResult): string[] {
  if (!outcome) return [`${source.shown}: ${error}`];
  const { blob, note } = outcome;
  const facts = [outcome.outcome, sizeText(blob.size), visibility(blob), shortKey(blob.key)];
  return [`${source.shown}: ${facts.join(", ")}`, ...(note === null ? [] : [`${source.shown}: ${note}`])];
}

/** What has come of one, as soon as it is done. */
function report(result: PutResult, values: Values, sharedUrl: string, terminal: Terminal): void {
  const { source, outcome } = result;
  for (const line of linesOf(result)) terminal.say(lineShownSafely(line));
  if (!outcome || values.json) return;
  const { blob } = outcome;
  terminal.print(values.markdown ? markdownOf(blob, source.filename) : placeOf(blob, sharedUrl));
}

/** @returns the exit code */
function conclude(results: readonly PutResult[], values: Values, sharedUrl: string, terminal: Terminal): number {
  if (values.json) {
    const facts = results.map(({ source, outcome, error }) => ({
      file: source.shown,
      ...(outcome ? { outcome: outcome.outcome, ...factsOf(outcome.blob, sharedUrl), note: outcome.note } : { error }),
    }));
    terminal.print(JSON.stringify(facts, null, 2));
  }
  if (values.to || values.markdown) hintAtSharing(results, terminal);
  if (results.length > 1) terminal.say(sumOf(results));
  return results.some(({ error }) => error !== null) ? 1 : 0;
}

function hintAtSharing(results: readonly PutResult[], terminal: Terminal): void {
  for (const { outcome } of results) {
    if (!outcome || outcome.blob.isPublic) continue;
    const key = shortKey(outcome.blob.key);
    terminal.say(`${key} is private: others can get it once you type: ${typed(`blob share ${key}`)}`);
  }
}

function sumOf(results: readonly PutResult[]): string {
  const states = results.map(({ outcome }) => outcome?.outcome ?? "failed");
  const counts = (["new", "replaced", "changed", "unchanged", "failed"] as const)
    .map((state) => [states.filter((one) => one === state).length, state] as const)
    .filter(([number]) => number > 0);
  return `${counts.map(([number, state]) => `${number} ${state}`).join(", ")}.`;
}
