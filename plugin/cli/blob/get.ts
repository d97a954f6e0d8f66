// plugin/cli/blob/get.ts: `blob get`: saves a blob of the author's own, or one that another owner shares.
import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Coming } from "../../blobs/client/client.js";
import { missingBlob } from "../../blobs/client/missing.js";
import type { NewestStates } from "../../blobs/client/newest.js";
import { type Received, receiveBlob } from "../../blobs/client/receive.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { getShared, parseSharedUrl, type SharedUrl } from "../../blobs/client/shared.js";
import { shortKey } from "../../blobs/client/short-key.js";
import { WAY_OUT, WAY_OUT_OF_OTHERS } from "../../blobs/client/verdict.js";
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import type { OwnKeys } from "../../messages/read/open-with.js";
import { isBlobKey } from "../../site/blob-url.js";
import { misuse } from "../arguments.js";
import { authorAt, ownKeys } from "../author.js";
import { checkFree, type Draft, draftIn } from "../files.js";
import { typed } from "../invocation.js";
import { networkOf } from "../network.js";
import type { OwnSiteValues } from "../options.js";
import { sizeText } from "../output.js";
import { endingOf, type Terminal } from "../terminal.js";
import { blobOwner, newestAt, proofFacts, wholeKeys, wrongness } from "./blob-owner.js";
import { MAX_SEALED, type OpenedFile, openFile } from "./encrypt-files.js";

type Values = OwnSiteValues & { output: string | undefined; force: boolean; sealed: boolean; unverified: boolean };

const WHERE = "blob get";
/** An opened file is for its recipient only, also where other users share the machine. */
const SECRET_MODE = 0o600;
/** Stands for standard output. */
const OUTPUT = "-";
/** Another owner's file may be large, and the connection slow; the guard still ends one that stalls. */
const PATIENCE_MS = 6 * 3600_000;
const MAX_UNPROVEN = 100 * 2 ** 20;

export async function get(values: Values, word: string, terminal: Terminal): Promise<number> {
  if (values.json && values.output === OUTPUT) throw misuse(WHERE, "use either --json or -o -.");
  const place = await placeFor(values.output, terminal);
  const source = await sourceOf(word, values, terminal);
  const draft = await draftIn(place.folder, isSealedType(source.coming.blob.type) ? SECRET_MODE : undefined);
  try {
    await save(source, { draft, place }, values, terminal);
  } finally {
    source.coming.close();
    await draft.clear();
  }
  return 0;
}

/** A blob that is being received, and how to verify and open it. */
interface Source {
  coming: Coming;
  newest: NewestStates;
  /** A limit for contents whose size is not proven. */
  maxBytes: number;
  /** Advice for a blob that fails verification, a sentence. */
  wayOut: string;
  /** The author's keys. @throws TwtxtError `no-identity`; `bad-usage` where it is not clear whose */
  keys(): Promise<OwnKeys>;
}

/**
 * @param word - a key, the start of a SHA-256, or a shared URL
 * @throws TwtxtError `not-found`; `blob-tampered` where this machine has put it; and as the client
 */
async function sourceOf(word: string, values: Values, terminal: Terminal): Promise<Source> {
  const signal = endingOf(terminal);
  const shared = parseSharedUrl(word);
  if (shared) return sharedSource(shared, signal, values, terminal);
  if (!isBlobKey(word)) {
    throw misuse(WHERE, `expected a key, or a URL such as https://bob.example/shared/kex1.../KEY, got "${word}".`);
  }
  const owner = await blobOwner(values, terminal, signal);
  const { newest, maxBytes, author } = owner;
  const [key = ""] = await wholeKeys([word], owner);
  const coming = await owner.client.get(key);
  if (!coming) throw await missingBlob(key, owner);
  return { coming, newest, maxBytes, wayOut: WAY_OUT, keys: () => ownKeys(author, terminal) };
}

async function sharedSource(url: SharedUrl, signal: AbortSignal, values: Values, terminal: Terminal): Promise<Source> {
  const { ask } = networkOf(values, { totalMs: PATIENCE_MS });
  return {
    coming: await getShared(url, (address, request) => ask(address, { ...request, signal })),
    newest: newestAt(url, terminal),
    maxBytes: MAX_UNPROVEN,
    wayOut: WAY_OUT_OF_OTHERS,
    keys: async () => ownKeys(await authorAt(values, terminal), terminal),
  };
}

interface Target {
  draft: Draft;
  place: Place;
}

/** A folder and a file name, which is `null` for the blob's own name; no folder for standard output. */
type Place = { folder: string; name: string | null } | { folder: null };

async function save(source: Source, target: Target, values: Values, terminal: Terminal): Promise<void> {
  const { coming, newest, maxBytes, wayOut, keys } = source;
  const { draft, place } = target;
  const { type, filename, key } = coming.blob;
  const isOpened = !values.sealed && isSealedType(type);
  // Checked before a large file is received in vain.
  if (!isOpened && !values.force && place.folder !== null) await checkFree(fileAt(place, filename || key));

  const isAnyWanted = values.unverified;
  const received = await receiveBlob(coming, { newest, maxBytes, wayOut, isAnyWanted, write: draft.write });
  const opening = isOpened ? await openingOf(draft, received, keys, values) : NOT_SEALED;
  for (const remark of remarks(received, opening)) terminal.say(`${shortKey(key)}: ${remark}`);
  if (opening.file) await draft.replace(opening.file.bytes);
  await deliver(target, received, opening.file, values, terminal);
}

async function placeFor(output: string | undefined, { folder }: Terminal): Promise<Place> {
  if (output === undefined) return { folder, name: null };
  if (output === OUTPUT) return { folder: null };
  const path = resolve(folder, output);
  if (await isFolder(path)) return { folder: path, name: null };
  const parent = output.endsWith("/") ? output : dirname(output);
  if (!(await isFolder(resolve(folder, parent)))) throw new TwtxtError("bad-file", `There is no folder ${parent}.`);
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

/** Makes a stranger's file name safe: not hidden, not an option, and without characters that Windows reserves. */
function safeName(filename: string): string {
  return filename.replace(/^[.-]|[<>:"|?*]|[. ]$/g, "_");
}

/** An opened file, or the reason why a sealed one stays sealed, a sentence. */
interface Opening {
  file: OpenedFile | null;
  why: string | null;
}

const NOT_SEALED: Opening = { file: null, why: null };
const REASONS: Partial<Record<TwtxtErrorCode, string>> = {
  "not-a-recipient": "It is not sealed to a key of yours.",
  "no-identity": `There is no key on this machine. \`${typed("keys restore ADDRESS")}\` restores the key that it was sealed to.`,
};

async function openingOf(
  draft: Draft,
  { blob }: Received,
  keys: Source["keys"],
  { identity, as }: Pick<Values, "identity" | "as">,
): Promise<Opening> {
  if (blob.size > MAX_SEALED) {
    return { file: null, why: `It is larger than the ${sizeText(MAX_SEALED)} that can be opened.` };
  }
  try {
    return { file: openFile(await draft.bytes(), await keys()), why: null };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    // Without any key the sealed file may still be wanted; a named key that is missing is a mistake.
    const isMistake = error.code === "no-identity" && (identity ?? as) !== undefined;
    if (isMistake || ["bad-identity", "bad-usage"].includes(error.code)) throw error;
    return { file: null, why: REASONS[error.code] ?? error.message };
  }
}

function remarks({ blob, proof }: Received, { file, why }: Opening): string[] {
  const wrong = wrongness(proof);
  const signer = file?.signer === blob.owner ? "its owner" : "not its owner";
  return [
    ...(wrong === null ? [] : [`UNVERIFIED: ${wrong}.`]),
    ...(proof.state === "absent" ? ["there is no proof that this is what its owner put."] : []),
    ...(why === null ? [] : [`it stays sealed: ${why}`]),
    ...(file === null ? [] : [`sealed by ${file.signer}, ${signer}.`]),
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
  await draft.moveTo(path, values.force);
  const size = file?.bytes.length ?? blob.size;
  const { key, owner } = blob;
  const { type } = file ?? blob;
  const sealed = { sealed: file === null && isSealedType(type), sealedBy: file?.signer ?? null };
  const facts = { file: path, key, owner, size, type, proof: proofFacts(proof), ...sealed };
  terminal.print(values.json ? JSON.stringify(facts, null, 2) : path);
  terminal.say(`${shortKey(key)}: saved, ${sizeText(size)}`);
}
