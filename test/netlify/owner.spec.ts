import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { formatIdentity, type Identity, parseIdentity } from "../../plugin/keys/identity-text.js";
import { filesBelow } from "../demo/letters.js";
import { describeInChromium, sharedChromium } from "../helpers/chromium.js";
import { identityOf } from "../helpers/identity.js";
import { freePort, netlifyDev, newSite, type RunningNetlify, type Site } from "./local-netlify.js";

const run = promisify(execFile);
const MIB = 2 ** 20;
const EVE = identityOf(randomBytes(32));

let alice: Identity;
let site: Site;
let running: RunningNetlify;
let url: string;

// One site for all tests: starting Netlify's command line and bundling its functions takes longer than the tests.
beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const text = formatIdentity(new Uint8Array(32).fill(7), { address: `alice@127.0.0.1:${port}`, created: null });
  alice = parseIdentity(text, "alice.key");
  const options = { url, nick: "alice", key: alice.publicKey, blobs: true, host: "netlify" };
  site = await newSite({
    "netlify.toml": `[build]\n  publish = "_site"\n[dev]\n  framework = "#static"\n`,
    "eleventy.config.js": `import twtxt from "eleventy-plugin-twtxt";
export default (config) => config.addPlugin(twtxt, ${JSON.stringify(options)});
`,
    "index.md": "hello",
    "alice.key": text,
  });
  chmodSync(join(site.folder, "alice.key"), 0o600);
  await run(process.execPath, [join(site.folder, "node_modules/@11ty/eleventy/cmd.cjs"), "--quiet"], {
    cwd: site.folder,
  });
  running = await netlifyDev(site, port, {});
});
afterAll(async () => {
  await running?.stop();
  site?.remove();
});

describeInChromium("a reader at the contact page of a site under netlify dev", () => {
  it("writes, reads the answer live and after a reload, and forgets everything", async () => {
    const page = await (await sharedChromium()).newPage();
    await page.goto(`${url}/contact/`);
    await page.getByLabel("Your message").fill("Are you there?");
    await page.getByLabel("Your name (optional)").fill("Dana");
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => page.locator(".twtxt-sent").count()).toBe(1);
    await expect.poll(() => page.locator(".twtxt-sent .twtxt-note").count()).toBe(0);

    const [message] = JSON.parse(await typeMessage("list", "--json"));
    expect(message).toMatchObject({ text: "Are you there?", name: "Dana", guest: true });
    await typeMessage("reply", message.id, "Yes!");
    const received = page.locator(".twtxt-received");
    await expect.poll(() => received.count()).toBe(1);
    await page.reload();
    await expect.poll(() => received.textContent()).toContain("Yes!");

    const stored = filesBelow(join(site.folder, ".netlify")).map((file) => readFileSync(file, "latin1"));
    expect(stored.some((text) => text.includes("BEGIN SALTPACK ENCRYPTED MESSAGE"))).toBe(true);
    for (const word of ["Are you there?", "Dana"]) expect(stored.some((text) => text.includes(word))).toBe(false);

    page.on("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Forget this conversation" }).click();
    await expect.poll(() => page.getByRole("status").textContent()).toBe("The conversation is forgotten.");
    expect(await page.evaluate("indexedDB.databases()")).toEqual([]);
  });
});

describe("blobs under netlify dev", () => {
  it("201, 200: stores up to 4 MiB, and returns it whole and in ranges", async () => {
    const contents = randomBytes(4 * MIB);
    const put = await ask("PUT", "large", { "content-type": "image/jpeg", "blob-public": "?1" }, contents);
    expect([put.status, await put.json()]).toMatchObject([201, { size: 4 * MIB, sha256: sha256(contents) }]);

    const got = await ask("GET", "large");
    expect(sha256(Buffer.from(await got.arrayBuffer()))).toBe(sha256(contents));
    const shared = await fetch(sharedUrl("large"), { headers: { range: "bytes=100-199" } });
    expect([shared.status, shared.headers.get("content-range")]).toEqual([206, `bytes 100-199/${4 * MIB}`]);
    expect(Buffer.from(await shared.arrayBuffer()).equals(contents.subarray(100, 200))).toBe(true);
  });

  it("413: refuses a larger one", async () => {
    const put = await ask("PUT", "larger", { "content-type": "image/png" }, Buffer.alloc(4 * MIB + 1));
    expect([put.status, await put.json()]).toMatchObject([413, { code: "body-too-large" }]);
    expect((await ask("HEAD", "larger")).status).toBe(404);
  });

  it("404: a blob that is made private is gone at once, and back when it is public again", async () => {
    await ask("PUT", "page", { "content-type": "text/plain", "blob-public": "?1" }, Buffer.from("hello"));
    expect(await (await fetch(sharedUrl("page"))).text()).toBe("hello");
    const change = (isPublic: boolean) =>
      ask("POST", "page", { "content-type": "application/json" }, Buffer.from(JSON.stringify({ public: isPublic })));
    expect(await (await change(false)).json()).toMatchObject({ Public: false, shared: null });
    expect((await fetch(sharedUrl("page"))).status).toBe(404);
    expect(await (await change(true)).json()).toMatchObject({ Public: true, shared: sharedUrl("page") });
    expect((await fetch(sharedUrl("page"))).status).toBe(200);
    expect((await ask("DELETE", "page")).status).toBe(200);
    expect((await fetch(sharedUrl("page"))).status).toBe(404);
  });

  it("401, 403: refuses requests without the key of an owner", async () => {
    await ask("PUT", "mine", { "content-type": "image/png" }, Buffer.from("mine"));
    const answers = ["mine", "nothing"].map(async (key) => {
      const [unsigned, byEve] = await Promise.all([fetch(urlOf(key)), ask("GET", key, {}, undefined, EVE)]);
      return [unsigned.status, await unsigned.text(), byEve.status, await byEve.text()];
    });
    const [there, absent] = await Promise.all(answers);
    expect(there).toEqual(absent);
    expect(there).toMatchObject([401, expect.any(String), 403, expect.any(String)]);
  });

  it("lists the blobs", async () => {
    const { blobs } = (await (await ask("GET", "")).json()) as { blobs: { key: string }[] };
    expect(blobs.map(({ key }) => key).sort()).toEqual(["large", "mine"]);
  });
});

/** Types `eleventy-twtxt message ARGS` as alice. @returns its output */
async function typeMessage(...args: string[]): Promise<string> {
  const command = join(site.folder, "node_modules/eleventy-plugin-twtxt/dist/cli/main.js");
  const words = [command, "message", ...args, "--identity", "alice.key", "--allow-private-host", new URL(url).host];
  const env = { ...process.env, XDG_DATA_HOME: join(site.folder, "data"), NO_COLOR: "1" };
  return (await run(process.execPath, words, { cwd: site.folder, env })).stdout;
}

function ask(method: string, key: string, headers: Record<string, string> = {}, body?: Buffer, by = alice) {
  const unsigned = { method, url: urlOf(key), headers, ...(body && { body }) };
  const signed = signRequest(unsigned, by, Date.now());
  return fetch(unsigned.url, { method, headers: signed, ...(body && { body: new Uint8Array(body) }) });
}

function urlOf(key: string): string {
  return `${url}/api/v1/blob${key && `/${key}`}`;
}

function sharedUrl(key: string): string {
  return `${url}/shared/${alice.publicKey}/${key}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
