import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loopbackServer } from "../helpers/loopback.js";
import { freePort } from "../helpers/ports.js";
import { FEED, feedServer, PAGE, PAGES, settingsOf, TWT } from "../helpers/receiver.js";
import { command, testTerminal } from "./helpers.js";
import { runCommandLine } from "./run-command-line.js";
import { serve, site } from "./server.js";

const AT = "2026-11-19T18:40:02Z";
const HELLO = `@<alice ${FEED}> hello`;
const data = mkdtempSync(join(tmpdir(), "twtxt-data-"));
const environment = { XDG_DATA_HOME: data };
/** The default path of Alice's key. */
const KEY_FILE = join(data, "eleventy-twtxt/keys/alice@alice.example.key");

afterAll(() => rmSync(data, { recursive: true }));

let key: string | null = null;

/** Alice's key, stored in a file as on a machine without a keychain. */
async function keyOfAlice(): Promise<string> {
  key ??= (await command(data, ["keys", "create", "alice@alice.example", "--file", KEY_FILE])).stdout.trim();
  return key;
}

/** Alice's site, where the second mention of a host is held. `type` runs `eleventy-twtxt mentions ARGS`. */
async function alice({ moderate = false } = {}) {
  const bob = await feedServer({ [AT]: HELLO, "2026-11-19T18:40:03Z": `${HELLO} again` });
  const mentions = { moderate, limits: { shownPerHost: 1 } };
  const pages = { ...PAGES, titles: { [PAGE]: "Quinces" } };
  const settings = site(settingsOf({ key: await keyOfAlice(), mentions }), pages);
  const port = await freePort();
  const server = await serve(settings, [
    ...["--allow-private-host", bob.host],
    ...["--port", String(port), "--url", `http://127.0.0.1:${port}`],
  ]);
  const send = (timestamp: string) =>
    fetch(`${server.url}/webmention`, {
      method: "POST",
      body: new URLSearchParams({ source: bob.twt(timestamp), target: FEED }),
    });
  const shown = async () => Object(await (await fetch(`${server.url}/mentions.json`)).json()).mentions;
  const type = (...args: string[]) =>
    command(settings.folder, ["mentions", ...args, "--url", server.url], { environment });
  return { bob, settings, server, send, shown, type };
}

describe("eleventy-twtxt mentions", () => {
  it("lists, approves, rejects and forgets", async () => {
    const { bob, send, shown, type } = await alice();
    for (const timestamp of [AT, "2026-11-19T18:40:03Z"]) expect((await send(timestamp)).status).toBe(200);

    const held = await type("--state", "held");
    expect((await type()).stderr).toBe("1 shown. 1 held for your approval: eleventy-twtxt mentions --state held\n");
    const [listed = "", id = ""] = /^([0-9a-f]{8})\.[0-9a-f]{8}(?= {2}\S+ {2}bob {2})/.exec(held.stdout) ?? [];
    expect(held).toMatchObject({
      exitCode: 0,
      stderr: `1 held. To show one: eleventy-twtxt mentions approve ${listed}\n`,
    });
    expect(held.stdout).toContain(`  bob  mentioned you  ${bob.twt("2026-11-19T18:40:03Z")}  "`);
    expect((await type("--state", "pending")).stderr).toBe("0 pending. Other states: --state shown, held, rejected.\n");

    expect((await type("approve", listed)).stderr).toContain(`Approved: ${listed}`);
    expect(await shown()).toHaveLength(2);
    expect((await type("hold", listed)).stderr).toContain(`Held again: ${listed}`);
    expect(await shown()).toHaveLength(1);
    expect((await type("approve", listed)).exitCode).toBe(0);
    expect(await type("reject", id)).toMatchObject({ exitCode: 0 });
    expect(await shown()).toHaveLength(1);
    expect(JSON.parse((await type("--state", "rejected", "--json")).stdout)).toMatchObject([
      { id: expect.stringMatching(`^${id}`), state: "rejected" },
    ]);

    expect((await type("block", id)).stderr).toBe("Blocked. 1 rejected.\n");
    expect((await send(AT)).status).toBe(400);
    expect((await type("blocked")).stdout).toBe("127.0.0.1\n");
    expect((await type("unblock", "127.0.0.1")).exitCode).toBe(0);
    expect((await send(AT)).status).toBe(200);

    const all = JSON.parse((await type("export")).stdout).mentions;
    expect(all).toHaveLength(2);
    expect((await type("forget", bob.feedUrl, "--yes")).stderr).toBe("2 deleted.\n");
    expect(await shown()).toEqual([]);
    expect(await type("forget", bob.feedUrl, "--yes")).toMatchObject({ exitCode: 1, stderr: "0 deleted.\n" });
  });

  it("names the post that a reply is about by its title", async () => {
    const { bob, send, type } = await alice();
    bob.twts[AT] = `(#${TWT.hashes[1]}) ${HELLO}`;
    await send(AT);
    expect((await type()).stdout).toContain(`  bob  replied to "Quinces"  ${bob.twt(AT)}  "`);
  });

  it("deletes all mentions of a host only after a confirmation, or with --yes", async () => {
    const { bob, send, settings, server, shown, type } = await alice();
    expect((await send(AT)).status).toBe(200);
    const { hostname } = new URL(bob.feedUrl);
    expect(await type("forget", hostname)).toMatchObject({
      exitCode: 2,
      stderr: `eleventy-twtxt: mentions: this deletes all mentions from ${hostname} for good. To confirm, type: eleventy-twtxt mentions forget ${hostname} --yes\n`,
    });

    const questions: string[] = [];
    const answeringTerminal = (answer: string | null) => ({
      ...testTerminal(settings.folder, new Date().toISOString(), null, true),
      environment,
      ask: async (question: string) => {
        questions.push(question);
        return answer;
      },
    });
    for (const answer of ["", "n", "yesterday", null]) {
      const terminal = answeringTerminal(answer);
      expect(await runCommandLine(["mentions", "forget", hostname, "--url", server.url], terminal)).toBe(1);
      expect(terminal.stderr).toEqual(["Nothing was deleted."]);
    }
    expect(await shown()).toHaveLength(1);
    expect(new Set(questions)).toEqual(new Set([`Delete all mentions from ${hostname} for good? [y/N] `]));
    const terminal = answeringTerminal("y");
    expect(await runCommandLine(["mentions", "forget", hostname, "--url", server.url], terminal)).toBe(0);
    expect(terminal.stderr).toEqual(["1 deleted."]);
    expect(await shown()).toEqual([]);
  });

  it("exit 1: does not approve a mention that has changed since it was listed, but prints its new version", async () => {
    const { bob, send, shown, type } = await alice();
    for (const timestamp of [AT, "2026-11-19T18:40:03Z"]) await send(timestamp);
    const [listed = ""] = (await type("--state", "held")).stdout.split(" ");
    bob.twts = { ...bob.twts, "2026-11-19T18:40:03Z": `${HELLO}, and other words` };
    await send("2026-11-19T18:40:03Z");

    const approved = await type("approve", listed);
    expect(approved).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("has changed since it was listed") });
    expect(approved.stderr).toContain("and other words");
    expect(await shown()).toHaveLength(1);
  });

  it("exit 1: with the option moderate, does not approve by an id without a version, but prints the listed line", async () => {
    const { send, shown, type } = await alice({ moderate: true });
    expect((await send(AT)).status).toBe(200);
    const { stdout } = await type("--state", "held");
    const [listed = ""] = stdout.split(" ");

    expect(await type("approve", listed.slice(0, 8))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/If you have read this one, type [0-9a-f.]+: .*\n$/),
    });
    expect((await type("approve", listed.slice(0, 8))).stderr).toContain(stdout.trim());
    expect(await shown()).toEqual([]);
    expect((await type("approve", listed)).exitCode).toBe(0);
    expect(await shown()).toHaveLength(1);
  });

  it("verifies pending mentions", async () => {
    const { bob, send, shown, type } = await alice();
    bob.status = 500;
    expect((await send(AT)).status).toBe(202);
    expect((await type("--state", "pending")).stdout).toContain(bob.twt(AT));
    bob.status = 200;
    expect((await type("verify")).stderr).toBe("1 verified, 0 dropped, 0 still pending.\n");
    expect(await shown()).toHaveLength(1);
  });

  it("imports an export of webmention.io, and its own export", async () => {
    const { settings, shown, type } = await alice();
    const entry = {
      "wm-source": "https://brid.gy/1",
      "wm-target": PAGE,
      "wm-property": "like-of",
      "wm-received": "2024-03-02T09:05:00Z",
      author: { name: "Bob", url: "https://bob.example/" },
      url: "https://bob.example/like",
    };
    const foreign = { ...entry, "wm-target": "https://elsewhere.example/" };
    writeFileSync(join(settings.folder, "wm.json"), JSON.stringify({ children: [entry, foreign] }));
    expect((await type("import", "wm.json")).stderr).toContain(
      "wm.json: 1 imported, 1 skipped: their targets are not pages of this site, nor of the option mentions.aliases.\n",
    );
    expect(await shown()).toMatchObject([
      { source: "https://brid.gy/1", url: "https://bob.example/like", type: "like" },
    ]);

    writeFileSync(join(settings.folder, "own.json"), (await type("export")).stdout);
    await type("forget", "brid.gy", "--yes");
    expect(await shown()).toEqual([]);
    expect(await type("import", "own.json")).toMatchObject({ exitCode: 0 });
    expect(await shown()).toMatchObject([
      { source: "https://brid.gy/1", url: "https://bob.example/like", received: "2024-03-02T09:05:00.000Z" },
    ]);
  });

  it("lists the newest 50, and all of them with --all", async () => {
    const { settings, type } = await alice();
    const entry = { "wm-target": PAGE, "wm-property": "like-of" };
    const children = Array.from({ length: 51 }, (_, n) => ({ ...entry, "wm-source": `https://brid.gy/${n}` }));
    writeFileSync(join(settings.folder, "wm.json"), JSON.stringify({ children }));
    await type("import", "wm.json");
    const { stdout, stderr } = await type();
    expect(stdout.trim().split("\n")).toHaveLength(50);
    expect(stderr).toBe("51 shown, the newest 50 listed. All: eleventy-twtxt mentions --state shown --all.\n");
    expect((await type("--all")).stdout.trim().split("\n")).toHaveLength(51);
  });

  it("imports a file that begins with a byte order mark and has a time in the future", async () => {
    const { settings, shown, type } = await alice();
    const entry = { "wm-source": "https://brid.gy/1", "wm-target": PAGE, "wm-property": "like-of" };
    const late = { ...entry, "wm-source": "https://brid.gy/2", "wm-received": "2099-01-01T00:00:00Z" };
    writeFileSync(join(settings.folder, "wm.json"), `\uFEFF${JSON.stringify({ children: [entry, late] })}`);
    expect((await type("import", "wm.json")).stderr).toContain(
      "wm.json: 2 imported, 1 with a time in the future, stored with the present time.\n",
    );
    expect(await shown()).toHaveLength(2);
  });

  it("imports a list that another program wrote, without ids and versions", async () => {
    const { settings, shown, type } = await alice();
    const author = { name: "Bob", url: "https://bob.example/", photo: null };
    const time = "2024-03-02T09:05:00.000Z";
    const source = "https://bob.example/like";
    const mention = { source, target: PAGE, type: "like", author, text: "", published: time, received: time };
    writeFileSync(join(settings.folder, "own.json"), JSON.stringify({ mentions: [{ ...mention, state: "shown" }] }));
    expect(await type("import", "own.json")).toMatchObject({ exitCode: 0 });
    expect(await shown()).toMatchObject([{ source, received: time }]);
  });

  it.each([
    [[], '{"status":"ok"}'],
    [["--state", "held"], '{"mentions":[{"id":"3f2a91bc","state":"held"}],"next":null}'],
    [["verify"], "null"],
    [["forget", "bob.example", "--yes"], '{"forgotten":"many"}'],
    [["export"], '{"mentions":[{"id":"3f2a91bc","version":null,"state":"shown","source":"bob"}],"next":null}'],
  ])("exit 1: %j, the response is another server's JSON: %s", async (args, json) => {
    const server = await loopbackServer((_, response) => response.end(json));
    const { folder } = site(settingsOf({ key: await keyOfAlice() }));
    const typed = ["mentions", ...args, "--url", server.url];
    const { exitCode, stdout, stderr } = await command(folder, typed, { environment });
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      `eleventy-twtxt: ${server.url}/api/v1/mentions answers, but not as this command expects. Another server may answer there, or the site has another version: deploy the site.\n`,
    );
  });

  it.each(['{"mentions":[null]}', '{"mentions":[{"state":"shown"}]}', "null"])(
    "exit 1: the file to import is not an export: %s",
    async (json) => {
      const { folder } = site(settingsOf({ key: await keyOfAlice() }));
      writeFileSync(join(folder, "own.json"), json);
      const { exitCode, stderr } = await command(folder, ["mentions", "import", "own.json"], { environment });
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("This is not an export")]);
    },
  );

  it("exit 1: another key, no key, and no server, each with advice", async () => {
    const { settings, type, server } = await alice();
    const elsewhere = { environment: { XDG_DATA_HOME: settings.folder } };
    const args = ["mentions", "--url", server.url];
    const stranger = await command(settings.folder, args, elsewhere);
    expect([stranger.exitCode, stranger.stderr]).toEqual([1, expect.stringContaining("is not on this machine")]);
    expect(stranger.stderr).toContain("--identity FILE");
    const withFile = await command(settings.folder, [...args, "--identity", KEY_FILE], elsewhere);
    expect(withFile).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("0 shown.") });

    await command(settings.folder, ["keys", "create", "alice@alice.example", "--file", "other.key"]);
    const other = await command(settings.folder, [...args, "--identity", "other.key"], elsewhere);
    expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining("answers 403")]);

    await server.end();
    const gone = await type();
    expect([gone.exitCode, gone.stderr]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);

    const keyless = await command(site().folder, ["mentions"], elsewhere);
    expect([keyless.exitCode, keyless.stderr]).toEqual([1, expect.stringContaining("eleventy-twtxt keys create")]);
  });

  it.each([
    [["--state", "new"], "--state: expected one of shown, held, pending, rejected, got"],
    [["approve"], "mentions approve: expected an id such as 3f2a91bc.07d4e5f6"],
    [["verify", "x"], 'mentions verify: expected no arguments, got "x".'],
    [["aprove", "x"], 'there is no "aprove". Did you mean "approve"?'],
    [
      ["approve", "3f2"],
      'expected an id such as 3f2a91bc.07d4e5f6, as mentions lists it (at least its first 4 characters, 0-9 and a-f), got "3f2".',
    ],
    [["import", "missing.json"], "There is no file /"],
  ])("exit 1 or 2: %j", async (args, message) => {
    const { folder } = site(settingsOf({ key: await keyOfAlice() }));
    const { exitCode, stderr, stdout } = await command(folder, ["mentions", ...args], { environment });
    expect([exitCode, stdout]).toEqual([expect.toBeOneOf([1, 2]), ""]);
    expect(stderr).toContain(message);
  });
});
