// plugin/cli/blob/coming.ts: where `blob get` gets a blob from: one's own site, or somebody else's.
import type { Coming } from "../../blobs/client/client.js";
import { missingBlob } from "../../blobs/client/missing.js";
import type { NewestStates } from "../../blobs/client/newest.js";
import { getShared, parseSharedUrl, type SharedUrl } from "../../blobs/client/shared.js";
import { WAY_OUT, WAY_OUT_OF_OTHERS } from "../../blobs/client/verdict.js";
import type { OwnKeys } from "../../messages/read/open-with.js";
import { authorAt } from "../author.js";
import { misuse } from "../command.js";
import { networkOf } from "../looking-up.js";
import { ownKeys } from "../own-keys.js";
import type { OwnSiteValues } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { keysNamedBy } from "./keys.js";
import { blobOwner, NAME, newestAt } from "./owner.js";

/** A blob that comes, and what it is judged and opened with. */
export interface ComingFrom {
  coming: Coming;
  newest: NewestStates;
  /** Of contents of which nothing proves the size. */
  maxBytes: number;
  /** What to do where the blob is wrong, a sentence. */
  wayOut: string;
  /** One's own. @throws TwtxtError `no-identity`; `bad-usage` where it is not clear whose */
  keys(): Promise<OwnKeys>;
}

/** A file of somebody else's may be large, and their line slow; that nothing comes for long ends it all the same. */
const PATIENCE_MS = 6 * 3600_000;
const MAX_UNPROVEN = 100 * 2 ** 20;

/**
 * @param word - a key, the beginning of a content address, or a shared URL
 * @throws TwtxtError `not-found`; `blob-tampered` where it was put and is not there; and as the client
 */
export async function comingFrom(
  word: string,
  values: OwnSiteValues,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ComingFrom> {
  const shared = parseSharedUrl(word);
  if (shared) return fromOthers(shared, values, terminal, signal);
  if (word.includes("/")) {
    throw misuse(`${NAME} get: a shared URL is such as https://bob.example/shared/kex1.../KEY, got "${word}".`, NAME);
  }
  const owner = await blobOwner(values, terminal, signal);
  const { newest, maxBytes, author } = owner;
  const [key = ""] = await keysNamedBy([word], owner);
  const coming = await owner.client.get(key);
  if (!coming) throw await missingBlob(key, owner);
  return { coming, newest, maxBytes, wayOut: WAY_OUT, keys: () => ownKeys(author, terminal) };
}

async function fromOthers(
  url: SharedUrl,
  values: OwnSiteValues,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ComingFrom> {
  const { ask } = networkOf(values, NAME, { totalMs: PATIENCE_MS });
  return {
    coming: await getShared(url, (address, request) => ask(address, { ...request, signal })),
    newest: newestAt(url, terminal),
    maxBytes: MAX_UNPROVEN,
    wayOut: WAY_OUT_OF_OTHERS,
    keys: async () => ownKeys(await authorAt(values, terminal, NAME), terminal),
  };
}
