// plugin/cli/blob/put.ts: `blob put`: stores files.
import { shortKey } from "../../blobs/client/short-key.js";
import { TwtxtError } from "../../errors.js";
import { misuse } from "../arguments.js";
import { typed, typedHints } from "../invocation.js";
import type { OwnSiteValues } from "../options.js";
import { listed, progressOf, sizeText } from "../output.js";
import { endingOf, lineShownSafely, type Terminal } from "../terminal.js";
import { blobOwner, factsOf, markdownOf, placeOf, visibility } from "./blob-owner.js";
import { changesIn, type MetadataValues } from "./edit-blobs.js";
import { sealingFor } from "./encrypt-files.js";
import { type Sources, sourcesOf } from "./files-to-put.js";
import { type PutResult, putAll } from "./put-all.js";

type Values = OwnSiteValues &
  MetadataValues & {
    key: string | undefined;
    markdown: boolean;
    encrypt: boolean;
    to: string[];
    again: boolean;
    concurrency: number | undefined;
  };

const WHERE = "blob put";
const CONCURRENCY = 4;

export async function put(values: Values, words: string[], terminal: Terminal): Promise<number> {
  const wish = changesIn(values, WHERE);
  checkUsage(values, words);
  const signal = endingOf(terminal);
  const owner = await blobOwner(values, terminal, signal);
  const seal = values.encrypt ? await sealingFor(values.to, owner.author, values, terminal) : null;
  const found = await sourcesOf(words, { terminal, maxBytes: owner.maxBytes, signal });
  try {
    for (const line of found.leftOut) terminal.say(lineShownSafely(line));
    checkSources(found, values);
    const progress = progressOf(
      terminal,
      found.sources.reduce((sum, { size }) => sum + size, 0),
    );
    const onResult = (result: PutResult) => progress.above(() => show(result, values, owner.sharedUrl, terminal));
    const unread = found.unread.map(({ shown, error }) => ({ source: { shown, filename: "" }, outcome: null, error }));
    for (const result of unread) onResult(result);
    const work = { owner, wish, key: values.key, seal, isSentAnyway: values.again, progress, signal };
    // Sealing needs the whole file in memory.
    const concurrency = values.concurrency ?? (values.encrypt ? 1 : CONCURRENCY);
    const results = await putAll(found.sources, work, { concurrency, onResult }).finally(progress.end);
    return conclude([...unread, ...results], values, owner.sharedUrl, terminal);
  } finally {
    await found.clear();
  }
}

/** @throws TwtxtError `bad-usage` */
function checkUsage({ to, encrypt }: Values, words: readonly string[]): void {
  if (words.filter((word) => word === "-").length > 1) throw misuse(WHERE, '"-", standard input, is allowed once.');
  if (to.length > 0 && !encrypt) throw misuse(WHERE, "--to needs --encrypt.");
}

/** @throws TwtxtError `bad-usage`; `bad-file` for no file at all */
function checkSources({ sources, unread }: Sources, { key, filename }: Values): void {
  const count = sources.length + unread.length;
  if (count === 0) throw new TwtxtError("bad-file", "There is no file to put.");
  if (count > 1 && (key ?? filename) !== undefined) throw misuse(WHERE, "--key and --filename are for one file.");
}

/** Shows the result of a file as soon as it is done. */
function show(result: PutResult, values: Values, sharedUrl: string, terminal: Terminal): void {
  const { source, outcome } = result;
  for (const line of linesOf(result)) terminal.say(lineShownSafely(line));
  if (!outcome || values.json) return;
  const { blob } = outcome;
  terminal.print(values.markdown ? markdownOf(blob, source.filename) : placeOf(blob, sharedUrl));
}

function linesOf({ source, outcome, error }: PutResult): string[] {
  if (!outcome) return [`${source.shown}: ${typedHints(error ?? "")}`];
  const { blob, note } = outcome;
  const facts = [outcome.outcome, sizeText(blob.size), visibility(blob), shortKey(blob.key)];
  return [`${source.shown}: ${facts.join(", ")}`, ...(note === null ? [] : [`${source.shown}: ${note}`])];
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
  if (values.to.length > 0 || values.markdown) hintAtSharing(results, terminal);
  if (results.length > 1) terminal.say(sumOf(results));
  return results.some(({ error }) => error !== null) ? 1 : 0;
}

function hintAtSharing(results: readonly PutResult[], terminal: Terminal): void {
  for (const { outcome } of results) {
    if (!outcome || outcome.blob.isPublic) continue;
    const key = shortKey(outcome.blob.key);
    terminal.say(`${key} is private. To let others get it, type: ${typed(`blob share ${key}`)}`);
  }
}

function sumOf(results: readonly PutResult[]): string {
  const states = results.map(({ outcome }) => outcome?.outcome ?? "failed");
  const counts = (["new", "replaced", "changed", "unchanged", "failed"] as const).map(
    (state) => [states.filter((one) => one === state).length, state] as const,
  );
  return `${listed(counts)}.`;
}
