// plugin/cli/blob/list.ts: `blob list`: a line for each blob.
import type { BlobInfo } from "../../blobs/blob.js";
import { lostBlob } from "../../blobs/client/missing.js";
import type { BlobState, NewestStates } from "../../blobs/client/newest.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { shortKey } from "../../blobs/client/short-key.js";
import { judgeAndRemember } from "../../blobs/client/verdict.js";
import type { Proof } from "../../blobs/proof.js";
import { TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { misuse, readArguments } from "../command.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { blobOwner, endingOf, NAME, sayDamaged } from "./owner.js";
import { factsOf, proofFacts, sizeText, visibility, wrongness } from "./shown.js";

export async function list(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("blob list", args, OWN_SITE_OPTIONS);
  if (positionals.length > 0) throw misuse(`${NAME} list: takes no keys; blob info ${positionals[0]} shows one.`, NAME);
  const owner = await blobOwner(values, terminal, endingOf(terminal));
  const { states, damaged } = await owner.newest.list();
  const blobs = (await owner.client.list()).sort((a, b) => (a.modified < b.modified ? 1 : -1));
  const listed = await judgedAll(blobs, owner.newest);
  const lost = lostAmong(states, blobs);
  if (values.json) {
    const facts = listed.map(({ blob, proof }) => ({
      ...factsOf(blob, owner.sharedUrl),
      ...{ created: blob.created, modified: blob.modified, proof: proofFacts(proof) },
    }));
    const missing = lost.map(({ key, why }) => ({ key, proof: proofFacts({ state: "wrong", why }) }));
    terminal.print(JSON.stringify([...facts, ...missing], null, 2));
  } else for (const line of linesOf(listed)) terminal.print(line);
  for (const { key, why } of lost) terminal.say(`${shortKey(key)}: ${why}.`);
  sayDamaged(damaged, terminal);
  const wrong = listed.filter(({ proof }) => proof.state === "wrong").length + lost.length;
  const size = sizeText(blobs.reduce((sum, blob) => sum + blob.size, 0));
  terminal.say(
    `${blobs.length} ${blobs.length === 1 ? "blob" : "blobs"}, ${size}${wrong > 0 ? `, ${wrong} wrong` : ""}.`,
  );
  return wrong + damaged.length > 0 ? 1 : 0;
}

interface Listed {
  blob: BlobInfo;
  proof: Proof;
}

async function judgedAll(blobs: readonly BlobInfo[], newest: NewestStates): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const blob of blobs) listed.push({ blob, proof: await judgedOne(blob, newest) });
  return listed;
}

/** Where what is known of it cannot be read, it is not known to be right. */
async function judgedOne(blob: BlobInfo, newest: NewestStates): Promise<Proof> {
  try {
    return await judgeAndRemember(blob, newest);
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    return { state: "wrong", why: error.message };
  }
}

interface Lost {
  key: string;
  /** A clause. */
  why: string;
}

/** What this machine has put, and the list does not have. */
function lostAmong(known: readonly BlobState[], blobs: readonly BlobInfo[]): Lost[] {
  const there = new Set(blobs.map(({ key }) => key));
  return known
    .filter(({ key }) => !there.has(key))
    .flatMap((state) => {
      const why = lostBlob(state);
      return why === null ? [] : [{ key: state.key, why }];
    });
}

function linesOf(listed: readonly Listed[]): string[] {
  const rows = listed.map(({ blob, proof }) => ({
    cells: [shortKey(blob.key), sizeText(blob.size), visibility(blob), `${oneLine(blob.modified).slice(0, 19)}Z`],
    filename: oneLine(blob.filename) || (isSealedType(blob.type) ? "sealed" : ""),
    remark: proof.state === "absent" ? "it has no proof" : wrongness(proof),
  }));
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map(({ cells }) => cells[column]?.length ?? 0)));
  return rows.flatMap(({ cells, filename, remark }) => {
    const line = [...cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)), filename].join("  ").trimEnd();
    return remark === null ? [line] : [line, `  ${remark}`];
  });
}
