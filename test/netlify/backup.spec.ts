// test/netlify/backup.spec.ts: backup and restore of a blog under `netlify dev`, with the packaged command.
import { execFile } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { formatIdentity } from "../../plugin/keys/node-identity.js";
import { identityOf } from "../helpers/identity.js";
import { freePort } from "../helpers/ports.js";
import { devSite, netlifyDev, type RunningNetlify, type Site } from "./local-netlify.js";

const COMMAND = "node_modules/eleventy-plugin-twtxt/dist/cli/main.js";
const run = promisify(execFile);

let alice: Site;
let running: RunningNetlify;

beforeAll(async () => {
  const port = await freePort();
  const options = { url: `http://localhost:${port}`, nick: "alice", key: identityOf(2).publicKey, blobs: true };
  alice = await devSite(options, "---\ndate: 2026-01-02T03:04:05Z\n---\nHello\n");
  const address = `alice@localhost:${port}`;
  alice.write({
    "alice.key": formatIdentity(new Uint8Array(32).fill(2), { address, created: null }),
    "q.txt": "quinces",
  });
  chmodSync(join(alice.folder, "alice.key"), 0o600);
  running = await netlifyDev(alice, port, {});
  await run("npx", ["@11ty/eleventy", "--quiet"], { cwd: alice.folder });
});
afterAll(async () => {
  await running?.stop();
  alice?.remove();
});

async function type(...args: string[]): Promise<string> {
  const environment = { ...process.env, XDG_DATA_HOME: join(alice.folder, "data") };
  const words = [join(alice.folder, COMMAND), ...args, "--identity", "alice.key"];
  const { stdout, stderr } = await run(process.execPath, words, { cwd: alice.folder, env: environment });
  return stdout + stderr;
}

it("a blog on Netlify is backed up, and restored after all was deleted", async () => {
  await type("blob", "put", "q.txt", "--public", "--key", "q.txt");
  const shared = `${running.url}/shared/${identityOf(2).publicKey}/q.txt`;
  expect(await (await fetch(shared)).text()).toBe("quinces");
  expect(await type("backup", "alice.tar.gz", "--url", running.url)).toContain("read again and compared.");
  expect(readFileSync(join(alice.folder, "alice.tar.gz")).length).toBeGreaterThan(100);
  await type("blob", "rm", "q.txt");
  expect((await fetch(shared)).status).toBe(404);
  expect(await type("restore", "alice.tar.gz", "--url", running.url, "--force")).toContain("Restored into the site at");
  expect(await (await fetch(shared)).text()).toBe("quinces");
  expect(await type("send", "--list", "--url", running.url)).toContain("No mentions were sent yet.");
});
