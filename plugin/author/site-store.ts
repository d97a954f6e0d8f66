// plugin/author/site-store.ts: the store of a site: a folder on this machine, or a bucket.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { openBucket, tryStore } from "../host/bucket.js";
import { readAliases } from "../site/aliases.js";
import { readPrefix } from "../site/routes.js";
import type { HostSettings } from "../site/site.js";
import { describeFullDisk } from "../store/disk.js";
import { LastingRefusal } from "../store/fetch-with-retry.js";
import { markInUse, processesUsing } from "../store/processes.js";
import { retry } from "../store/retry.js";
import { SqliteStore } from "../store/sqlite.js";
import { systemCode } from "../store/sqlite-driver.js";
import type { StreamingStore } from "../store/store.js";
import { dataFolder } from "./files.js";
import { misuse, typed } from "./invocation.js";
import type { Machine } from "./machine.js";
import { publishedSite, type Site } from "./site.js";

const BUCKET_PREFIX = "twtxt/";
const MAX_NAME = 100;
/** A subfolder for the process that replaces all values. No key of a store starts with a dot. */
const RESTORING = ".restoring";

const REASONS: Record<string, string> = {
  EROFS: "its file system is read-only",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  ENOTDIR: "it, or a folder above it, is a file",
  EEXIST: "it is a file",
};

const nothing = async () => {};

export interface SiteStore {
  store: StreamingStore;
  /** `null` for a bucket. */
  folder: string | null;
  place: string;
}

/**
 * Finds the store of a site: the folder of --store, a bucket, or the data folder of this machine.
 *
 * @throws TwtxtError `bad-usage` for a folder and a bucket; `bad-option` for half a bucket; as {@link storeFolder}
 */
export async function siteStore(
  site: Site,
  request: { command: string; store: string | undefined },
  machine: Machine,
): Promise<SiteStore> {
  const bucket = openBucket(machine.environment, BUCKET_PREFIX);
  if (bucket && request.store !== undefined) {
    throw misuse(request.command, "--store names a folder, and TWTXT_S3_BUCKET a bucket. Leave one of them out.");
  }
  if (bucket) return { store: bucket, folder: null, place: `the bucket ${machine.environment.TWTXT_S3_BUCKET}` };
  const folder =
    request.store === undefined ? await storeFolder(site, machine) : resolve(machine.folder, request.store);
  return { store: new SqliteStore(folder), folder, place: folder };
}

/** The folder of a site in the data folder of this machine, absolute. */
export async function siteFolder(site: Site, machine: Machine): Promise<string> {
  // The real site: a preview may be built for another address.
  const { settings } = await publishedSite(site);
  return findFolder(settings.url, settings, machine);
}

function findFolder(url: string, settings: HostSettings, machine: Machine): string {
  return join(dataFolder(machine), "sites", folderName(url + readPrefix(settings)));
}

/**
 * The default folder of a site's store, absolute.
 *
 * @throws TwtxtError `store-failed` if there is data in the folder of an earlier domain of the site
 */
export async function storeFolder(site: Site, machine: Machine): Promise<string> {
  const home = join(await siteFolder(site, machine), "store");
  const { settings } = await publishedSite(site);
  for (const origin of readAliases(settings.mentions.aliases, settings.feedUrl).origins) {
    const former = join(findFolder(origin, settings, machine), "store");
    if (!existsSync(former)) continue;
    const advice = existsSync(home)
      ? `There is also newer data in ${home}. Move the folder that you do not need elsewhere, and the one with your data to ${home}.`
      : await adviseMove(former, home);
    throw new TwtxtError("store-failed", `Data of this site is in ${former}, from its time at ${origin}. ${advice}`);
  }
  return home;
}

/** Says where to move a store, and makes the folder around that place, which `mv` would miss. */
async function adviseMove(from: string, home: string): Promise<string> {
  // If this fails, so does the move, and says why.
  await mkdir(dirname(home), { recursive: true, mode: 0o700 }).catch(() => {});
  return `Move that folder to ${home}, or name it with --store ${from}.`;
}

/** Data about a site that only this machine needs, such as drafts. @param url - of the site or its feed */
export function openSiteData(kind: string, url: string, machine: Pick<Machine, "environment">): SqliteStore {
  return new SqliteStore(join(dataFolder(machine), kind, folderName(url)));
}

/** Whether this machine can read the data of a site: only the site itself can read Netlify Blobs. */
export function isWithinReach({ settings }: Site, store: string | undefined, { environment }: Machine): boolean {
  return settings.host !== "netlify" || store !== undefined || openBucket(environment, BUCKET_PREFIX) !== null;
}

/**
 * Checks that a store can be written, and marks it as used by this process.
 *
 * @param check - of what a server needs besides
 * @returns removes the mark
 * @throws TwtxtError `store-failed`, also while another process restores a backup: it would delete new values
 */
export async function useStore({ store, folder }: SiteStore, check = nothing): Promise<() => Promise<void>> {
  if (folder === null) {
    await tryStore(store);
    return nothing;
  }
  let leave = nothing;
  try {
    leave = await markInUse(folder);
    const [other] = await processesUsing(join(folder, RESTORING));
    if (other !== undefined) {
      const what = `Process ${other} is restoring a backup into ${folder}. Try again when it is done.`;
      throw new TwtxtError("store-failed", what);
    }
    await tryStore(store);
    await check();
    return leave;
  } catch (error) {
    await leave();
    throw unusable(folder, error);
  }
}

/** Pause between two checks of a disk that is full or read-only, in milliseconds. */
const RECHECK_MS = 2000;

interface ServedStore {
  /** Why nothing can be stored at present, a sentence; `null` if values can be stored. */
  failure: string | null;
  /** Resolves when values can be stored: `false` if the store is left before. */
  ready: Promise<boolean>;
  leave(): Promise<void>;
}

/**
 * As {@link useStore}, for a server, which also starts on a full or read-only disk, or while the service of its bucket is
 * down: pages and the feed need no store.
 */
export async function useStoreToServe(data: SiteStore): Promise<ServedStore> {
  const { store } = data;
  const leaving = new AbortController();
  const use = () => useStore(data, () => prepareForServer(store));
  let using: Promise<(() => Promise<void>) | null> = use();
  const failure = await using.then(
    () => null,
    (error) => describeOutage(error, data),
  );
  if (failure !== null) using = retry(use, { pauses: listPauses(), signal: leaving.signal }).catch(() => null);
  const leave = async () => {
    leaving.abort();
    const release = await using;
    if (store instanceof SqliteStore) store.close();
    await release?.();
  };
  return { failure, ready: using.then((release) => release !== null && !leaving.signal.aborted), leave };
}

function* listPauses(): Generator<number> {
  for (;;) yield RECHECK_MS;
}

/** Why nothing can be stored, sentences. @throws the error, if it will not pass by itself */
async function describeOutage(error: unknown, { store, folder }: SiteStore): Promise<string> {
  const isTemporary = folder === null ? isOutage(error) : ["ENOSPC", "EROFS"].includes(diskCode(error));
  if (!(error instanceof TwtxtError) || !isTemporary) throw error;
  if (store instanceof SqliteStore) await store.prepareForServer();
  return `${error.message} Until that changes, pages and the feed are served, and nothing is stored.`;
}

/** @throws TwtxtError unless there is space for more than the next write */
async function prepareForServer(store: StreamingStore): Promise<void> {
  if (!(store instanceof SqliteStore)) return;
  await store.prepareForServer();
  await store.checkWritable();
}

/** As {@link useStore}, for a process that replaces all values: no other process may use the store, or start to. */
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
    `Process ${user} uses the data in ${folder}. Stop it first: it is probably ${typed("serve")}. If it is another program, remove the folder ${folder}/.in-use.`,
  );
}

/**
 * The name of a site's folder: its host and path, with characters that every file system allows.
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

/** Whether a bucket failed for a reason that may pass: its service could not be reached, or was overloaded. */
function isOutage(error: unknown): boolean {
  const { cause } = Object(error) as { cause?: unknown };
  return cause instanceof Error && !(cause instanceof LastingRefusal);
}

/** The code of the error of the file system or of SQLite that caused an error; or empty. */
function diskCode(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  return error instanceof TwtxtError ? diskCode(cause) : systemCode(error);
}

function unusable(folder: string, error: unknown): unknown {
  const code = diskCode(error);
  const why = code === "ENOSPC" ? describeFullDisk(folder) : REASONS[code];
  if (why === undefined) return error;
  const what = `Data cannot be stored in ${folder}: ${why}. Name another folder with --store DIR.`;
  return new TwtxtError("store-failed", what, { cause: error });
}
