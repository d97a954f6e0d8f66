// test/hosting/systemd.test.ts: the systemd units in docs/hosting/. systemd itself does not run here: its own programs check the units,
// and `serve` runs as another user on a read-only system.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { serveCommand, site } from "../cli/server.js";
import { COMMAND, REPO } from "../helpers/paths.js";
import { settingsOf } from "../helpers/receiver.js";
import { ALICE, ARMORED } from "../messages/inbox/alices-inbox.js";
import { programLack } from "./proxies.js";

const PROGRAM = "/srv/alice.example/current/node_modules/.bin/eleventy-twtxt";
const UNITS = ["eleventy-twtxt.service", "eleventy-twtxt.socket"];
/** The user `nobody`. */
const USER = 65_534;
/** In tenths: below 2.0 of 10. */
const MAX_EXPOSURE = 20;

function readUnit(name: string): string {
  return readFileSync(join(REPO, "docs/hosting", name), "utf8");
}

/** A folder that other users can read. */
function publicFolder(): string {
  const folder = mkdtempSync("/tmp/twtxt-unit-");
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function canUnshare(): boolean {
  const isRoot = process.getuid?.() === 0 && programLack("unshare") === null && programLack("setpriv") === null;
  return isRoot && spawnSync("unshare", ["-m", "mount", "-o", "remount,bind,ro", "/"]).status === 0;
}

it.skipIf(programLack("systemd-analyze") !== null)("systemd finds no fault in the units, and little exposure", () => {
  const folder = publicFolder();
  // The files that the units name need to exist.
  for (const name of UNITS) writeFileSync(join(folder, name), readUnit(name).replace(PROGRAM, process.execPath));
  const files = UNITS.map((name) => join(folder, name));
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", ...files], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const security = ["security", "--offline=true", `--threshold=${MAX_EXPOSURE}`, "--no-pager", files[0] ?? ""];
  expect(execFileSync("systemd-analyze", security, { encoding: "utf8" })).toContain("Overall exposure level");
});

it.skipIf(!canUnshare())("serve runs as its own user on a read-only system, and writes its data alone", async () => {
  const folder = publicFolder();
  const inbox = { users: ["alice"], messages: 100, megabytes: 4, retentionDays: 0, subscribe: null, guests: null };
  const alice = site({ ...settingsOf({ key: ALICE.publicKey }), inbox });
  cpSync(alice.folder, join(folder, "alice.example/current"), { recursive: true });
  chmodSync(join(folder, "alice.example/current"), 0o755);
  cpSync(dirname(COMMAND), join(folder, "package/dist/cli"), { recursive: true });
  cpSync(join(REPO, "package.json"), join(folder, "package/package.json"));
  // The optional peer dependency, for Node.js 20, with its dependencies.
  for (const name of ["libsql", "@libsql", "@neon-rs", "detect-libc"]) {
    cpSync(join(REPO, "node_modules", name), join(folder, "package/node_modules", name), { recursive: true });
  }
  const state = join(folder, "state");
  mkdirSync(state);
  chownSync(state, USER, USER);

  const [, args = ""] = new RegExp(`^ExecStart=${PROGRAM} (.*)$`, "m").exec(readUnit("eleventy-twtxt.service")) ?? [];
  for (const name of ["loopback-only.mjs", "loopback-sockets.mjs"])
    cpSync(join(REPO, "test/helpers", name), join(folder, name));
  const words = [
    process.execPath,
    "--import",
    join(folder, "loopback-only.mjs"),
    join(folder, "package/dist/cli/main.js"),
    ...args.split(" "),
    "--port",
    "0",
  ];
  const lowered = [
    "setpriv",
    `--reuid=${USER}`,
    `--regid=${USER}`,
    "--clear-groups",
    "--no-new-privs",
    "--bounding-set=-all",
  ];
  // As ProtectSystem=strict and StateDirectory= do.
  const readOnly = 'mount --bind "$0" "$0"; mount -o remount,bind,ro /; exec "$@"';
  const server = await serveCommand(["unshare", "-m", "sh", "-c", readOnly, state, ...lowered, ...words], {
    folder: join(folder, "alice.example"),
    environment: { HOME: "/nonexistent", XDG_DATA_HOME: state },
  });
  expect(await (await fetch(`${server.url}/`)).text()).toBe("home");
  expect((await fetch(`${server.url}/inbox/alice`, { method: "POST", body: Buffer.from(ARMORED) })).status).toBe(202);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  expect(await server.end()).toBe(0);
  expect(readdirSync(state)).toEqual(["eleventy-twtxt"]);
  expect(server.output()).not.toMatch(/EROFS|EACCES|EPERM/);
});
