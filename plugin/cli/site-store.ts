// plugin/cli/site-store.ts: where what a site receives and has sent is kept on this machine, or in the owner's bucket.
import { createHash } from "node:crypto";
import { lstat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { bucketIn } from "../host/bucket.js";
import { tryStore } from "../host/try-store.js";
import { prefixOf } from "../site/routes.js";
import { FileStore } from "../store/file.js";
import { finishMove, hasValues, moveStore } from "../store/move-store.js";
import type { StreamingStore } from "../store/store.js";
import { markInUse, processesUsing } from "../store/store-users.js";
import { misuse } from "./command.js";
import { dataFolder } from "./data-folder.js";
import { typed } from "./invocation.js";
import { publishedSite, type Site } from "./site.js";
import type { Terminal } from "./terminal.js";

/** Where it was at first, from the project's root. It is ignored by git, so `git clean -fdX` deletes it. */
const FIRST_PLACE = ".eleventy-twtxt/store";
const BUCKET_PREFIX = "twtxt/";
/** Of file systems that end with their container or with the machine's next start: overlay, tmpfs, ramfs. */
const TEMPORARY_FILE_SYSTEMS = [0x794c7630, 0x01021994, 0x858458f6];
const MAX_NAME = 100;
/** In a store's folder, for the process that replaces all of its values. No key of a store starts with a dot. */
const RESTORING = ".restoring";

const REASONS: Record<string, string> = {
  EROFS: "its file system is read-only",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  ENOSPC: "the disk is full",
  ENOTDIR: "it, or a folder above it, is a file",
  EEXIST: "it is a file",
};

/** A store, and where it is. */
export interface SiteStore {
  store: StreamingStore;
  /** `null` for a bucket. */
  folder: string | null;
  /** For the person at the terminal. */
  place: string;
}

export interface StoreWish {
  /** The command that asks. */
  command: string;
  /** The option --store. */
  store: string | undefined;
  /** Whether the store is only read: it is then never moved. */
  isReadOnly: boolean;
}

/**
 * The store of a site: in the folder of the option --store, in a bucket, or in the data folder of this machine.
 *
 * @throws TwtxtError `bad-usage` for a folder and a bucket; `bad-option` for half a bucket; `store-failed`
 */
export async function siteStore(site: Site, wish: StoreWish, terminal: Terminal): Promise<SiteStore> {
  const bucket = bucketIn(terminal.environment, BUCKET_PREFIX);
  if (bucket && wish.store !== undefined) {
    throw misuse(
      `${wish.command}: --store names a folder, and TWTXT_S3_BUCKET a bucket. Leave one of them out.`,
      wish.command,
    );
  }
  if (bucket) return { store: bucket, folder: null, place: `the bucket ${terminal.environment.TWTXT_S3_BUCKET}` };
  const given = wish.store === undefined ? null : resolve(terminal.folder, wish.store);
  const folder = given ?? (await storeFolder(site, wish.isReadOnly, terminal));
  return { store: new FileStore(folder), folder, place: folder };
}

/**
 * The folder of a site's store where none is named.
 *
 * @param isReadOnly - as in {@link StoreWish}
 * @returns an absolute path
 */
export async function storeFolder(site: Site, isReadOnly: boolean, terminal: Terminal): Promise<string> {
  // Those of the real site: a preview may be built for another address.
  const { settings } = await publishedSite(site);
  const home = join(dataFolder(terminal), "sites", folderName(settings.url + prefixOf(settings)), "store");
  const first = site.file(FIRST_PLACE);
  if (isReadOnly) return (await hasValues(first)) && !(await hasValues(home)) ? first : home;
  try {
    return await movedHome(first, home, { shown: site.shown(first), say: terminal.say });
  } catch (error) {
    throw unusable(home, error);
  }
}

/**
 * Refuses a site that keeps its data where no command reaches them.
 *
 * @throws TwtxtError `bad-usage`
 */
export function checkWithinReach(
  site: Site,
  { command, store }: Pick<StoreWish, "command" | "store">,
  { environment }: Terminal,
): void {
  if (site.settings.host !== "netlify" || store !== undefined || bucketIn(environment, BUCKET_PREFIX)) return;
  throw misuse(
    `${command}: your site keeps its data in Netlify Blobs, which only the site itself can read and write. To use a folder all the same, name it with --store.`,
    command,
  );
}

/**
 * Sees that a store can be written, before anything comes in, and notes that this process uses it.
 *
 * @returns takes the note back
 * @throws TwtxtError `store-failed`, also while another process restores a backup: it would delete what comes in
 */
export async function useStore({ store, folder }: SiteStore): Promise<() => Promise<void>> {
  try {
    await tryStore(store);
    if (folder === null) return async () => {};
    const leave = await markInUse(folder);
    const [other] = await processesUsing(join(folder, RESTORING));
    if (other === undefined) return leave;
    await leave();
    throw new TwtxtError(
      "store-failed",
      `Process ${other} is restoring a backup into ${folder}. Try again when it is done.`,
    );
  } catch (error) {
    throw folder === null ? error : unusable(folder, error);
  }
}

/**
 * As {@link useStore}, for a process that replaces all values: no other process may use the store, or begin to.
 *
 * @throws TwtxtError `store-failed`
 */
export async function useStoreAlone(data: SiteStore): Promise<() => Promise<void>> {
  const leave = await useStore(data);
  const { folder } = data;
  if (folder === null) return leave;
  const release = await markInUse(join(folder, RESTORING));
  const end = async () => {
    await release();
    await leave();
  };
  const [user] = await processesUsing(folder);
  if (user === undefined) return end;
  await end();
  throw new TwtxtError(
    "store-failed",
    `Process ${user} uses the data in ${folder}. End it first: it is probably ${typed("serve")}. If it is another program, remove the folder ${folder}/.in-use.`,
  );
}

/**
 * The name of a site's folder: its host and path, as far as every file system takes them for a name.
 *
 * @example folderName("https://alice.example") // "alice.example"
 * @example folderName("http://localhost:8080/blog") // "localhost_8080_blog-7d6a8245"
 */
export function folderName(url: string): string {
  const { host, pathname } = new URL(url);
  const site = host + pathname.replace(/\/$/, "");
  const name = site.replace(/[^a-z0-9.-]+/g, "_").slice(0, MAX_NAME);
  if (name === site && /[a-z0-9]$/.test(name)) return name;
  return `${name}-${createHash("sha256").update(site).digest("hex").slice(0, 8)}`;
}

/** Moves the store home from its first place, where there is one and it may be moved. @returns where the store is */
async function movedHome(
  first: string,
  home: string,
  { shown, say }: { shown: string; say(line: string): void },
): Promise<string> {
  await finishMove(first, home);
  if (!(await hasValues(first))) return home;
  // A symbolic link, or a volume of a container, is a place that was chosen.
  if (await isPlacedElsewhere(first)) return first;
  if (await hasValues(home)) {
    say(
      `Not used: the older data in ${shown}, since this site has data in ${home}. To use the older data: --store ${shown}`,
    );
    return home;
  }
  const [user] = await processesUsing(first);
  if (user !== undefined) {
    say(
      `Process ${user} uses the data in ${shown}. They are moved to ${home} once it has ended and this command starts again.`,
    );
    return first;
  }
  if (await isLessDurable(home, first)) {
    say(
      `The data stay in ${shown}: ${home} would be lost with this container or machine. Choose a folder with --store DIR.`,
    );
    return first;
  }
  await moveStore(first, home);
  say(`Moved the data of this site from ${shown} to ${home}, where git clean does not delete them.`);
  return home;
}

async function isPlacedElsewhere(folder: string): Promise<boolean> {
  const [own, above] = await Promise.all([lstat(folder), lstat(dirname(folder))]);
  return own.isSymbolicLink() || own.dev !== above.dev;
}

async function isLessDurable(home: string, first: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const [own, other] = await Promise.all([home, first].map(nearestFolder));
  if (own === undefined || other === undefined) return false;
  const [{ dev }, { dev: otherDev }, { type }] = await Promise.all([lstat(own), lstat(other), statfs(own)]);
  return dev !== otherDev && TEMPORARY_FILE_SYSTEMS.includes(type);
}

/** The folder itself, or the nearest one above that is there. */
async function nearestFolder(path: string): Promise<string> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  return isThere || dirname(path) === path ? path : nearestFolder(dirname(path));
}

function unusable(folder: string, error: unknown): unknown {
  const cause = error instanceof TwtxtError ? error.cause : error;
  const why = REASONS[String(Object(cause).code)];
  if (why === undefined) return error;
  return new TwtxtError(
    "store-failed",
    `Nothing can be kept in ${folder}: ${why}. Name another folder with --store DIR.`,
    {
      cause: error,
    },
  );
}
