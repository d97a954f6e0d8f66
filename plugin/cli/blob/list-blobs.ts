// plugin/cli/blob/list-blobs.ts: `blob list`, `blob info` and `blob verify`.
import type { BlobInfo } from "../../blobs/blob.js";
import { LOST_WAY_OUT, lostBlob, missingBlob } from "../../blobs/client/missing.js";
import type { BlobState, NewestStates } from "../../blobs/client/newest.js";
import { receiveBlob } from "../../blobs/client/receive.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { shortKey } from "../../blobs/client/short-key.js";
import { type Judged, judgeAndRemember, refuseWrong, WAY_OUT } from "../../blobs/client/verdict.js";
import { withoutProof } from "../../blobs/metadata.js";
import type { Proof } from "../../blobs/proof.js";
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { typedHints } from "../invocation.js";
import type { OwnSiteValues } from "../options.js";
import { counted, listed, sizeText, tableOf } from "../output.js";
import { endingOf, type Terminal } from "../terminal.js";
import {
  type BlobOwner,
  blobOwner,
  factsOf,
  markdownOf,
  proofFacts,
  sayDamaged,
  visibility,
  wholeKeys,
  wrongness,
} from "./blob-owner.js";

interface ListedBlob {
  blob: BlobInfo;
  proof: Proof;
}

/** A blob that this machine has put, and the site does not list. */
interface LostBlob {
  key: string;
  /** A clause. */
  why: string;
}

/** `blob list` */
export async function list(values: OwnSiteValues, _: null, terminal: Terminal): Promise<number> {
  const owner = await blobOwner(values, terminal, endingOf(terminal));
  const { states, damaged } = await owner.newest.list();
  const blobs = (await owner.client.list()).sort((a, b) => (a.modified < b.modified ? 1 : -1));
  const found: ListedBlob[] = [];
  for (const blob of blobs) found.push({ blob, proof: await judge(blob, owner.newest) });
  const lost = lostAmong(states, blobs);

  if (values.json) terminal.print(JSON.stringify([...found.map(factsIn(owner)), ...lost.map(lostFacts)], null, 2));
  else for (const line of listLines(found)) terminal.print(line);
  for (const { key, why } of lost) terminal.say(`${shortKey(key)}: ${why}.`);
  sayDamaged(damaged, terminal);
  const wrong = found.filter(({ proof }) => proof.state === "wrong").length + lost.length;
  const size = sizeText(blobs.reduce((sum, blob) => sum + blob.size, 0));
  terminal.say(`${counted(blobs.length, "blob")}, ${size}${wrong > 0 ? `, ${wrong} wrong` : ""}.`);
  return wrong + damaged.length > 0 ? 1 : 0;
}

/** A blob whose recorded state cannot be read is not verified. */
async function judge(blob: BlobInfo, newest: NewestStates): Promise<Proof> {
  try {
    return await judgeAndRemember(blob, newest);
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    return { state: "wrong", why: error.message };
  }
}

function lostAmong(known: readonly BlobState[], blobs: readonly BlobInfo[]): LostBlob[] {
  const stored = new Set(blobs.map(({ key }) => key));
  return known
    .filter(({ key }) => !stored.has(key))
    .flatMap((state) => {
      const why = lostBlob(state);
      return why === null ? [] : [{ key: state.key, why }];
    });
}

function factsIn({ sharedUrl }: BlobOwner) {
  return ({ blob, proof }: ListedBlob) => {
    const { created, modified } = blob;
    return { ...factsOf(blob, sharedUrl), created, modified, proof: proofFacts(proof) };
  };
}

function lostFacts({ key, why }: LostBlob) {
  return { key, proof: proofFacts({ state: "wrong", why }) };
}

function listLines(found: readonly ListedBlob[]): string[] {
  const rows = tableOf(
    found.map(({ blob }) => [
      ...[shortKey(blob.key), sizeText(blob.size), visibility(blob), `${oneLine(blob.modified).slice(0, 19)}Z`],
      oneLine(blob.filename) || (isSealedType(blob.type) ? "sealed" : ""),
    ]),
  );
  return found.flatMap(({ proof }, at) => {
    const remark = proof.state === "absent" ? "it has no proof" : wrongness(proof);
    return [rows[at] ?? "", ...(remark === null ? [] : [`  ${remark}`])];
  });
}

/** `blob info KEY` */
export async function info(values: OwnSiteValues, word: string, terminal: Terminal): Promise<number> {
  const owner = await blobOwner(values, terminal, endingOf(terminal));
  const [key = ""] = await wholeKeys([word], owner);
  const blob = await owner.client.head(key);
  if (!blob) throw await missingBlob(key, owner);
  const proof = refuseWrong(key, await judgeAndRemember(blob, owner.newest));
  // The answer for one blob has neither its creation time nor milliseconds.
  const { created = null, modified = null } = (await owner.client.list()).find((one) => one.key === key) ?? {};
  const facts = { ...factsOf(blob, owner.sharedUrl), created, modified, proof: proofFacts(proof) };
  if (values.json) terminal.print(JSON.stringify(facts, null, 2));
  else for (const line of infoLines(blob, facts, proof)) terminal.print(line);
  return 0;
}

function infoLines(
  blob: Judged,
  { shared, created, modified }: Record<"shared" | "created" | "modified", string | null>,
  proof: Proof,
): string[] {
  const own = Object.entries(withoutProof(blob.properties));
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
    ...own.map(([name, value]) => ["property", oneLine(`${name}=${value}`)]),
    ["proof", proof.state === "right" ? `right, of ${proof.created}` : "none: it was stored without one"],
  ]);
}

interface Finding {
  key: string;
  state: "right" | "unproven" | "wrong" | "missing" | "unread";
  /** A clause; `null` for a blob that is right. */
  why: string | null;
}

const ADVICE = {
  wrong: WAY_OUT,
  missing: LOST_WAY_OUT,
  unread: "Blobs that could not be read may be right: try again once the site answers.",
};

/** `blob verify [KEY...]` */
export async function verify(values: OwnSiteValues, words: string[], terminal: Terminal): Promise<number> {
  const signal = endingOf(terminal);
  const owner = await blobOwner(values, terminal, signal);
  const { states, damaged } = await owner.newest.list();
  sayDamaged(damaged, terminal);
  const keys = words.length > 0 ? await wholeKeys(words, owner) : await allKeys(owner, states);
  const findings: Finding[] = [];
  for (const key of keys) {
    const finding = await findingOf(key, owner);
    signal.throwIfAborted();
    findings.push(finding);
    if (finding.why !== null && !values.json) terminal.print(`${shortKey(key)}: ${finding.why}`);
  }
  if (values.json) terminal.print(JSON.stringify(findings, null, 2));

  const count = (state: Finding["state"]) => findings.filter((one) => one.state === state).length;
  const bad = (["wrong", "missing", "unread"] as const).filter((state) => count(state) > 0);
  const others = listed([
    [count("missing"), "missing"],
    [count("unread"), "unread"],
  ]);
  const sum = `${count("right")} right, ${count("unproven")} without a proof, ${count("wrong")} wrong`;
  terminal.say(`${sum}${others === "" ? "" : `, ${others}`}.`);
  for (const state of bad) terminal.say(typedHints(ADVICE[state]));
  return bad.length + damaged.length > 0 ? 1 : 0;
}

async function allKeys({ client }: BlobOwner, states: readonly BlobState[]): Promise<string[]> {
  const stored = await client.list();
  const known = states.filter(({ isDeleted }) => !isDeleted);
  return [...new Set([...stored, ...known].map(({ key }) => key))].sort();
}

/** Errors that concern one blob, and do not stop the others. */
const STATES: Partial<Record<TwtxtErrorCode, Finding["state"]>> = {
  "blob-tampered": "wrong",
  "too-large": "wrong",
  "store-failed": "wrong",
  unreachable: "unread",
};

async function findingOf(key: string, { client, newest, maxBytes }: BlobOwner): Promise<Finding> {
  try {
    const coming = await client.get(key);
    if (!coming) return { key, state: "missing", why: lostBlob(await newest.get(key)) ?? "there is none" };
    const { proof } = await receiveBlob(coming, { newest, maxBytes, isAnyWanted: true, write: drain });
    if (proof.state === "wrong") return { key, state: "wrong", why: proof.why };
    if (proof.state === "right") return { key, state: "right", why: null };
    return { key, state: "unproven", why: "it has no proof" };
  } catch (error) {
    const state = error instanceof TwtxtError ? STATES[error.code] : undefined;
    if (state === undefined) throw error;
    return { key, state, why: typedHints((error as TwtxtError).message) };
  }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
