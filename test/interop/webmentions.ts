// test/interop/webmentions.ts: independent libraries send webmentions to our blog, and another one receives one from it.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Blog, blog, serve } from "../demo/blog.js";
import { freePorts, start, until } from "../demo/process.js";
import { check, tell } from "../demo/telling.js";
import { cache, pythonWith } from "./python.js";

const run = promisify(execFile);
const programs = fileURLToPath(new URL("webmentions", import.meta.url));
const MINUTE = 60_000;

const FROM_NPM = "send-webmention";
const VERSION = "2.0.0";
/** Includes packages that the libraries import without declaring them. */
const FROM_PYPI = {
  pywebutil: ["pywebutil==3.0", "beautifulsoup4==4.15.0"],
  ronkyuu: ["ronkyuu==0.9", "requests==2.34.2", "beautifulsoup4==4.15.0", "html5lib==1.1"],
  "indieweb-utils": ["indieweb-utils==0.10.0"],
};
const RECEIVER = ["webmentions==0.2.0", "Flask==3.1.3"];

/** Sends a webmention. @returns the output of the library */
type Sender = (source: string, target: string) => Promise<string>;

interface Listed {
  source: string;
  author: { name: string };
  text: string;
}

/** @returns the number of libraries that failed to send to our blog, or to receive from it */
export async function tryWebmentions(): Promise<number> {
  const senders = [...(await senderFromNpm()), ...(await sendersFromPypi())];
  const receiver = await pythonWith("webmentions", RECEIVER);
  const [port = 0, receiverPort = 0] = await freePorts(2);
  const alice = blog("alice", port, "node", {
    "posts/quinces.md": "---\ntitle: Quinces\ndate: 2026-10-04T07:12:30Z\n---\nThe first quinces are in.\n",
  });
  const target = `${alice.url}/posts/quinces/`;
  const bob = await bobsSite(target);
  let failures = 0;
  try {
    await alice.build();
    const hosts = [bob.host, `127.0.0.1:${receiverPort}`].flatMap((host) => ["--allow-private-host", host]);
    await serve(alice, hosts);
    for (const [name, send] of senders) {
      failures += await failuresOf(trySender(name, send, { alice, source: `${bob.url}/${name}/`, target }));
    }
    if (receiver !== null) failures += await failuresOf(tryReceiver(join(receiver, "bin/python"), receiverPort, alice));
  } finally {
    bob.close();
  }
  return failures;
}

/** Prints the error of a failed trial, so that the others still run. @returns the number of failures, 0 or 1 */
async function failuresOf(trial: Promise<void>): Promise<number> {
  try {
    await trial;
    return 0;
  } catch (error) {
    console.log(`\nFAILED: ${error}`);
    return 1;
  }
}

async function trySender(
  name: string,
  send: Sender,
  { alice, source, target }: { alice: Blog; source: string; target: string },
): Promise<void> {
  tell(`${name} sends a webmention from ${source}`);
  check((await send(source, target)).trim() === "200", "the response is 200");
  const list = await fetch(`${alice.url}/mentions.json?target=${encodeURIComponent(target)}`);
  const { mentions } = (await list.json()) as { mentions: Listed[] };
  const mention = mentions.find((one) => one.source === source);
  check(
    mention?.author.name === "Bob" && mention.text.startsWith("I like these"),
    "the mention is verified, stored and shown",
  );
}

async function tryReceiver(python: string, port: number, alice: Blog): Promise<void> {
  tell("PyPI's webmentions receives a webmention: Alice mentions a page of its site.");
  const page = `http://127.0.0.1:${port}/hens/`;
  await start(spawn(python, [join(programs, "receive.py"), String(port)]), "webmentions: ", /Running on/);
  const time = new Date(Date.now() - MINUTE).toISOString().replace(/\.\d+/, "");
  writeFileSync(join(alice.folder, "posts/hens.md"), `---\ndate: ${time}\n---\n@<hens ${page}> How are they?\n`);
  await alice.build();
  const list = `http://127.0.0.1:${port}/webmentions?direction=incoming&resource=${encodeURIComponent(page)}`;
  const received = async () => (await (await fetch(list)).json()) as { source: string }[];
  await until("the receiver has the mention", async () => (await received()).length > 0);
  const [mention] = await received();
  check(mention?.source === `${alice.url}/posts/hens/`, "it verified and stored her post as the source");
}

/** Bob's pages, one for each library, each with a link to the target. */
async function bobsSite(target: string): Promise<{ url: string; host: string; close(): void }> {
  const page = (
    path = "",
  ) => `<!doctype html><title>Bob</title><div class="h-entry"><a class="p-author h-card" href="/">Bob</a>
<p class="e-content">I like <a href="${target}">these</a>, says ${path}</p></div>\n`;
  const server = createServer(({ url }, response) => response.setHeader("content-type", "text/html").end(page(url)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}`, host, close: () => server.close() };
}

async function sendersFromPypi(): Promise<[string, Sender][]> {
  const senders: [string, Sender][] = [];
  for (const [name, packages] of Object.entries(FROM_PYPI)) {
    const folder = await pythonWith(name, packages);
    if (folder !== null) senders.push([name, sender(join(folder, "bin/python"), [join(programs, "send.py"), name])]);
  }
  return senders;
}

async function senderFromNpm(): Promise<[string, Sender][]> {
  const folder = join(cache, `${FROM_NPM}-${VERSION}`);
  if (!existsSync(join(folder, "package-lock.json"))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    try {
      await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${FROM_NPM}@${VERSION}`], {
        cwd: folder,
      });
    } catch (error) {
      console.log(`SKIPPED: ${FROM_NPM}. npm could not install it: ${Object(error).stderr}`);
      return [];
    }
  }
  return [[FROM_NPM, sender(process.execPath, [join(programs, "send.mjs"), folder])]];
}

function sender(program: string, args: string[]): Sender {
  return async (source, target) =>
    (await run(program, [...args, source, target], { timeout: MINUTE, env: process.env })).stdout;
}
