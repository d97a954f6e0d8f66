// build/start/main.ts: `npm start`: builds the example from source, serves it and a second blog, and lets them exchange mentions.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Blog, ROOT } from "./blog.js";
import { firstDay } from "./first-day.js";

const FIRST_PORT = 8080;
const LAST_PORT = 8099;
/** Ignored by git, and made anew by each start. */
const FOLDER = join(ROOT, ".cache/start");
/** Bob's address in the sources of the example. */
const EXAMPLE_OF_BOB = "https://bob.example";

const [alicePort, bobPort] = await freePorts();
const alice = blogAt("alice", alicePort, bobPort, ".eleventy.ts");
const bob = blogAt("bob", bobPort, alicePort, "build/start/bob/eleventy.config.ts");
cpSync(join(ROOT, "site-example"), join(alice.folder, "site-example"), { recursive: true });
cpSync(join(ROOT, "build/start/bob"), bob.folder, { recursive: true, filter: (file) => !file.endsWith(".ts") });
nameBob(join(alice.folder, "site-example/posts"));

let isEnding = false;
const keepsRunning = setInterval(() => {}, 60_000);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end(0));
try {
  const conversation = await firstDay(alice, bob);
  console.log(`
Alice's blog   ${alice.url}/
  feed         ${alice.feedUrl}
  mentions     ${alice.url}/mentions/
  conversation ${alice.url}${conversation}, with a picture from a blob
  contact      ${alice.url}/contact/
Bob's blog     ${bob.url}/

Both are in ${FOLDER}. Ctrl-C ends them.`);
} catch (error) {
  if (!isEnding) {
    console.error((error as Error).message);
    await end(1);
  }
}

async function end(exitCode: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await Promise.all([alice.end(), bob.end()]);
  clearInterval(keepsRunning);
  // Private keys are in there.
  rmSync(FOLDER, { recursive: true, force: true });
  process.exit(exitCode);
}

function blogAt(nick: string, port: number, neighbourPort: number, config: string): Blog {
  const folder = join(FOLDER, nick);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return new Blog({ nick, port, folder, neighbourPort, config: join(ROOT, config) });
}

/** Here, Bob's blog is on this machine: links and mentions in Alice's posts lead there. */
function nameBob(folder: string): void {
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".md"))) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(EXAMPLE_OF_BOB, bob.url));
  }
}

async function freePorts(): Promise<[number, number]> {
  const free: number[] = [];
  for (let port = FIRST_PORT; port <= LAST_PORT; port += 1) {
    if (await isFree(port)) free.push(port);
    const [first, second] = free;
    if (first !== undefined && second !== undefined) return [first, second];
  }
  console.error(`Two ports from ${FIRST_PORT} to ${LAST_PORT} must be free, and are not.`);
  process.exit(1);
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.on("error", () => resolve(false));
    server.listen(port, "localhost", () => server.close(() => resolve(true)));
  });
}
