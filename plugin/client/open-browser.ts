// plugin/client/open-browser.ts: opens the client in the author's browser.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Machine } from "../author/machine.js";
import { namesUsers } from "./session.js";

const PROGRAMS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  // What `start` of its shell does.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Decides how the link gets to the browser. Users of one machine see each other's command lines, so another user could be
 * faster than the browser. Where the client does not recognize that user's connection, a file hides the link, which only
 * its owner can read.
 *
 * @returns the link or the file; `end` removes the file
 */
export async function handOver(link: string, platform: NodeJS.Platform = process.platform) {
  // On Windows, only administrators see command lines of others.
  if (namesUsers || platform === "linux" || platform === "win32") return { target: link, end: async () => {} };
  return linkFile(link);
}

/** A page that leads to the link, which only its owner can read. */
export async function linkFile(link: string) {
  const folder = await mkdtemp(join(tmpdir(), "eleventy-twtxt-"));
  const target = join(folder, "open.html");
  const page = `<!doctype html><title>Opening</title><meta http-equiv="refresh" content="0;url=${link}"><a href="${link}">Continue</a>\n`;
  await writeFile(target, page, { mode: 0o600, flag: "wx" });
  return { target, end: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * Opens a URL or a file in the default browser.
 *
 * @returns whether the program for it could be started and did not fail
 */
export function openBrowser(
  target: string,
  { environment }: Pick<Machine, "environment">,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const [program = "", ...args] = PROGRAMS[platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, target], { env: { ...environment }, stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("exit", (exitCode) => resolve(exitCode === 0 || platform === "win32"));
  });
}
