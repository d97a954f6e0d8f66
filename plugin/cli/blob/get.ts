// plugin/cli/blob/get.ts: `blob get`: saves a blob of one's own, or one that somebody else shares.

import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Received, receiveBlob } from "../../blobs/client/receive.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { shortKey } from "../../blobs/client/short-key.js";
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { misuse, readArguments } from "../command.js";
import { typed } from "../invocation.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { type ComingFrom, comingFrom } from "./coming.js";
import { checkFree, type Draft, draftIn } from "./draft.js";
import { MAX_SEALED, type OpenedFile, openFile } from "./encrypt.js";
import { endingOf, NAME } from "./owner.js";
import { proofFacts, sizeText, wrongness } from "./shown.js";

const OPTIONS = {
  ...OWN_SITE_OPTIONS,
  output: { type: "string", short: "o" },
  force: { type: "boolean" },
  sealed: { type: "boolean" },
  unverified: { type: "boolean" },
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>["values"];

/** What was sealed is for its recipient alone, also where other users share the machine. */
const SECRET_MODE = 0o600;
/** Standard output, in the place of a file. */
const OUTPUT = "-";

export async function get(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("blob get", args, OPTIONS);
  const [word, ...others] = positionals;
  if (word === undefined || others.length > 0) {
    throw misuse(`${NAME} get: say which blob, by one key as blob list shows it or by a shared URL.`, NAME);
  }
  if (values.json && values.output === OUTPUT)
    throw misuse(`${NAME} get: it prints JSON or, with -o -, the blob.`, NAME);
  await fetchBlob(word, values, terminal);
  return 0;
}

async function fetchBlob(word: string, values: Values, terminal: Terminal): Promise<void> {
  const place = await placeOf(values.output, terminal);
  const from = await comingFrom(word, values, terminal, endingOf(terminal));
  const draft = await draftIn(place.folder, isSealedType(from.coming.blob.type) ? SECRET_MODE : undefined);
  try {
    await save(from, { draft, place }, values, terminal);
  } finally {
    from.coming.close();
    await draft.clear();
  }
}

async function save(from: ComingFrom, target: Target, values: Values, terminal: Terminal): Promise<void> {
  const { coming, newest, maxBytes, wayOut, keys } = from;
  const { draft, place } = target;
  const { type, filename, key } = coming.blob;
  const isOpened = !values.sealed && isSealedType(type);
  // Before a large file is fetched in vain.
  if (!isOpened && !values.force && place.folder !== null) await checkFree(fileAt(place, filename || key));

  const isAnyWanted = values.unverified ?? false;
  const received = await receiveBlob(coming, { newest, maxBytes, wayOut, isAnyWanted, write: draft.write });
  const opening = isOpened ? await openingOf(draft, received, keys, values) : NOTHING_SEALED;
  for (const remark of remarks(received, opening)) terminal.say(`${shortKey(key)}: ${remark}`);
  if (opening.file) await draft.replace(opening.file.bytes);
  await deliver(target, received, opening.file, values, terminal);
}

/** A file under way, and where it goes to. */
interface Target {
  draft: Draft;
  place: Place;
}

/** Where a blob goes to: a folder and, unless the blob says it, a name; no folder for standard output. */
type Place = { folder: string; name: string | null } | { folder: null };

async function placeOf(output: string | undefined, { folder }: Terminal): Promise<Place> {
  if (output === undefined) return { folder, name: null };
  if (output === OUTPUT) return { folder: null };
  const path = resolve(folder, output);
  if (await isFolder(path)) return { folder: path, name: null };
  const above = output.endsWith("/") ? output : dirname(output);
  if (!(await isFolder(resolve(folder, above)))) throw new TwtxtError("bad-file", `There is no folder ${above}.`);
  return { folder: dirname(path), name: path };
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function fileAt({ folder, name }: Place & { folder: string }, filename: string): string {
  return name ?? join(folder, safeName(filename));
}

/** A name of somebody else's: neither hidden, nor an option, nor with what Windows takes for more than a name. */
function safeName(filename: string): string {
  return filename.replace(/^[.-]|[<>:"|?*]|[. ]$/g, "_");
}

/** What was sealed, or a sentence on why it does not open. */
interface Opening {
  file: OpenedFile | null;
  why: string | null;
}

const SEALED_FOR: Partial<Record<TwtxtErrorCode, string>> = {
  "not-a-recipient": "It is not sealed to a key of yours.",
  "no-identity": `There is no key on this machine. \`${typed("keys restore ADDRESS")}\` brings back the one that it was sealed to.`,
};
const NOTHING_SEALED: Opening = { file: null, why: null };

async function openingOf(
  draft: Draft,
  { blob }: Received,
  keys: ComingFrom["keys"],
  { identity, as }: Pick<Values, "identity" | "as">,
): Promise<Opening> {
  if (blob.size > MAX_SEALED) {
    return { file: null, why: `It is larger than the ${sizeText(MAX_SEALED)} that can be opened.` };
  }
  try {
    return { file: openFile(await draft.bytes(), await keys()), why: null };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    // A key that was named and is not there is a mistake; whoever has none may still want what is there.
    const isMistake = error.code === "no-identity" && (identity ?? as) !== undefined;
    if (isMistake || ["bad-identity", "bad-usage"].includes(error.code)) throw error;
    return { file: null, why: SEALED_FOR[error.code] ?? error.message };
  }
}

function remarks({ blob, proof }: Received, { file, why }: Opening): string[] {
  const wrong = wrongness(proof);
  const whose = file?.signer === blob.owner ? "its owner" : "somebody else than its owner";
  return [
    ...(wrong === null ? [] : [`UNVERIFIED: ${wrong}.`]),
    ...(proof.state === "absent" ? ["its owner has given no proof that this is what was put."] : []),
    ...(why === null ? [] : [`it stays sealed: ${why}`]),
    ...(file === null ? [] : [`sealed by ${file.signer}, ${whose}.`]),
  ];
}

async function deliver(
  { draft, place }: Target,
  { blob, proof }: Received,
  file: OpenedFile | null,
  values: Values,
  terminal: Terminal,
): Promise<void> {
  if (place.folder === null) return terminal.write(draft.chunks());
  const path = fileAt(place, (file ?? blob).filename || blob.key);
  await draft.moveTo(path, values.force ?? false);
  const size = file?.bytes.length ?? blob.size;
  const { key, owner } = blob;
  const { type } = file ?? blob;
  const sealed = { sealed: file === null && isSealedType(type), sealedBy: file?.signer ?? null };
  const facts = { file: path, key, owner, size, type, proof: proofFacts(proof), ...sealed };
  terminal.print(values.json ? JSON.stringify(facts, null, 2) : path);
  terminal.say(`${shortKey(key)}: saved, ${sizeText(size)}`);
}
