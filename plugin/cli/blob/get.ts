// plugin/cli/blob/get.ts: `blob get`: saves a blob, the author's own or one that another owner shares.
import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { sizeText } from "../../author/amounts.js";
import { blobSite, proofFacts } from "../../author/blobs/blob-site.js";
import {
  type BlobSource,
  listRemarks,
  ownBlob,
  type ReceivedFile,
  receiveFile,
  sharedBlob,
} from "../../author/blobs/received-file.js";
import { checkFree } from "../../author/files.js";
import { misuse } from "../../author/invocation.js";
import { shortKey } from "../../blobs/blob.js";
import { parseSharedUrl } from "../../blobs/client/download.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { TwtxtError } from "../../errors.js";
import { isBlobKey } from "../../site/routes.js";
import { FILE, flag, type OwnSiteValues, one, option, text, type ValuesOf } from "../options.js";
import { printData, type Terminal } from "../terminal.js";
import { action } from "./blob-options.js";
import { completeKey } from "./stored-blobs.js";

const WHERE = "blob get";
const STANDARD_OUTPUT = "-";

const OPTIONS = {
  output: option(FILE, "where to save it: a file, a folder, or - for standard output", "o"),
  force: flag("replaces an existing file"),
  sealed: flag("does not open sealed files"),
  unverified: flag("saves a blob that fails verification too, and says why it failed"),
};

type Values = OwnSiteValues & ValuesOf<typeof OPTIONS>;

export const get = action({
  usage: "KEY|URL [-o FILE|-] [--force] [--sealed] [--unverified]",
  help: "verifies a blob, saves it under its own file name, and opens it if it is sealed to you. With a shared URL, gets a blob of another owner",
  options: OPTIONS,
  words: one(text("KEY", "one key as blob list shows it, or one shared URL")),
  async run(values, word, terminal) {
    if (values.json && values.output === STANDARD_OUTPUT) throw misuse(WHERE, "use either --json or -o -.");
    const place = await choosePlace(values.output, terminal);
    const source = await findSource(word, values, terminal);
    try {
      const file = await received(source, place, values);
      await deliver(file, place, values, terminal).finally(file.draft.clear);
    } finally {
      source.download.close();
    }
    return 0;
  },
});

async function received(source: BlobSource, place: Place, values: Values): Promise<ReceivedFile> {
  const { key, type, filename } = source.download.blob;
  const opens = !values.sealed;
  const isNameKnown = !opens || !isSealedType(type);
  // Before a large file is received in vain.
  if (isNameKnown && !values.force && place.folder !== null) await checkFree(choosePath(place, filename || key));
  const namesKey = (values.identity ?? values.as) !== undefined;
  return receiveFile(source, { folder: place.folder, opens, isAnyAccepted: values.unverified, namesKey });
}

/**
 * @param word - a key, the start of a SHA-256, or a shared URL
 * @throws TwtxtError `not-found`; `blob-tampered` for a lost blob; and as the client
 */
async function findSource(word: string, values: Values, terminal: Terminal): Promise<BlobSource> {
  const shared = parseSharedUrl(word);
  if (shared) return sharedBlob(shared, values, terminal);
  if (!isBlobKey(word)) {
    throw misuse(WHERE, `expected a key, or a URL such as https://bob.example/shared/kex1.../KEY, got "${word}".`);
  }
  const site = await blobSite(values, terminal);
  return ownBlob(await completeKey(word, site.blobs), site, terminal);
}

/** `file` is `null` for the blob's own name; `folder` is `null` for standard output. */
type Place = { folder: string; file: string | null } | { folder: null };

/** @param output - the value of `--output` */
async function choosePlace(output: string | undefined, { folder }: Terminal): Promise<Place> {
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

function choosePath({ folder, file }: Place & { folder: string }, filename: string): string {
  // A stranger's file name: not hidden, not an option, and without characters that Windows reserves.
  return file ?? join(folder, filename.replace(/^[.-]|[<>:"|?*]|[. ]$/g, "_"));
}

async function deliver(received: ReceivedFile, place: Place, values: Values, terminal: Terminal): Promise<void> {
  const {
    draft,
    received: { blob, proof },
    opening: { file },
  } = received;
  for (const remark of listRemarks(received)) terminal.say(`${shortKey(blob.key)}: ${remark}`);
  if (file) await draft.replace(file.bytes);
  if (place.folder === null) return terminal.write(draft.chunks());
  const { key, owner } = blob;
  const { filename, type } = file ?? blob;
  const path = choosePath(place, filename || key);
  await draft.moveTo(path, values.force);
  const size = file?.bytes.length ?? blob.size;
  const sealed = { sealed: file === null && isSealedType(type), sealedBy: file?.signer ?? null };
  const facts = { file: path, key, owner, size, type, proof: proofFacts(proof), ...sealed };
  printData(facts, [path], values, terminal);
  terminal.say(`${shortKey(key)}: saved, ${sizeText(size)}`);
}
