// plugin/cli/blob/get.ts: `blob get`: saves a blob, the author's own or one that another owner shares.
import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { sizeText } from "../../author/amounts.js";
import { authorAt, ownKeys } from "../../author/author.js";
import { blobSite, knownBlobs, proofFacts } from "../../author/blob-site.js";
import { checkFree, type Draft, draftIn } from "../../author/files.js";
import { misuse, typed } from "../../author/invocation.js";
import { endingOf } from "../../author/machine.js";
import { networkOf } from "../../author/network.js";
import { shortKey } from "../../blobs/blob.js";
import type { Download } from "../../blobs/client/client.js";
import {
  getShared,
  parseSharedUrl,
  type ReceivedBlob,
  type ReceiveOptions,
  receiveBlob,
} from "../../blobs/client/download.js";
import { WRONG_SHARED_ADVICE } from "../../blobs/client/known-blobs.js";
import { isSealedType, MAX_SEALED_BYTES, parseSealedFile, type SealedFile } from "../../blobs/client/sealed-file.js";
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { formatKey } from "../../keys/key.js";
import { type OwnKeys, openWith } from "../../messages/sealing.js";
import { isBlobKey } from "../../site/routes.js";
import type { OwnSiteValues } from "../options.js";
import type { Terminal } from "../terminal.js";
import { completeKey } from "./blob-keys.js";

type Values = OwnSiteValues & { output: string | undefined; force: boolean; sealed: boolean; unverified: boolean };

const WHERE = "blob get";
/** An opened file is for its recipient only, also where other users share the machine. */
const SECRET_MODE = 0o600;
const STANDARD_OUTPUT = "-";
/** Another owner's file may be large, and the connection slow; the guard still ends one that stalls. */
const SHARED_TIMEOUT_MS = 6 * 3600_000;
const MAX_UNPROVEN_BYTES = 100 * 2 ** 20;

export async function get(values: Values, word: string, terminal: Terminal): Promise<number> {
  if (values.json && values.output === STANDARD_OUTPUT) throw misuse(WHERE, "use either --json or -o -.");
  const place = await placeFor(values.output, terminal);
  const { download, keys, ...options } = await sourceOf(word, values, terminal);
  const { key, type, filename } = download.blob;
  const isSealed = isSealedType(type);
  const draft = await draftIn(place.folder, isSealed ? SECRET_MODE : undefined);
  try {
    const isOpened = isSealed && !values.sealed;
    // Before a large file is received in vain.
    if (!isOpened && !values.force && place.folder !== null) await checkFree(fileAt(place, filename || key));
    const received = await receiveBlob(download, { ...options, isAnyAccepted: values.unverified, write: draft.write });
    const opening = isOpened ? await openFile(draft, received.blob.size, keys, values) : NOT_SEALED;
    for (const remark of remarks(received, opening)) terminal.say(`${shortKey(key)}: ${remark}`);
    if (opening.file) await draft.replace(opening.file.bytes);
    await deliver(draft, place, received, opening.file, values, terminal);
  } finally {
    download.close();
    await draft.clear();
  }
  return 0;
}

/** A blob that can be received, and how it is verified and opened. */
interface Source extends Pick<ReceiveOptions, "known" | "maxBytes" | "advice"> {
  download: Download;
  /** The author's keys. @throws TwtxtError `no-identity`; `bad-usage` if there are several authors */
  keys(): Promise<OwnKeys>;
}

/**
 * @param word - a key, the start of a SHA-256, or a shared URL
 * @throws TwtxtError `not-found`; `blob-tampered` for a lost blob; and as the client
 */
async function sourceOf(word: string, values: Values, terminal: Terminal): Promise<Source> {
  const shared = parseSharedUrl(word);
  if (shared) {
    const signal = endingOf(terminal);
    const { ask } = networkOf(values, { totalMs: SHARED_TIMEOUT_MS });
    return {
      download: await getShared(shared, (url, request) => ask(url, { ...request, signal })),
      known: knownBlobs(shared, terminal),
      maxBytes: MAX_UNPROVEN_BYTES,
      advice: WRONG_SHARED_ADVICE,
      keys: async () => ownKeys(await authorAt(values, terminal), terminal),
    };
  }
  if (!isBlobKey(word)) {
    throw misuse(WHERE, `expected a key, or a URL such as https://bob.example/shared/kex1.../KEY, got "${word}".`);
  }
  const { blobs, maxBytes, author } = await blobSite(values, terminal);
  const key = await completeKey(word, blobs);
  const download = await blobs.client.get(key);
  if (!download) throw await blobs.notFound(key);
  return { download, known: blobs.known, maxBytes, keys: () => ownKeys(author, terminal) };
}

/** A folder and a file, which is `null` for the blob's own name; no folder for standard output. */
type Place = { folder: string; file: string | null } | { folder: null };

/** @param output - the value of `--output` */
async function placeFor(output: string | undefined, { folder }: Terminal): Promise<Place> {
  if (output === undefined) return { folder, file: null };
  if (output === STANDARD_OUTPUT) return { folder: null };
  const path = resolve(folder, output);
  if (await isFolder(path)) return { folder: path, file: null };
  const parent = output.endsWith("/") ? output : dirname(output);
  if (!(await isFolder(resolve(folder, parent)))) throw new TwtxtError("bad-file", `There is no folder ${parent}.`);
  return { folder: dirname(path), file: path };
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function fileAt({ folder, file }: Place & { folder: string }, filename: string): string {
  return file ?? join(folder, safeName(filename));
}

/** Makes a stranger's file name safe: not hidden, not an option, and without characters that Windows reserves. */
function safeName(filename: string): string {
  return filename.replace(/^[.-]|[<>:"|?*]|[. ]$/g, "_");
}

interface OpenedFile extends SealedFile {
  /** The key that sealed it, `kex1...`. */
  signer: string;
}

/** An opened file, or why a sealed one stays sealed, a sentence. */
interface Opening {
  file: OpenedFile | null;
  why: string | null;
}

const NOT_SEALED: Opening = { file: null, why: null };
const REASONS: Partial<Record<TwtxtErrorCode, string>> = {
  "not-a-recipient": "It is not sealed to a key of yours.",
  "no-identity": `There is no key on this machine. To restore the key that it was sealed to, type \`${typed("keys restore ADDRESS")}\`.`,
};

async function openFile(
  draft: Draft,
  size: number,
  keys: Source["keys"],
  { identity, as }: Pick<Values, "identity" | "as">,
): Promise<Opening> {
  if (size > MAX_SEALED_BYTES) {
    return { file: null, why: `It is larger than the ${sizeText(MAX_SEALED_BYTES)} that can be opened.` };
  }
  try {
    const { plaintext, sender } = openWith(await draft.bytes(), await keys());
    return { file: { ...parseSealedFile(plaintext), signer: formatKey(sender) }, why: null };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    // Without any key the sealed file may still be wanted; a named key that is missing is a mistake.
    const isMistake = error.code === "no-identity" && (identity ?? as) !== undefined;
    if (isMistake || ["bad-identity", "bad-usage"].includes(error.code)) throw error;
    return { file: null, why: REASONS[error.code] ?? error.message };
  }
}

function remarks({ blob, proof }: ReceivedBlob, { file, why }: Opening): string[] {
  const signer = file?.signer === blob.owner ? "its owner" : "not its owner";
  return [
    ...(proof.state === "wrong" ? [`UNVERIFIED: ${proof.why}.`] : []),
    ...(proof.state === "absent" ? ["there is no proof that its owner stored this."] : []),
    ...(why === null ? [] : [`it stays sealed: ${why}`]),
    ...(file === null ? [] : [`sealed by ${file.signer}, ${signer}.`]),
  ];
}

async function deliver(
  draft: Draft,
  place: Place,
  { blob, proof }: ReceivedBlob,
  file: OpenedFile | null,
  values: Values,
  terminal: Terminal,
): Promise<void> {
  if (place.folder === null) return terminal.write(draft.chunks());
  const { key, owner } = blob;
  const { filename, type } = file ?? blob;
  const path = fileAt(place, filename || key);
  await draft.moveTo(path, values.force);
  const size = file?.bytes.length ?? blob.size;
  const sealed = { sealed: file === null && isSealedType(type), sealedBy: file?.signer ?? null };
  const facts = { file: path, key, owner, size, type, proof: proofFacts(proof), ...sealed };
  terminal.print(values.json ? JSON.stringify(facts, null, 2) : path);
  terminal.say(`${shortKey(key)}: saved, ${sizeText(size)}`);
}
