import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dataFolder } from "../../plugin/author/files.js";
import { parseIdentity } from "../../plugin/keys/identity.js";
import { wordsOfSeed } from "../../plugin/keys/words.js";
import { blog, commandProcess } from "./helpers.js";
import { describeWithoutKeychain, environmentOf, fileIn, KEY_FILE, keys, SALTY_FILE, salty } from "./machine.js";
import { itRefusesUsage } from "./wrong-usage.js";

describeWithoutKeychain("eleventy-twtxt keys create", () => {
  it("uses a file if there is no keychain, and says so and what to do next", async () => {
    const machine = blog(null);
    const start = Math.floor(Date.now() / 1000) * 1000;
    const { exitCode, stdout, stderr } = await keys(machine, "create", "Alice@alice.example");

    const identity = parseIdentity(machine.read(KEY_FILE), "the file");
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${identity.publicKey}\n` });
    expect(identity.address).toBe("alice@alice.example");
    expect(Date.parse(identity.created ?? "")).toBeGreaterThanOrEqual(start);
    expect(Date.parse(identity.created ?? "")).toBeLessThanOrEqual(Date.now());
    expect(statSync(join(machine.folder, KEY_FILE)).mode & 0o777).toBe(0o600);
    expect(stderr).toMatch(/^The system keychain could not be used: no secret service answers on this machine\.\n/);
    expect(stderr).toContain(`The private key of alice@alice.example is in ${join(machine.folder, KEY_FILE)}.\n`);
    expect(stderr).toContain(
      `configuration of your site:\n  address: "alice@alice.example",\n  key: "${identity.publicKey}",\n`,
    );
    expect(stderr).toContain(
      "\n  eleventy-twtxt keys backup alice@alice.example\n  eleventy-twtxt keys backup alice@alice.example FILE\n",
    );
  });

  it("uses the address of the site, and its hints start with npx if npx started it", async () => {
    const site = blog({ address: "me@alice.example" });
    const environment = { ...environmentOf(site.folder), npm_config_user_agent: "npm/10.8.2 node/v20.20.2 linux x64" };
    const { exitCode, stderr } = await commandProcess(site.folder, ["keys", "create"], { environment });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('address: "me@alice.example"');
    expect(stderr).toContain("\n  npx eleventy-twtxt keys backup me@alice.example\n");
  });

  it("creates a new key each time", async () => {
    const outcomes = await Promise.all([blog(null), blog(null)].map((m) => keys(m, "create", "a@b.example")));
    expect(new Set(outcomes.map(({ stdout }) => stdout)).size).toBe(2);
  });

  it("--json prints the public data", async () => {
    const machine = blog(null);
    const { stdout, stderr } = await keys(machine, "create", "alice@alice.example", "--json");
    const { publicKey, created } = parseIdentity(machine.read(KEY_FILE), "the file");
    expect(JSON.parse(stdout)).toEqual({
      address: "alice@alice.example",
      key: publicKey,
      created,
      file: join(machine.folder, KEY_FILE),
    });
    expect(stderr).toContain(`address: "alice@alice.example",\n`);
  });

  it("--file PATH stores the key only there, and says how to use it", async () => {
    const machine = blog(null);
    await keys(machine, "create", "alice@alice.example");
    const before = machine.read(KEY_FILE);
    const args = ["alice@alice.example", "--file", "stick/mine.key"];
    const { exitCode, stdout, stderr } = await keys(machine, "create", ...args);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `${parseIdentity(machine.read("stick/mine.key"), "the file").publicKey}\n`,
    });
    expect(statSync(join(machine.folder, "stick/mine.key")).mode & 0o777).toBe(0o600);
    expect(stderr).toMatch(/^The private key of alice@alice\.example is in \S+\/stick\/mine\.key\.\n/);
    expect(stderr).toContain("they need --identity stick/mine.key\n");
    expect(stderr).toContain("keys backup alice@alice.example FILE --identity stick/mine.key\n");
    expect(machine.read(KEY_FILE)).toBe(before);

    const mine = machine.read("stick/mine.key");
    expect(await keys(machine, "create", ...args)).toMatchObject({
      exitCode: 1,
      stderr: `eleventy-twtxt: ${join(machine.folder, "stick/mine.key")} already exists.\n`,
    });
    expect(machine.read("stick/mine.key")).toBe(mine);
  });

  it("1: does not replace a key", async () => {
    const machine = blog(null);
    await keys(machine, "create", "alice@alice.example");
    const before = machine.read(KEY_FILE);
    expect(await keys(machine, "create", "alice@alice.example")).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `eleventy-twtxt: alice@alice.example already has a key, in ${join(machine.folder, KEY_FILE)}. Nothing was changed. To replace it, type \`eleventy-twtxt keys create alice@alice.example --replace\`.\n`,
    });
    expect(machine.read(KEY_FILE)).toBe(before);
  });

  it("1: --keychain creates no key and no file without a keychain", async () => {
    const machine = blog(null);
    const { exitCode, stdout, stderr } = await keys(machine, "create", "alice@alice.example", "--keychain");
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^eleventy-twtxt: The system keychain cannot store the key: .+\.\n$/);
    expect(machine.list(".")).toEqual([]);
  });
});

describeWithoutKeychain("eleventy-twtxt keys import", () => {
  it("imports the identity file of Salty, and says that the file is unchanged", async () => {
    const machine = blog(null);
    const file = fileIn(machine, "alice.key", SALTY_FILE);
    const { exitCode, stdout, stderr } = await keys(machine, "import", file);

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${salty?.kex}\n` });
    expect(stderr).toContain("alice.key was not changed");
    expect(machine.read("data/eleventy-twtxt/keys/alice@sour.is.key")).toBe(SALTY_FILE);
    expect(machine.read("alice.key")).toBe(SALTY_FILE);
  });

  it("1 bad-identity: others can read the file", async () => {
    const machine = blog(null);
    const file = fileIn(machine, "alice.key", SALTY_FILE, 0o644);
    const path = join(machine.folder, file);
    expect(await keys(machine, "import", file)).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `eleventy-twtxt: ${path} can be read by others on this machine. Type: chmod 600 ${path}\n`,
    });
    expect(machine.list(".")).toEqual(["alice.key"]);
  });
});

describeWithoutKeychain("eleventy-twtxt keys show", () => {
  it("prints only public data, and the location of the key", async () => {
    const machine = blog(null);
    await keys(machine, "create", "bob@bob.example");
    await keys(machine, "import", fileIn(machine, "alice.key", SALTY_FILE));
    const folder = join(machine.folder, "data/eleventy-twtxt/keys");
    const bob = parseIdentity(machine.read("data/eleventy-twtxt/keys/bob@bob.example.key"), "the file");
    const lines = [
      `alice@sour.is  ${salty?.kex}  ${folder}/alice@sour.is.key\n`,
      `bob@bob.example  ${bob.publicKey}  ${folder}/bob@bob.example.key\n`,
    ];

    expect(await keys(machine, "show")).toMatchObject({ exitCode: 0, stdout: lines.join("") });
    expect(await keys(machine, "show", "BOB@bob.example")).toEqual({ exitCode: 0, stdout: lines[1], stderr: "" });
    expect(JSON.parse((await keys(machine, "show", "alice@sour.is", "--json")).stdout)).toEqual([
      {
        address: "alice@sour.is",
        key: salty?.kex,
        created: "2023-01-16T22:11:07Z",
        file: `${folder}/alice@sour.is.key`,
      },
    ]);
  });

  it("--identity FILE shows the key in that file", async () => {
    const machine = blog(null);
    fileIn(machine, "alice.key", SALTY_FILE);
    const line = `alice@sour.is  ${salty?.kex}  ${machine.folder}/alice.key\n`;
    const shown = { exitCode: 0, stdout: line, stderr: "" };
    expect(await keys(machine, "show", "--identity", "alice.key")).toEqual(shown);
    expect(await keys(machine, "show", "alice@sour.is", "--identity", "alice.key")).toEqual(shown);
    expect(await keys(machine, "show", "bob@bob.example", "--identity", "alice.key")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("has the key of alice@sour.is, not of bob@bob.example."),
    });
    expect(await keys(machine, "show", "--identity", "no.key")).toMatchObject({
      exitCode: 1,
      stderr: `eleventy-twtxt: There is no identity file ${machine.folder}/no.key.\n`,
    });
  });

  it("says how to create a key if there is none", async () => {
    const machine = blog(null);
    const { exitCode, stdout, stderr } = await keys(machine, "show");
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toContain("No key was found. To create one, type: eleventy-twtxt keys create ADDRESS\n");
    expect((await keys(machine, "show", "--json")).stdout).toBe("[]\n");
  });

  it("1 no-identity: the address has no key", async () => {
    const { exitCode, stdout, stderr } = await keys(blog(null), "show", "alice@alice.example");
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^eleventy-twtxt: There is no key of alice@alice\.example on this machine\./);
  });
});

describeWithoutKeychain("eleventy-twtxt keys backup", () => {
  it("writes a file that import accepts, and does not replace an existing file", async () => {
    const machine = blog(null);
    await keys(machine, "create", "alice@alice.example");
    const outcome = await keys(machine, "backup", "alice@alice.example", "stick/alice.key");
    expect(outcome).toMatchObject({ exitCode: 0, stdout: "stick/alice.key\n" });
    expect(outcome.stderr).toContain("eleventy-twtxt keys import stick/alice.key");
    expect(machine.read("stick/alice.key")).toBe(machine.read(KEY_FILE));
    expect(statSync(join(machine.folder, "stick/alice.key")).mode & 0o777).toBe(0o600);

    const again = await keys(machine, "backup", "alice@alice.example", "stick/alice.key");
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: `eleventy-twtxt: ${join(machine.folder, "stick/alice.key")} already exists.\n`,
    });

    const elsewhere = blog(null);
    const { stdout } = await keys(elsewhere, "import", join(machine.folder, "stick/alice.key"));
    expect(stdout).toBe(`${parseIdentity(machine.read(KEY_FILE), "the file").publicKey}\n`);
  });
});

describeWithoutKeychain("eleventy-twtxt keys", () => {
  it("prints no private key, with any action", async () => {
    const machine = blog(null);
    fileIn(machine, "alice.key", SALTY_FILE);
    fileIn(machine, "broken.key", SALTY_FILE.replace("alice@sour.is", ""));
    const outcomes = [
      await keys(machine, "import", "alice.key", "--json"),
      await keys(machine, "backup", "alice@sour.is"),
      await keys(machine, "backup", "alice@sour.is", "--identity", "alice.key"),
      await keys(machine, "import", "broken.key"),
      await keys(machine, "show"),
      await keys(machine, "show", "--json"),
      await keys(machine, "show", "alice@sour.is"),
      await keys(machine, "create", "alice@sour.is"),
      await keys(machine, "backup", "alice@sour.is", "copy.key"),
    ];
    const saltyWords = wordsOfSeed(Buffer.from(salty?.ed25519_seed ?? "", "hex"));
    const secret = SALTY_FILE.split("\n").find((line) => !line.startsWith("#")) ?? "";
    expect(secret).toHaveLength(88);
    expect(machine.read("copy.key")).toContain(secret);
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 2, 2, 1, 0, 0, 0, 1, 0]);
    const printed = JSON.stringify(outcomes);
    expect(saltyWords.filter((word) => printed.includes(word))).toEqual([]);
    for (let at = 0; at + 12 <= secret.length; at += 6) expect(printed).not.toContain(secret.slice(at, at + 12));
  });

  itRefusesUsage("keys", [
    [[], "keys: say what to do. Actions: create, show, backup, restore, import."],
    [["creat"], 'keys: there is no "creat". Did you mean "create"?'],
    [["delete"], 'keys: there is no "delete". Actions: create, show, backup, restore, import.'],
    [
      ["create"],
      "keys create: expected an address, since the site in this folder was not built yet. Add yours, as in `eleventy-twtxt keys create alice@alice.example`.",
    ],
    [["create", "alice"], 'keys create: expected an address such as alice@alice.example, got "alice".'],
    [
      ["create", "a@b.example", "c@d.example"],
      "keys create: expected an address such as alice@alice.example, got 2 arguments.",
    ],
    [["create", "a@b.example", "--file", "x", "--keychain"], "keys: use either --file or --keychain."],
    [["backup"], "keys backup: expected an address such as alice@alice.example."],
    [["restore"], "keys restore: expected an address such as alice@alice.example."],
    [
      ["restore", "absurd", "amount"],
      "keys restore: expected an address such as alice@alice.example, got 2 arguments.",
    ],
    [
      ["backup", "a@b.example"],
      "keys backup: the words are only shown on a terminal. Run it in one, or name a FILE for a copy.",
    ],
  ]);
});

describe("the author's data", () => {
  it.each<[NodeJS.Platform, Record<string, string>, string]>([
    ["linux", { HOME: "/home/alice" }, "/home/alice/.local/share/eleventy-twtxt"],
    ["linux", { HOME: "/home/alice", XDG_DATA_HOME: "/data" }, "/data/eleventy-twtxt"],
    ["linux", { HOME: "/home/alice", XDG_DATA_HOME: "not/absolute" }, "/home/alice/.local/share/eleventy-twtxt"],
    ["darwin", { HOME: "/Users/alice" }, "/Users/alice/Library/Application Support/eleventy-twtxt"],
    ["win32", { USERPROFILE: "C:/Users/alice", APPDATA: "C:/Data" }, "C:/Data/eleventy-twtxt"],
    ["win32", { USERPROFILE: "C:/Users/alice" }, "C:/Users/alice/AppData/Roaming/eleventy-twtxt"],
  ])("on %s with %j are in %s", (platform, environment, folder) => {
    expect(dataFolder({ environment }, platform).replaceAll("\\", "/")).toBe(folder);
  });
});
