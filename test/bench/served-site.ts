// test/bench/served-site.ts: a built site without a feed, served by `eleventy-twtxt serve`.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostSettings } from "../../plugin/site/site.js";
import { builtSite, hostFile, settingsFile } from "../helpers/built-site.js";
import { endOnStop } from "./child.js";

/** The configured URL of the site. No feed can be read there, so no mention is sent. */
export const SITE_URL = "https://alice.invalid";

/** A server in a child process. */
export interface Served {
  url: string;
  pid: number;
  end(): void;
}

/** Serves a site that {@link writeSite} wrote, without a rate limit. */
export function startServe(
  entry: string,
  folder: string,
  stop: AbortSignal,
  more: string[] = [],
  environment: Record<string, string> = {},
): Promise<Served> {
  const main = fileURLToPath(new URL("cli/main.js", entry));
  const args = [main, "serve", "--port", "0", "--rate-limit", "0", "--trust-proxy", "1", ...more];
  return new Promise((resolve, reject) => {
    if (stop.aborted) return reject(new Error("stopped"));
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, XDG_DATA_HOME: join(folder, "data"), ...environment },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const end = endOnStop(stop, () => void child.kill("SIGKILL"));
    child.on("exit", () => reject(new Error("serve ended unexpectedly.")));
    child.stdout.on("data", (data) => {
      const [url] = /http:\/\/[\d.:]+/.exec(String(data)) ?? [];
      if (url) resolve({ url, pid: Number(child.pid), end });
    });
  });
}

/**
 * Writes the files that a build writes for its host.
 *
 * @param folder - is created
 */
export function writeSite(
  folder: string,
  {
    inbox,
    blobs,
    isReceiver = false,
    pages: urls = [],
  }: Pick<HostSettings, "inbox" | "blobs"> & { isReceiver?: boolean; pages?: string[] },
): void {
  const { settings: built } = builtSite(SITE_URL, {
    key: "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077",
    inbox: false,
    mentions: { pages: false, everyHours: 24, rebuild: { perDay: 0, perMonth: 0 }, limits: { shownPerHost: 10_000 } },
  });
  const settings = { ...built, endpoint: null, isReceiver, inbox, blobs };
  const pages = { feeds: [settings.feedUrl], pages: urls, twts: [] };
  const files = {
    "_site/index.html": "home",
    "package.json": "{}",
    ...settingsFile(settings),
    ...hostFile({ settings, pages }),
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
