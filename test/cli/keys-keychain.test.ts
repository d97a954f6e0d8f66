// test/cli/keys-keychain.test.ts: `eleventy-twtxt keys` with the keychain of a desktop.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeWithSecretService, startSecretService } from "../helpers/secret-service.js";
import { type Blog, blog, commandProcess } from "./helpers.js";
import { fileIn, PAPER_KEX, PAPER_WORDS } from "./machine.js";

const ADDRESS = "alice@alice.example";
const KEYS = "data/eleventy-twtxt/keys";

/** A machine with a keychain that only this test uses. */
async function machineWithKeychain() {
  const service = await startSecretService();
  const machine = blog(null);
  const keys = (args: string[], input = "") =>
    commandProcess(machine.folder, ["keys", ...args], { input, environment: { ...service.environment } });
  return { machine, service, keys };
}

function keyFiles({ folder }: Blog): string[] {
  const place = join(folder, KEYS);
  return existsSync(place) ? readdirSync(place).filter((name) => name.endsWith(".key")) : [];
}

describeWithSecretService("eleventy-twtxt keys, with a Secret Service", () => {
  it("creates a key in the keychain, and no file; later commands read it there; a replaced key is kept in a file", async () => {
    const { machine, keys } = await machineWithKeychain();
    const created = await keys(["create", ADDRESS]);
    expect(created).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^kex1[a-z0-9]{58}\n$/),
      stderr: expect.stringContaining(`The private key of ${ADDRESS} is in the system keychain.`),
    });
    expect(keyFiles(machine)).toEqual([]);
    const key = created.stdout.trim();
    expect(await keys(["create", ADDRESS])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`${ADDRESS} already has a key, in the system keychain. Nothing was changed.`),
    });

    const replaced = (await keys(["create", ADDRESS, "--replace"])).stdout.trim();
    expect(replaced).not.toBe(key);
    expect((await keys(["show"])).stdout).toBe(`${ADDRESS}  ${replaced}  the system keychain\n`);
    expect(machine.list(`${KEYS}/former`)).toEqual([`${ADDRESS}-${key}.key`]);
  });

  it("restores a key from its words, and copies one into a file and back", async () => {
    const { machine, keys } = await machineWithKeychain();
    expect((await keys(["restore", ADDRESS], PAPER_WORDS)).stdout).toBe(`${PAPER_KEX}\n`);
    expect((await keys(["backup", ADDRESS, "copy.key"])).exitCode).toBe(0);
    expect(keyFiles(machine)).toEqual([]);

    const other = await machineWithKeychain();
    fileIn(other.machine, "copy.key", machine.read("copy.key"));
    expect(await other.keys(["import", "copy.key"])).toMatchObject({
      stdout: `${PAPER_KEX}\n`,
      stderr: expect.stringContaining(`The private key of ${ADDRESS} is in the system keychain.`),
    });
    expect(keyFiles(other.machine)).toEqual([]);
  });

  it("says that the keychain does not answer once the user's session has ended", async () => {
    const { machine, service, keys } = await machineWithKeychain();
    await service.end();
    expect(await keys(["create", ADDRESS, "--keychain"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        "The system keychain cannot store the key: no secret service answers on this machine.",
      ),
    });
    expect(keyFiles(machine)).toEqual([]);
  });
});
