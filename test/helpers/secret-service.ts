// test/helpers/secret-service.ts: a real Secret Service, GNOME's keyring on a session bus of its own.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe } from "vitest";
import { afterEach } from "./hooks.js";

const PROGRAMS = ["dbus-run-session", "gnome-keyring-daemon"];
/** The keyring is unlocked with the password on standard input, and ends with the bus. */
const SESSION = `printf 'quinces\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
echo "$DBUS_SESSION_BUS_ADDRESS"
cat >/dev/null`;

const missing = PROGRAMS.filter((program) => spawnSync("which", [program]).status !== 0);

/** A `describe` that is skipped on a machine without these programs. */
export const describeWithSecretService =
  missing.length === 0
    ? describe
    : (name: string, tests: () => void) => describe.skip(`${name} (skipped: no ${missing.join(" and ")} here)`, tests);

const ended: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** A running Secret Service with an empty, unlocked keyring. */
export interface SecretService {
  /** The environment of processes that use it. */
  environment: { DBUS_SESSION_BUS_ADDRESS: string };
  /** Ends it, as at the end of the user's session. */
  end(): Promise<void>;
}

export async function startSecretService(): Promise<SecretService> {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-secrets-"));
  const places = {
    HOME: join(folder, "home"),
    XDG_DATA_HOME: join(folder, "data"),
    XDG_RUNTIME_DIR: join(folder, "run"),
  };
  for (const place of Object.values(places)) mkdirSync(place, { mode: 0o700 });
  const session = spawn("dbus-run-session", ["--", "sh", "-c", SESSION], {
    env: { ...process.env, ...places },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const closed = new Promise<void>((resolve) => session.once("close", () => resolve()));
  const end = () => {
    session.stdin.end();
    return closed;
  };
  ended.push(async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  });
  const [address = ""] = await Promise.race([firstLine(session.stdout), closed.then(() => [])]);
  if (address === "") throw new Error("The session bus did not start.");
  return { environment: { DBUS_SESSION_BUS_ADDRESS: address }, end };
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string[]> {
  for await (const line of createInterface(stream)) return [line];
  return [];
}
