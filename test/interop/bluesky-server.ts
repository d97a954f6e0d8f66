// test/interop/bluesky-server.ts: what we post is taken by Bluesky's own server (@atproto/pds, from npm).
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openAccounts } from "../../plugin/mentions/networks/accounts.js";
import { parsePostUrl } from "../../plugin/mentions/networks/bluesky.js";
import type { PostingAccount } from "../../plugin/mentions/networks/network.js";
import { PICTURE } from "../demo/files.js";
import { check } from "../demo/telling.js";
import { fakeBluesky } from "../helpers/fake-bluesky.js";
import { freePort } from "../helpers/ports.js";
import { ALT, attach, PAGE, postingParts, toCopy } from "./copies.js";

const HERE = fileURLToPath(new URL("networks", import.meta.url));
const INSTALL = ["ci", "--prefix", HERE, "--ignore-scripts", "--no-audit", "--no-fund"];

/** @returns whether it is installed; if not, after printing that the trial is skipped */
export async function installBlueskyServer(): Promise<boolean> {
  if (existsSync(join(HERE, "node_modules/@atproto/pds"))) return true;
  try {
    await promisify(execFile)("npm", INSTALL, { timeout: 300_000 });
    return true;
  } catch (error) {
    const [reason = ""] = /^npm error .*$/m.exec(String(Object(error).stderr)) ?? [String(error)];
    console.log(`SKIPPED: Bluesky's own server. npm cannot install it: ${reason}`);
    return false;
  }
}

interface RunningPds {
  url: string;
  host: string;
  did: string;
  environment: Record<string, string>;
  end(): Promise<void>;
}

export async function tryBlueskyServer(): Promise<void> {
  const pds = await startPds();
  try {
    await postTo(pds);
  } finally {
    await pds.end();
  }
}

async function startPds(): Promise<RunningPds> {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-pds-"));
  const port = await freePort();
  const args = [join(HERE, "pds.mjs"), String(port), folder];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line = "{}"] = await Promise.race([once(createInterface(child.stdout), "line"), once(child, "exit")]);
  const { did, handle, password } = Object(JSON.parse(String(line)));
  if (did === undefined) throw new Error("Bluesky's own server did not start.");
  const host = `localhost:${port}`;
  const url = `http://${host}`;
  const environment = {
    TWTXT_BLUESKY_HANDLE: handle,
    TWTXT_BLUESKY_PASSWORD: password,
    TWTXT_BLUESKY_URL: url,
  };
  return { url, host, did, environment, end: () => endPds(child, folder) };
}

async function endPds(child: ChildProcess, folder: string): Promise<void> {
  const isOver = once(child, "exit");
  child.kill("SIGKILL");
  await isOver;
  rmSync(folder, { recursive: true, force: true });
}

async function postTo(pds: RunningPds): Promise<void> {
  const view = await fakeBluesky();
  const answered = view.addPost(view.addActor("bob.example"), "Any quinces left?");
  const open = (change: Record<string, string> = {}): PostingAccount => {
    const [account] = openAccounts({ ...pds.environment, ...change }, postingParts(pds, view));
    if (!account) throw new Error("There is no account.");
    return account;
  };
  const account = open();
  check((await account.check()).account.endsWith("/alice.test"), "we sign in with an app password");
  check((await account.find(PAGE)) === null, "nothing is found before it is posted");

  const posted = await account.post({ ...toCopy(PAGE), lang: "de", attach });
  const found = await account.find(PAGE);
  check(
    JSON.stringify(found) === JSON.stringify(posted),
    "a record under our key is posted, and found by its permalink",
  );
  await account.post({ ...toCopy(PAGE), lang: "de", attach });
  const [record, ...others] = await listRecords(pds);
  check(record !== undefined && others.length === 0, "posted again, it is the same record");
  const [image] = record?.embed?.images ?? [];
  const picture = await readBlob(pds, image?.image.ref.$link ?? "");
  check(picture.equals(PICTURE) && image?.alt === ALT, "its picture is read back, with its description");

  const replyTo = parsePostUrl(answered.uri)?.url;
  await account.post({ ...toCopy(`${PAGE}b/`), replyTo });
  await account.post({
    ...toCopy(`${PAGE}c/`, "👨‍👩‍👧‍👦 ".repeat(400)),
    attach,
    title: "Quitten",
  });
  check((await listRecords(pds)).length === 3, "the server takes an answer, and a text that is cut, with a card");
  await account.delete(posted);
  check((await open().find(PAGE)) === null, "a deleted record is gone");
  await account.delete(posted);
  const wrong = open({ TWTXT_BLUESKY_PASSWORD: "aaaa-bbbb-cccc-dddd" });
  const refusal = await wrong.check().catch(String);
  check(
    String(refusal).includes("Invalid identifier or password"),
    "a wrong password is refused in the server's words",
  );
}

interface PostRecord {
  embed?: { images?: { alt: string; image: { ref: { $link: string } } }[] };
}

async function listRecords({ url, did }: RunningPds): Promise<PostRecord[]> {
  const query = new URLSearchParams({ repo: did, collection: "app.bsky.feed.post" });
  const response = await fetch(`${url}/xrpc/com.atproto.repo.listRecords?${query}`);
  const { records } = Object(await response.json());
  return records.map(({ value }: { value: PostRecord }) => value);
}

async function readBlob({ url, did }: RunningPds, cid: string): Promise<Buffer> {
  const response = await fetch(`${url}/xrpc/com.atproto.sync.getBlob?${new URLSearchParams({ did, cid })}`);
  return Buffer.from(await response.arrayBuffer());
}
