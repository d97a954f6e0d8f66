import { execFile } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { formatIdentity, parseIdentity } from "../../plugin/keys/identity-text.js";
import { filesBelow } from "../demo/letters.js";
import { describeInChromium, sharedChromium } from "../helpers/chromium.js";
import { freePort, netlifyDev, newSite, type RunningNetlify, type Site } from "./local-netlify.js";

const run = promisify(execFile);

let site: Site;
let running: RunningNetlify;
let url: string;

describeInChromium("a reader at the contact page of a site under netlify dev", () => {
  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const text = formatIdentity(new Uint8Array(32).fill(7), { address: `alice@127.0.0.1:${port}`, created: null });
    const { publicKey: key } = parseIdentity(text, "alice.key");
    site = await newSite({
      "netlify.toml": `[build]\n  publish = "_site"\n[dev]\n  framework = "#static"\n`,
      "eleventy.config.js": `import twtxt from "eleventy-plugin-twtxt";
export default (config) => config.addPlugin(twtxt, ${JSON.stringify({ url, nick: "alice", key, host: "netlify" })});
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
    await expect.poll(() => received.count(), { timeout: 120_000 }).toBe(1);
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

/** Types `eleventy-twtxt message ARGS` as alice. @returns its output */
async function typeMessage(...args: string[]): Promise<string> {
  const command = join(site.folder, "node_modules/eleventy-plugin-twtxt/dist/cli/main.js");
  const words = [command, "message", ...args, "--identity", "alice.key", "--allow-private-host", new URL(url).host];
  const env = { ...process.env, XDG_DATA_HOME: join(site.folder, "data"), NO_COLOR: "1" };
  return (await run(process.execPath, words, { cwd: site.folder, env })).stdout;
}
