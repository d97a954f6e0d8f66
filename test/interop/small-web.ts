// test/interop/small-web.ts: real servers of gemini (jetforce, from PyPI) and gopher (gophernicus, from Debian).
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { certificatePins } from "../../plugin/http/certificate-pins.js";
import { readFollowedFeeds } from "../../plugin/http/followed-feeds.js";
import { createGuard } from "../../plugin/http/guard.js";
import { Moderation } from "../../plugin/mentions/receive/moderation.js";
import { checkClaim } from "../../plugin/mentions/receive/receive.js";
import { SiteIndex } from "../../plugin/mentions/receive/site-index.js";
import { createDiscover } from "../../plugin/mentions/send/discover.js";
import { createVerify } from "../../plugin/mentions/verify/verify.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { freePort } from "../helpers/ports.js";
import { pythonWith } from "./python.js";

const PACKAGES = ["jetforce==0.10.1"];
const GOPHERNICUS = "/usr/sbin/gophernicus";
/** It refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const ENDPOINT = "https://bob.example/webmention";
const ALICE = "https://alice.example/twtxt.txt";
const TWT = `@<alice ${ALICE}> Grüße von nebenan.`;
const TIME = "2026-11-18T08:00:00Z";
const FEED = `# nick = bob\n# webmention = ${ENDPOINT}\n\n${TIME}\t${TWT}\n`;

interface RunningServer {
  name: string;
  /** The URL of Bob's feed, and of a file that does not exist. */
  url: string;
  missing: string;
  host: string;
  end(): void;
}

/** @returns the number of failed trials */
export async function trySmallWeb(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-small-web-"));
  writeFileSync(join(folder, "twtxt.txt"), FEED);
  try {
    let failures = 0;
    for (const start of [startJetforce, startGophernicus]) {
      const server = await start(folder);
      if (server) failures += await tryServer(server).finally(server.end);
    }
    return failures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryServer({ name, url, missing, host }: RunningServer): Promise<number> {
  const now = Date.now;
  const pins = certificatePins(memoryStore(), now);
  const ask = createGuard({ userAgent: "interop/1", allowPrivateHosts: [host], checkCertificate: pins });
  const signal = AbortSignal.timeout(10_000);
  const follow = [url, missing].map((feed, index) => ({ nick: `bob${index}`, url: feed }));
  const [read, gone] = await readFollowedFeeds(follow, [], { ask, now, signal });
  const found = await createDiscover({ ask, now })(url);
  const siteIndex = new SiteIndex({ feeds: [ALICE], pages: [], twts: [] });
  const moderation = new Moderation({ allow: [], block: [], moderate: false });
  const verify = createVerify({ ask, siteIndex, moderation });
  const claim = (feed: string) => checkClaim(`${feed}#:~:text=${TIME}`, ALICE, siteIndex);
  const [proven, unproven] = [await verify(claim(url)), await verify(claim(missing))];
  const trials = {
    "a followed feed": read?.kept?.twts[0]?.text === TWT,
    "a missing feed": gone?.kept === null && ["gone", "noFeed"].includes(String(gone.reason)),
    "the source of a mention": proven.outcome === "proven" && proven.mention.text === TWT,
    "a missing source": unproven.outcome === "disproven",
    "the endpoint of a mention": found.endpoint === ENDPOINT && found.method === "feed field",
  };
  const failed = Object.entries(trials).filter(([, isRight]) => !isRight);
  for (const [what] of failed) console.log(`${name}: ${what} FAILED.`);
  if (failed.length === 0) console.log(`${name}: ${Object.keys(trials).join(", ")}: right.`);
  return failed.length;
}

async function startJetforce(folder: string): Promise<RunningServer | null> {
  const python = await pythonWith("jetforce", PACKAGES);
  if (python === null) return null;
  const port = await freePort();
  const args = ["--host", "127.0.0.1", "--port", String(port), "--dir", folder, "--hostname", "127.0.0.1"];
  const child: ChildProcess = spawn(join(python, "bin/jetforce"), args, {
    stdio: "ignore",
    env: { ...process.env, TMPDIR: folder },
  });
  const host = `127.0.0.1:${port}`;
  await listening(port);
  const url = `gemini://${host}/twtxt.txt`;
  return { name: "jetforce", url, missing: `gemini://${host}/nothing.txt`, host, end: () => void child.kill() };
}

/** It answers one request on its standard input and output, as inetd expects. */
async function startGophernicus(folder: string): Promise<RunningServer | null> {
  if (!existsSync(GOPHERNICUS)) {
    console.log("SKIPPED: gophernicus is not installed.");
    return null;
  }
  const root = join(folder, "gopher");
  mkdirSync(root);
  writeFileSync(join(root, "twtxt.txt"), FEED);
  for (const path of [folder, root]) chmodSync(path, 0o755);
  const args = ["-h", "127.0.0.1", "-r", root];
  const server = createServer((socket) => {
    const child = spawn(GOPHERNICUS, args, { stdio: ["pipe", "pipe", "ignore"], ...NOBODY });
    socket.on("error", () => {}).pipe(child.stdin.on("error", () => {}));
    child.stdout.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `gopher://${host}/0/twtxt.txt`;
  return { name: "gophernicus", url, missing: `gopher://${host}/0/nothing.txt`, host, end: () => void server.close() };
}

/** Waits until a port accepts connections. */
async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return;
    await sleep(100);
  }
  throw new Error(`Nothing listens on port ${port}.`);
}
