// test/interop/python-people.ts: a blogger with the plugin, and a reader with the Python client.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Blog, blog, serve } from "../demo/blog.js";
import { addressOf, fileOf, makeKey } from "../demo/letters.js";
import { freePorts, start } from "../demo/process.js";
import { tell } from "../demo/telling.js";

const run = promisify(execFile);
const program = fileURLToPath(new URL("client", import.meta.url));
/** One of them has an offset, which the reference to the twt includes. */
export const BOBS_TWTS = ["2026-11-20T09:30:00Z", "2026-11-20T11:30:00+01:00"];

/** A message, blob or mention as a program prints it in JSON. */
export type Printed = Record<string, unknown>;

/** Alice has a blog and uses the commands. Bob uses the Python client; his inbox and his blobs are on Alice's blog. */
export interface People {
  alice: Blog;
  /** Bob's address and feed are on his own host. */
  bobsHost: string;
  bobsAddress: string;
  bobsKeyFile: string;
  /** Runs a command of the plugin with the key in a file. */
  command(keyFile: string, ...args: string[]): Promise<Printed[]>;
  /** Runs the Python client as Bob. */
  asBob(...args: string[]): Promise<Printed[]>;
}

/** @param python - the interpreter, with the packages of the client */
export async function startBoth(python: string): Promise<People> {
  tell("Bob has a client in Python, an address on his own host, and an inbox on Alice's blog.");
  const [port = 0, bobsPort = 0] = await freePorts(2);
  const alice = blog("alice", port, "node", {
    "posts/quinces.md": "---\ntitle: Quinces\ndate: 2026-10-04T07:12:30Z\n---\nRipe.\n",
  });
  const bobsHost = `127.0.0.1:${bobsPort}`;
  const bobsAddress = `bob@${bobsHost}`;
  const bobsKeyFile = fileOf(alice, "bob");
  const hosts = [new URL(alice.url).host, bobsHost].flatMap((host) => ["--allow-private-host", host]);
  const common = [program, "--identity", bobsKeyFile, "--site", alice.url, ...hosts];
  const options = { cwd: alice.folder, env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" } };
  const asBob = async (...args: string[]) => {
    const { stdout } = await run(python, [...common, ...args], { ...options, timeout: 60_000 });
    return listOf(JSON.parse(stdout));
  };

  const key = await makeKey(alice, "first");
  const [bob] = await asBob("create", bobsAddress);
  const authors = [{ user: "bob", key: bob?.key }];
  alice.configure({ address: addressOf(alice), key, authors, blobs: true, mentions: { comments: true } });
  await alice.build();
  // All programs have the same network address, so they would share its rate limit.
  await serve(alice, [...hosts, "--rate-limit", "0"]);
  const folder = feedOfBob(alice, bobsHost);
  const host = [...common, "host", folder, `${alice.url}/inbox/bob`, "--port", String(bobsPort)];
  await start(spawn(python, host, options), "bob: ", /twtxt\.txt/);
  const command = async (keyFile: string, ...args: string[]) =>
    listOf(await alice.ask([...args, "--identity", keyFile, ...hosts]));
  return { alice, bobsHost, bobsAddress, bobsKeyFile, command, asBob };
}

/** @returns the folder that Bob's host serves */
function feedOfBob({ folder, feedUrl }: Blog, host: string): string {
  const served = join(folder, "bobs-host");
  mkdirSync(served);
  const twts = BOBS_TWTS.map((time) => `${time}\t@<alice ${feedUrl}> hello\n`);
  writeFileSync(join(served, "twtxt.txt"), `# nick = bob\n# url = http://${host}/twtxt.txt\n\n${twts.join("")}`);
  return served;
}

function listOf(printed: unknown): Printed[] {
  return Array.isArray(printed) ? printed : [Object(printed)];
}
