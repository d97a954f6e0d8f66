// plugin/cli/blob/stored-blobs.ts: the actions of `blob` with stored blobs: `list`, `info`, `verify`, `set`, `share`, `rm` and `move`.
import { counted, sizeText } from "../../author/amounts.js";
import {
  blobSite,
  choosePlace,
  deleteBlob,
  describeDamage,
  formatMarkdown,
  type ListedBlob,
  listBlobs,
  proofFacts,
  sumVerifications,
  toFacts,
  VERIFICATION_ADVICE,
  type Verification,
  verifyBlobs,
  visibility,
} from "../../author/blobs/blob-site.js";
import { countFormerBlobs, type MovedBlob, moveBlobs } from "../../author/blobs/received-file.js";
import { misuse, typed, typedHints } from "../../author/invocation.js";
import { isContentAddress, MIN_KEY_PREFIX, SHORT_KEY_LENGTH, shortKey } from "../../blobs/blob.js";
import type { MetadataChange, OwnBlobs } from "../../blobs/client/own-blobs.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { withoutProof } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { completeId, FILE, flag, type OwnSiteValues, one, oneOrMore, option, zeroOrMore } from "../options.js";
import { formatTable, printData, type Terminal } from "../terminal.js";
import { action, KEY, MARKDOWN, METADATA, readChange } from "./blob-options.js";

/** Blobs that `blob list` shows without `--all`. */
const NEWEST = 50;

export const list = action({
  usage: "[--all]",
  help: "lists the newest 50 blobs: key, size, visibility, time of the last change, and file name",
  options: { all: flag("lists all of them") },
  async run(values, _, terminal) {
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
  },
});

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

export const info = action({
  usage: "KEY",
  help: "shows all that is known about a blob",
  words: one(KEY),
  async run(values, word, terminal) {
    const { blobs, sharedUrl } = await blobSite(values, terminal);
    const { blob, proof } = await blobs.find(await completeKey(word, blobs));
    // A single blob comes without its creation time and without milliseconds.
    const { created = null, modified = null } = (await blobs.client.find(blob.key)) ?? {};
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
  },
});

export const verify = action({
  usage: "[KEY...]",
  help: "reads all your blobs, or these, and reports each wrong or missing one",
  words: zeroOrMore(KEY),
  async run(values, words, terminal) {
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
  },
});

export const set = action({
  usage: "KEY [--public|--private] [--filename NAME] [--type TYPE] ...",
  help: "changes visibility, name, type or properties of a blob",
  options: METADATA,
  words: one(KEY),
  async run(values, word, terminal) {
    const change = readChange(values, "blob set");
    if (Object.keys(change).length === 0) {
      const options = "--public, --private, --filename, --type, --property or --no-property";
      throw misuse("blob set", `expected a change: ${options}.`);
    }
    return changeBlob(word, change, { ...values, markdown: false }, terminal);
  },
});

export const share = action({
  usage: "KEY [--markdown]",
  help: "makes a blob public, and prints its URL",
  options: MARKDOWN,
  words: one(KEY),
  run: (values, word, terminal) => changeBlob(word, { isPublic: true }, values, terminal),
});

async function changeBlob(
  word: string,
  change: MetadataChange,
  values: OwnSiteValues & { markdown: boolean },
  terminal: Terminal,
): Promise<number> {
  const { blobs, sharedUrl } = await blobSite(values, terminal);
  const { outcome, blob, note, isProven } = await blobs.change(await completeKey(word, blobs), change);
  const place = values.markdown ? formatMarkdown(blob) : choosePlace(blob, sharedUrl);
  printData({ outcome, ...toFacts(blob, sharedUrl), note }, [place], values, terminal);
  const key = shortKey(blob.key);
  terminal.say(`${key}: ${outcome}, ${visibility(blob)}`);
  if (!isProven) terminal.say(`${key}: It was stored without a proof. To add one, put the file again.`);
  if (note !== null) terminal.say(`${key}: ${note}`);
  return 0;
}

export const rm = action({
  usage: "KEY...",
  help: "deletes blobs",
  words: oneOrMore(KEY),
  async run(values, words, terminal) {
    const { blobs } = await blobSite(values, terminal);
    const removals: { key: string; removed: boolean; note: string | null }[] = [];
    let exitCode = 0;
    // Completes all keys before it deletes any blob.
    for (const key of await completeKeys(words, blobs)) {
      const { removed, wasMissing, note } = await deleteBlob(key, blobs);
      removals.push({ key, removed, note });
      terminal.say(removed ? `${key}: removed.` : `${key}: there is no such blob.`);
      if (note !== null) terminal.say(`${key}: ${note}`);
      if (!removed && !wasMissing) exitCode = 1;
    }
    printData(removals, [], values, terminal);
    return exitCode;
  },
});

/** `blob move`: moves the blobs of former keys to the current one. */
export const move = action({
  usage: "[--from FILE]",
  help: "moves the blobs of your former keys to your present one. URLs in posts stay, as long as the option blobs.formerKeys names the former keys",
  options: { from: option(FILE, "the file of a former key, if it is not in the default place") },
  async run(values, _, terminal) {
    const site = await blobSite(values, terminal);
    const former = await countFormerBlobs(site, terminal, values.from);
    if (former.length === 0) {
      throw new TwtxtError(
        "no-identity",
        `This machine has no former key of ${site.author.address}. If you have its 24 words, type \`${typed(`keys restore ${site.author.address} --file old.key`)}\`, then add --from old.key`,
      );
    }
    for (const { key, fault } of former) if (fault !== null) terminal.say(`${key}: ${fault}`);
    const all: MovedBlob[] = [];
    for await (const blob of moveBlobs(former, site, terminal)) {
      all.push(blob);
      terminal.say(`${shortKey(blob.key)}: ${blob.why === null ? "moved" : `not moved: ${typedHints(blob.why)}`}.`);
    }
    printData(all, [], values, terminal);
    const moved = all.filter(({ isMoved }) => isMoved).length;
    terminal.say(`${counted(moved, "blob")} moved to ${site.author.identity.publicKey}.`);
    return moved === all.length && former.every(({ fault }) => fault === null) ? 0 : 1;
  },
});

const KEY_PREFIX = new RegExp(`^[0-9a-f]{${MIN_KEY_PREFIX},64}$`, "i");

/** Whole keys are case-sensitive; a SHA-256 in capitals is completed too. */
function isPrefix(word: string): boolean {
  return KEY_PREFIX.test(word) && !isContentAddress(word);
}

/**
 * Completes keys that are the first characters of a SHA-256. Asks the site only for those that are shorter than in lists, or
 * that this machine does not know.
 *
 * @throws TwtxtError `not-found` for the start of several keys
 */
export async function completeKeys(words: readonly string[], { client, known }: OwnBlobs): Promise<string[]> {
  const prefixes = words.filter(isPrefix);
  if (prefixes.length === 0) return [...new Set(words)];
  // This machine also knows blobs that the site hides.
  const here = (await known.list()).states.flatMap(({ key, isDeleted }) => (isDeleted ? [] : key));
  const isHere = (word: string) =>
    word.length >= SHORT_KEY_LENGTH && here.some((key) => key.startsWith(word.toLowerCase()));
  const stored = prefixes.every(isHere) ? [] : await client.list();
  const all = [...here, ...stored.map(({ key }) => key)];
  const addresses = [...new Set(all)].filter(isContentAddress);
  const complete = (word: string) =>
    isPrefix(word) && !all.includes(word) ? (completeId(word.toLowerCase(), addresses, shortKey) ?? word) : word;
  return [...new Set(words.map(complete))];
}

/** The same for one key. */
export async function completeKey(word: string, blobs: OwnBlobs): Promise<string> {
  const [key = word] = await completeKeys([word], blobs);
  return key;
}
