// site-example/start/main.ts: `npm start`: builds and serves the example and a second blog from source, which exchange mentions.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Blog, ROOT } from "./blog.js";
import { firstDay, THREAD } from "./first-day.js";
import { type HeldPort, holdPorts } from "./held-port.js";

const FIRST_PORT = 8080;
const LAST_PORT = 8099;
/** The folder of the blogs: ignored by git, and recreated by each start. */
const FOLDER = join(ROOT, ".cache/start");
/** Bob's URL in the sources of the example. */
const BOB_IN_EXAMPLE = "https://bob.example";

const [alicePort, bobPort] = await chooseTwoPorts();
const alice = createBlog("alice", alicePort, bobPort, ".eleventy.ts");
const bob = createBlog("bob", bobPort, alicePort, "site-example/start/bob/eleventy.config.ts");
const example = join(ROOT, "site-example");
const start = join(example, "start");
cpSync(example, join(alice.folder, "site-example"), { recursive: true, filter: (file) => file !== start });
cpSync(join(start, "bob"), bob.folder, { recursive: true, filter: (file) => !file.endsWith(".ts") });
replaceBobsUrl(join(alice.folder, "site-example/posts"));

let isStopping = false;
const keepsRunning = setInterval(() => {}, 60_000);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop(0));
try {
  const conversation = await firstDay(alice, bob);
  const client = await alice.startClient();
  console.log(`
Alice's blog   ${alice.url}/
  feed         ${alice.feedUrl}
  mentions     ${alice.url}/mentions/
  conversation ${alice.url}${conversation}, with a picture from a blob
    its start  ${alice.url}${THREAD}
  contact      ${alice.url}/contact/
  client       ${client}
               what Alice sees: timeline, messages, mentions. The link works once; another browser gets one here.
Bob's blog     ${bob.url}/

Both are in ${FOLDER}. Ctrl-C stops them.`);
} catch (error) {
  if (!isStopping) {
    console.error((error as Error).message);
    await stop(1);
  }
}

async function stop(exitCode: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await Promise.all([alice.stop(), bob.stop()]);
  clearInterval(keepsRunning);
  // The folder contains private keys.
  rmSync(FOLDER, { recursive: true, force: true });
  process.exit(exitCode);
}

function createBlog(nick: string, port: HeldPort, neighbour: HeldPort, config: string): Blog {
  const folder = join(FOLDER, nick);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return new Blog({ nick, port, folder, neighbourPort: neighbour.port, config: join(ROOT, config) });
}

/** Replaces Bob's URL in Alice's posts with that of his blog on this machine. */
function replaceBobsUrl(folder: string): void {
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".md"))) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(BOB_IN_EXAMPLE, bob.url));
  }
}

async function chooseTwoPorts(): Promise<[HeldPort, HeldPort]> {
  try {
    const [first, second] = await holdPorts(2, FIRST_PORT, LAST_PORT);
    if (first && second) return [first, second];
  } catch (error) {
    console.error((error as Error).message);
  }
  process.exit(1);
}
