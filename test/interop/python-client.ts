// test/interop/python-client.ts: the client in Python, which keeps to docs/protocol.md, against `eleventy-twtxt serve`.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Blog, blog, serve } from "../demo/blog.js";
import { addressOf, fileOf, makeKey } from "../demo/letters.js";
import { freePorts } from "../demo/process.js";
import { check, tell } from "../demo/telling.js";
import { pythonWith } from "./python.js";

const run = promisify(execFile);
const program = fileURLToPath(new URL("client", import.meta.url));
const PACKAGES = ["msgpack==1.2.4", "PyNaCl==1.6.2"];

const PICTURE = Uint8Array.from({ length: 3000 }, (_, index) => index % 251);
const LETTER = "Dear Bob,\nthe quinces are in.\n";
const QUESTION = "See you at nine?\nI bring the bread.";

/** What a program prints of a blob or a message. */
type Printed = Record<string, unknown>;

/** Alice uses the commands, Bob the Python client. Both have an address at Alice's blog. */
interface People {
  alice: Blog;
  bobsAddress: string;
  /** Runs a command of the plugin as Alice. */
  asAlice(command: string[]): Promise<Printed[]>;
  /** Runs the Python client as Bob. */
  asBob(...args: string[]): Promise<Printed[]>;
}

/** @returns 0; a failure is thrown */
export async function tryPythonClient(): Promise<number> {
  const python = await pythonWith("client", PACKAGES);
  if (python === null) return 0;
  const people = await start(join(python, "bin/python"));
  await messages(people);
  await ownBlobs(people);
  await sealedBlobs(people);
  return 0;
}

async function start(python: string): Promise<People> {
  tell("Bob has a client in Python, which keeps to docs/protocol.md, and an address at Alice's blog.");
  const [port = 0] = await freePorts(1);
  const alice = blog("alice", port, "node", {});
  const bobsAddress = addressOf({ ...alice, nick: "bob" });
  const key = await makeKey(alice, "first");
  const bob = { user: "bob", key: await makeKey(alice, "bob", bobsAddress) };
  alice.configure({ address: addressOf(alice), key, authors: [bob], blobs: true });
  await alice.build();
  const hosts = ["--allow-private-host", new URL(alice.url).host];
  await serve(alice, hosts);
  return {
    alice,
    bobsAddress,
    asAlice: async (command) => listOf(await alice.ask([...command, "--identity", fileOf(alice, "first"), ...hosts])),
    async asBob(...args) {
      const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
      const options = { cwd: alice.folder, env: environment, timeout: 60_000 };
      const { stdout } = await run(python, [program, "--identity", fileOf(alice, "bob"), ...args], options);
      return listOf(JSON.parse(stdout));
    },
  };
}

async function messages({ alice, bobsAddress, asAlice, asBob }: People): Promise<void> {
  const [sent] = await asBob("send", addressOf(alice), QUESTION);
  const [question] = await asAlice(["message", "list"]);
  check(question?.text === QUESTION && question.trust === "verified", "Alice reads what he sent, verified");
  check(question?.hash === sent?.hash, "it has the hash that he computed");

  await alice.type(["eleventy-twtxt", "message", "send", bobsAddress, QUESTION, ...flagsOf(alice)]);
  const [answer] = await asBob("read", "--receipts");
  check(answer?.text === QUESTION && answer.verified === true, "Bob reads what she sent, verified");
  const receipt = (await asAlice(["message", "list"])).at(-1);
  check(Object(receipt?.receipts).length === 1, "his read receipt names her message");
}

async function ownBlobs({ alice, asAlice, asBob }: People): Promise<void> {
  writeFileSync(join(alice.folder, "picture.png"), PICTURE);
  const [put] = await asBob("put", "picture.png", "--type", "image/png", "--key", "picture.png");
  check(put?.shared === null && put.key === "picture.png", "Bob puts a private blob");
  const [shared] = await asBob("share", "picture.png");
  await asAlice(["blob", "get", String(shared?.shared), "-o", "from-bob.png"]);
  const isSame = readFileSync(join(alice.folder, "from-bob.png")).equals(PICTURE);
  check(isSame, "he shares it; Alice gets it, byte for byte and with a right proof");
}

async function sealedBlobs({ alice, bobsAddress, asAlice, asBob }: People): Promise<void> {
  writeFileSync(join(alice.folder, "letter.txt"), LETTER);
  const [put] = await asBob("put", "letter.txt", "--type", "text/plain", "--public", "--to", addressOf(alice));
  await asAlice(["blob", "get", String(put?.shared), "-o", "to-alice.txt"]);
  check(readFileSync(join(alice.folder, "to-alice.txt"), "utf8") === LETTER, "Alice opens what he sealed for her");

  const [sealed] = await asAlice(["blob", "put", "letter.txt", "--public", "--encrypt", "--to", bobsAddress]);
  const [opened] = await asBob("get", String(sealed?.shared), "-o", "to-bob.txt");
  check(readFileSync(join(alice.folder, "to-bob.txt"), "utf8") === LETTER, "Bob opens what she sealed for him");
  check(
    opened?.filename === "letter.txt" && opened.signer === opened.owner,
    "he sees its name, and that its owner sealed it",
  );
}

function flagsOf(alice: Blog): string[] {
  return ["--identity", fileOf(alice, "first"), "--allow-private-host", new URL(alice.url).host];
}

function listOf(printed: unknown): Printed[] {
  return Array.isArray(printed) ? printed : [Object(printed)];
}
