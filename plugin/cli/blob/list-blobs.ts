// plugin/cli/blob/list-blobs.ts: `blob list`, `blob info` and `blob verify`.
import { counted, sizeText } from "../../author/amounts.js";
import {
  type ListedBlob,
  listBlobs,
  sumVerifications,
  VERIFICATION_ADVICE,
  type Verification,
  verifyBlobs,
} from "../../author/blobs/blob-list.js";
import {
  blobSite,
  describeDamage,
  formatMarkdown,
  proofFacts,
  toFacts,
  visibility,
} from "../../author/blobs/blob-site.js";
import { typed, typedHints } from "../../author/invocation.js";
import { shortKey } from "../../blobs/blob.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { withoutProof } from "../../blobs/metadata.js";
import { oneLine } from "../../http/one-line.js";
import type { OwnSiteValues } from "../options.js";
import { formatTable, printData } from "../output.js";
import type { Terminal } from "../terminal.js";
import { completeKey, completeKeys } from "./edit-blobs.js";

/** Blobs that `blob list` shows without `--all`. */
const NEWEST = 50;

export async function list(values: OwnSiteValues & { all: boolean }, _: null, terminal: Terminal): Promise<number> {
  const site = await blobSite(values, terminal);
  const { sharedUrl } = site;
  const { rows, next, lost, damaged } = await listBlobs(site, values.all ? null : { limit: NEWEST, after: "" });
  const facts = rows.map(({ blob, proof }) => {
    const { created, modified } = blob;
    return { ...toFacts(blob, sharedUrl), created, modified, proof: proofFacts(proof) };
  });
  const lostFacts = lost.map(({ key, why }) => ({ key, proof: proofFacts({ state: "wrong", why }) }));
  printData([...facts, ...lostFacts], listLines(rows), values, terminal);
  for (const { key, why } of lost) terminal.say(`${shortKey(key)}: ${why}.`);
  for (const line of describeDamage(damaged, terminal)) terminal.say(line);
  const wrong = rows.filter(({ proof }) => proof.state === "wrong").length + lost.length;
  const size = sizeText(rows.reduce((sum, { blob }) => sum + blob.size, 0));
  terminal.say(`${counted(rows.length, "blob")}, ${size}${wrong > 0 ? `, ${wrong} wrong` : ""}.`);
  if (next !== null) {
    terminal.say(
      `There are older ones: ${typed("blob list --all")} lists all, and names those that the site has lost.`,
    );
  }
  return wrong + damaged.length > 0 ? 1 : 0;
}

function listLines(rows: readonly ListedBlob[]): string[] {
  const lines = formatTable(
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

export async function info(values: OwnSiteValues, word: string, terminal: Terminal): Promise<number> {
  const { blobs, sharedUrl } = await blobSite(values, terminal);
  const { blob, proof } = await blobs.find(await completeKey(word, blobs));
  // A single blob comes without its creation time and without milliseconds.
  const { created = null, modified = null } = (await blobs.client.list()).find(({ key }) => key === blob.key) ?? {};
  const facts = { ...toFacts(blob, sharedUrl), created, modified, proof: proofFacts(proof) };
  const properties = Object.entries(withoutProof(blob.properties));
  const lines = formatTable([
    ["key", blob.key],
    ["shared", facts.shared ?? "no, it is private"],
    ["size", `${sizeText(blob.size)} (${blob.size})`],
    ["sha256", blob.sha256 || "unknown"],
    ["type", oneLine(blob.type)],
    ["filename", oneLine(blob.filename) || "none"],
    ["markdown", formatMarkdown(blob)],
    ["created", oneLine(created ?? "unknown")],
    ["modified", oneLine(modified ?? "unknown")],
    ...properties.map(([name, value]) => ["property", oneLine(`${name}=${value}`)]),
    ["proof", proof.state === "right" ? `right, of ${proof.created}` : "none: it was stored without a proof"],
  ]);
  printData(facts, lines, values, terminal);
  return 0;
}

export async function verify(values: OwnSiteValues, words: string[], terminal: Terminal): Promise<number> {
  const site = await blobSite(values, terminal);
  const keys = words.length > 0 ? await completeKeys(words, site.blobs) : null;
  const { verifications, damaged } = await verifyBlobs(site, keys);
  for (const line of describeDamage(damaged, terminal)) terminal.say(line);
  const results: Verification[] = [];
  for await (const result of verifications) {
    results.push(result);
    if (result.why !== null && !values.json) terminal.print(`${shortKey(result.key)}: ${result.why}`);
  }
  printData(results, [], values, terminal);
  terminal.say(`${sumVerifications(results) || "No blobs"}.`);
  const states = new Set(results.map(({ state }) => state));
  const failures = (["wrong", "missing", "unread"] as const).filter((state) => states.has(state));
  for (const state of failures) terminal.say(typedHints(VERIFICATION_ADVICE[state]));
  return failures.length + damaged.length > 0 ? 1 : 0;
}
