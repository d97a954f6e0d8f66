import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { openDatabase } from "../../plugin/store/sqlite-driver.js";
import { ALICE, alicesBlobs } from "../blobs/alices-blobs.js";
import { afterMounts, mountLack } from "../helpers/mounts.js";
import { FEED, settingsOf } from "../helpers/receiver.js";
import { type Server, serveProcess, site } from "./server.js";

/** The disk is mounted on `$1` and gets the store in `$2`. */
const MOUNT = 'mount -t tmpfs -o "$3" tmpfs "$1" && cp -r "$2/." "$1"';
/** Files fill the disk up to its last block. */
const FILL = 'dd if=/dev/zero of="$1/junk" bs=4k 2>&-; echo x >> "$1/junk" 2>&-';
/** Frees less than the server reserves, and everything later, as the deletion of a large file does. */
const FREE = 'truncate -s -256K "$1/junk"; sleep 1.5; rm "$1/junk"';
const USE_UP_INODES = 'i=0; while touch "$1/$i" 2>/dev/null; do i=$((i+1)); done';
const READ_ONLY = 'mount -o remount,ro "$1"';
/** Mends the disk, from within its namespace, once there is a file `mended`. */
const mend = (how: string) => `{ until [ -e "$2/mended" ]; do sleep 0.1; done; ${how}; } & true`;

async function served(breaking: string, mending: string, options: string) {
  const blobs = { owners: [ALICE.publicKey], count: 10, bytes: 2 ** 20, maxBytes: 2 ** 20 };
  const alice = site({ ...settingsOf({ key: ALICE.publicKey }), blobs });
  const [disk, stored] = [join(alice.folder, "disk"), join(alice.folder, "stored")];
  mkdirSync(disk);
  const store = new SqliteStore(stored);
  // What an earlier server has reserved on a disk that was not full then. It is a file, which would be an inode, too.
  if (breaking === FILL) await store.prepareForServer();
  await store.put("followers/day", Buffer.from("{}"));
  await alicesBlobs({ store }).put("quinces", "Quinces are in.");
  store.close();
  // Open until its files are copied: a disk without inodes has no room for a log that the last connection removes.
  const database = openDatabase(join(stored, "store.db"));
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const within = afterMounts(`${MOUNT}; ${breaking}; ${mend(mending)}`, disk, stored, options);
  const server = await serveProcess(alice, ["--store", disk], { within });
  database.close();
  return { server, disk, mendDisk: () => writeFileSync(join(stored, "mended"), "") };
}

/** Deletes a blob. @returns the status of the answer */
async function deleteBlob({ url }: Server): Promise<number> {
  const path = "/api/v1/blob/quinces";
  const headers = signRequest({ method: "DELETE", url: `https://alice.example${path}` }, ALICE, Date.now());
  return (await fetch(url + path, { method: "DELETE", headers })).status;
}

async function statuses({ url }: Server) {
  const mention = {
    method: "POST",
    body: new URLSearchParams({ source: "https://bob.example/twtxt.txt", target: FEED }),
  };
  const requests = { page: fetch(url), feed: fetch(`${url}/twtxt.txt`), health: fetch(`${url}/health`) };
  const all = { ...requests, mentions: fetch(`${url}/mentions.json`), mention: fetch(`${url}/webmention`, mention) };
  const entries = Object.entries(all).map(async ([name, request]) => [name, (await request).status] as const);
  return Object.fromEntries(await Promise.all(entries));
}

describe.skipIf(mountLack !== null)("eleventy-twtxt serve", () => {
  it.each([
    ["full", FILL, FREE, "the disk is full", "size=20m", 200],
    ["without inodes", USE_UP_INODES, 'rm "$1"/[0-9]*', "the disk has no free inodes", "size=20m,nr_inodes=20", 200],
    ["read-only", READ_ONLY, 'mount -o remount,rw "$1"', "its file system is read-only", "size=20m", 503],
  ])(
    "serves pages and the feed from a disk that is %s, answers writes and /health with 503, deletes what it can, and stores again when it can",
    async (_name, breaking, mending, why, options, deletion) => {
      const { server, disk, mendDisk } = await served(breaking, mending, options);
      await expect
        .poll(server.output)
        .toContain(
          `Data cannot be stored in ${disk}: ${why}. Name another folder with --store DIR. Until that changes, pages and the feed are served, and nothing is stored.`,
        );
      expect(await statuses(server)).toEqual({ page: 200, feed: 200, mentions: 200, mention: 503, health: 503 });
      expect(await deleteBlob(server)).toBe(deletion);
      if (why.startsWith("the disk")) expect(server.output()).toContain(`The store in ${disk} failed: ${why}.\n`);

      mendDisk();
      await expect.poll(server.output).toContain(`Data can be stored in ${disk} now.\n`);
      await expect.poll(async () => (await fetch(`${server.url}/health`)).status).toBe(200);
      expect(await statuses(server)).toEqual({ page: 200, feed: 200, mentions: 200, mention: 202, health: 200 });
      // The jobs, which have failed, run again.
      await expect.poll(server.output).toMatch(/can be stored[\s\S]*alice\.example\/twtxt\.txt could not be reached/);
      expect(await server.end()).toBe(0);
    },
  );
});
