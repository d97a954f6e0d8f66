// plugin/cli/blob/list-blobs.ts: `blob list`, `blob info` and `blob verify`.

import { counted, listed, sizeText } from "../../author/amounts.js";
import { type BlobSite, blobSite, factsOf, markdownOf, proofFacts, visibility } from "../../author/blob-site.js";
import { typedHints } from "../../author/invocation.js";
import { type BlobFields, type BlobInfo, shortKey } from "../../blobs/blob.js";
import { receiveBlob } from "../../blobs/client/download.js";
import { type BlobState, type KnownBlobs, LOST_ADVICE, lossOf, WRONG_ADVICE } from "../../blobs/client/known-blobs.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { withoutProof } from "../../blobs/metadata.js";
import type { Proof } from "../../blobs/proof.js";
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import type { OwnSiteValues } from "../options.js";
import { tableOf } from "../output.js";
import type { Terminal } from "../terminal.js";
import { completeKey, completeKeys, sayDamaged } from "./blob-keys.js";

interface ListedBlob {
  blob: BlobInfo;
  proof: Proof;
}

/** `blob list` */
export async function list(values: OwnSiteValues, _: null, terminal: Terminal): Promise<number> {
  const { blobs: own, sharedUrl } = await blobSite(values, terminal);
  const { states, damaged } = await own.known.list();
  const blobs = (await own.client.list()).sort((a, b) => (a.modified < b.modified ? 1 : -1));
  const rows: ListedBlob[] = [];
  for (const blob of blobs) rows.push({ blob, proof: await verifyListed(blob, own.known) });
  const lost = lostBlobs(states, blobs);

  if (values.json) {
    const facts = rows.map(({ blob, proof }) => {
      const { created, modified } = blob;
      return { ...factsOf(blob, sharedUrl), created, modified, proof: proofFacts(proof) };
    });
    const lostFacts = lost.map(({ key, why }) => ({ key, proof: proofFacts({ state: "wrong", why }) }));
    terminal.print(JSON.stringify([...facts, ...lostFacts], null, 2));
  } else for (const line of listLines(rows)) terminal.print(line);
  for (const { key, why } of lost) terminal.say(`${shortKey(key)}: ${why}.`);
  sayDamaged(damaged, terminal);
  const wrong = rows.filter(({ proof }) => proof.state === "wrong").length + lost.length;
  const size = sizeText(blobs.reduce((sum, blob) => sum + blob.size, 0));
  terminal.say(`${counted(blobs.length, "blob")}, ${size}${wrong > 0 ? `, ${wrong} wrong` : ""}.`);
  return wrong + damaged.length > 0 ? 1 : 0;
}

/** A blob whose record cannot be read is wrong, and does not stop the list. */
async function verifyListed(blob: BlobInfo, known: KnownBlobs): Promise<Proof> {
  try {
    return await known.verify(blob);
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    return { state: "wrong", why: error.message };
  }
}

/** Blobs that this machine has stored and the site does not list. */
function lostBlobs(states: readonly BlobState[], blobs: readonly BlobInfo[]): { key: string; why: string }[] {
  const stored = new Set(blobs.map(({ key }) => key));
  return states.flatMap((state) => {
    const why = stored.has(state.key) ? null : lossOf(state);
    return why === null ? [] : [{ key: state.key, why }];
  });
}

function listLines(rows: readonly ListedBlob[]): string[] {
  const lines = tableOf(
    rows.map(({ blob }) => [
      ...[shortKey(blob.key), sizeText(blob.size), visibility(blob), `${oneLine(blob.modified).slice(0, 19)}Z`],
      oneLine(blob.filename) || (isSealedType(blob.type) ? "sealed" : ""),
    ]),
  );
  return rows.flatMap(({ proof }, at) => {
    const line = lines[at] ?? "";
    if (proof.state === "right") return line;
    return [line, `  ${proof.state === "wrong" ? proof.why : "it has no proof"}`];
  });
}

/** `blob info KEY` */
export async function info(values: OwnSiteValues, word: string, terminal: Terminal): Promise<number> {
  const { blobs, sharedUrl } = await blobSite(values, terminal);
  const { blob, proof } = await blobs.find(await completeKey(word, blobs));
  // A single blob comes without its creation time and without milliseconds.
  const { created = null, modified = null } = (await blobs.client.list()).find(({ key }) => key === blob.key) ?? {};
  const facts = { ...factsOf(blob, sharedUrl), created, modified, proof: proofFacts(proof) };
  if (values.json) terminal.print(JSON.stringify(facts, null, 2));
  else for (const line of infoLines(blob, facts)) terminal.print(line);
  return 0;
}

function infoLines(
  blob: BlobFields,
  {
    shared,
    created,
    modified,
    proof,
  }: Record<"shared" | "created" | "modified", string | null> & {
    proof: ReturnType<typeof proofFacts>;
  },
): string[] {
  const properties = Object.entries(withoutProof(blob.properties));
  return tableOf([
    ["key", blob.key],
    ["shared", shared ?? "no, it is private"],
    ["size", `${sizeText(blob.size)} (${blob.size})`],
    ["sha256", blob.sha256 || "unknown"],
    ["type", oneLine(blob.type)],
    ["filename", oneLine(blob.filename) || "none"],
    ["markdown", markdownOf(blob)],
    ["created", oneLine(created ?? "unknown")],
    ["modified", oneLine(modified ?? "unknown")],
    ...properties.map(([name, value]) => ["property", oneLine(`${name}=${value}`)]),
    ["proof", proof.created === null ? "none: it was stored without a proof" : `right, of ${proof.created}`],
  ]);
}

interface Verification {
  key: string;
  state: "right" | "unproven" | "wrong" | "missing" | "unread";
  /** A clause; `null` for a blob that is right. */
  why: string | null;
}

const ADVICE = {
  wrong: WRONG_ADVICE,
  missing: LOST_ADVICE,
  unread: "Blobs that could not be read may be right: try again when the site can be reached.",
};

/** `blob verify [KEY...]` */
export async function verify(values: OwnSiteValues, words: string[], terminal: Terminal): Promise<number> {
  const site = await blobSite(values, terminal);
  const { states, damaged } = await site.blobs.known.list();
  sayDamaged(damaged, terminal);
  const keys = words.length > 0 ? await completeKeys(words, site.blobs) : await allKeys(site, states);
  const results: Verification[] = [];
  for (const key of keys) {
    const result = await verifyStored(key, site);
    site.signal.throwIfAborted();
    results.push(result);
    if (result.why !== null && !values.json) terminal.print(`${shortKey(key)}: ${result.why}`);
  }
  if (values.json) terminal.print(JSON.stringify(results, null, 2));

  const count = (state: Verification["state"]) => results.filter((one) => one.state === state).length;
  const others = listed([
    [count("missing"), "missing"],
    [count("unread"), "unread"],
  ]);
  const sum = `${count("right")} right, ${count("unproven")} without a proof, ${count("wrong")} wrong`;
  terminal.say(`${sum}${others === "" ? "" : `, ${others}`}.`);
  const failures = (["wrong", "missing", "unread"] as const).filter((state) => count(state) > 0);
  for (const state of failures) terminal.say(typedHints(ADVICE[state]));
  return failures.length + damaged.length > 0 ? 1 : 0;
}

async function allKeys({ blobs }: BlobSite, states: readonly BlobState[]): Promise<string[]> {
  const known = states.filter(({ isDeleted }) => !isDeleted);
  return [...new Set([...(await blobs.client.list()), ...known].map(({ key }) => key))].sort();
}

/** Errors that concern one blob, and do not stop the others. */
const ERROR_STATES: Partial<Record<TwtxtErrorCode, Verification["state"]>> = {
  "blob-tampered": "wrong",
  "too-large": "wrong",
  "store-failed": "wrong",
  unreachable: "unread",
};

async function verifyStored(key: string, { blobs: { client, known }, maxBytes }: BlobSite): Promise<Verification> {
  try {
    const download = await client.get(key);
    if (!download) return { key, state: "missing", why: lossOf(await known.get(key)) ?? "there is no such blob" };
    const { proof } = await receiveBlob(download, { known, maxBytes, isAnyAccepted: true, write: drain });
    if (proof.state === "absent") return { key, state: "unproven", why: "it has no proof" };
    return { key, state: proof.state, why: proof.state === "wrong" ? proof.why : null };
  } catch (error) {
    const state = error instanceof TwtxtError ? ERROR_STATES[error.code] : undefined;
    if (state === undefined) throw error;
    return { key, state, why: typedHints((error as TwtxtError).message) };
  }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
