import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { x25519 } from "@noble/curves/ed25519.js";
import { verifyAsync } from "@noble/ed25519";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { parseAddress } from "../../plugin/keys/address.js";
import {
  copyIdentity,
  createIdentity,
  formatIdentity,
  formerIdentities,
  importIdentity,
  listIdentities,
  loadIdentity,
  parseIdentity,
  readIdentity,
  retireIdentity,
  wordsOfIdentity,
} from "../../plugin/keys/identity.js";
import { parseKey, toExchangeKey } from "../../plugin/keys/key.js";
import type { IdentityPlaces, Keychain } from "../../plugin/keys/places.js";
import { seedOfWords, wordsOfSeed } from "../../plugin/keys/words.js";

interface Vector {
  file?: string;
  ed25519_seed: string;
  kex: string;
}
const { key_encoding: vectors } = JSON.parse(
  readFileSync(new URL("../vectors/signcryption.json", import.meta.url), "utf8"),
) as { key_encoding: Vector[] };

const seed = new Uint8Array(32).fill(2);
const CREATED = "2026-01-02T03:04:05Z";
const ALICE = { seed, address: "alice@alice.example", created: CREATED };
const KEX = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";
const TEXT = formatIdentity(seed, ALICE);
const PAIR = TEXT.split("\n")[3] ?? "";
const badIdentity = (message: string) => expect.objectContaining({ code: "bad-identity", message });

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A working keychain in memory. */
function workingKeychain(): Keychain & { entries: Map<string, string> } {
  const entries = new Map<string, string>();
  return {
    entries,
    read: async (address) => entries.get(address) ?? null,
    write: async (address, secret) => void entries.set(address, secret),
    remove: async (address) => void entries.delete(address),
    addresses: async () => [...entries.keys()],
  };
}

function lockedKeychain(): Keychain {
  const refuse = async () => {
    throw new Error("It is locked.\nAsk an administrator.");
  };
  return { read: refuse, write: refuse, remove: refuse, addresses: refuse };
}

function newPlaces<K extends Keychain>(keychain: K): IdentityPlaces & { keychain: K; root: string } {
  const root = mkdtempSync(join(tmpdir(), "twtxt-keys-"));
  folders.push(root);
  return { keychain, folder: join(root, "data", "keys"), root };
}

describe("an identity file", () => {
  it("has three comments and a line", () => {
    expect(TEXT).toBe(
      `# created: ${CREATED}\n# public key: ${KEX}\n# user: alice@alice.example\n${Buffer.concat([seed, parseKey(KEX)]).toString("base64")}\n`,
    );
  });

  it("has an identity that can sign", async () => {
    const identity = parseIdentity(TEXT, "alice.key");
    expect(identity).toMatchObject({ address: "alice@alice.example", publicKey: KEX, created: CREATED });
    const message = Buffer.from("hello");
    expect(await verifyAsync(identity.sign(message), message, parseKey(KEX), { zip215: false })).toBe(true);
  });

  it("has an identity that can derive a shared secret", () => {
    const other = x25519.keygen();
    const exchangeKey = toExchangeKey(parseKey(KEX)) ?? new Uint8Array(0);
    const shared = x25519.getSharedSecret(other.secretKey, exchangeKey);
    expect([...parseIdentity(TEXT, "alice.key").agree(other.publicKey)]).toEqual([...shared]);
  });

  it.each(vectors.filter(({ file }) => file))("of another Salty client can be read: $kex", ({ file = "", kex }) => {
    expect(parseIdentity(file, "alice.key")).toMatchObject({
      address: "alice@sour.is",
      publicKey: kex,
      created: "2023-01-16T22:11:07Z",
    });
  });

  it.each([
    ["CRLF", TEXT.replaceAll("\n", "\r\n")],
    ["a byte order mark", `\uFEFF${TEXT}`],
    ["no line break at the end", TEXT.trimEnd()],
    ["another order", TEXT.split("\n").slice(0, 4).reverse().join("\n")],
    ["more comments", `#\n# my key, do not lose\n${TEXT}`],
    ["capitals in the address", TEXT.replace("alice@alice", "Alice@ALICE")],
    ["only key and address", TEXT.split("\n").slice(2).join("\n")],
  ])("may have %s", (_, text) => {
    expect(parseIdentity(text, "alice.key")).toMatchObject({ address: "alice@alice.example", publicKey: KEX });
  });

  it.each([
    ["no content", "", "apart from comments, it must have one line, the key"],
    ["no key", TEXT.replace(PAIR, "#"), "apart from comments, it must have one line, the key"],
    ["two keys", `${TEXT}${PAIR}\n`, "apart from comments, it must have one line, the key"],
    ["an empty line", TEXT.replace("\n", "\n\n"), "apart from comments, it must have one line, the key"],
    ["white space around the key", TEXT.replace(PAIR, ` ${PAIR}`), "the key is not 64 bytes of base64"],
    ["base64url", (vectors[3]?.file ?? "").replace("+", "-"), "the key is not 64 bytes of base64"],
    ["no padding", TEXT.replace(PAIR, PAIR.replace("==", "")), "the key is not 64 bytes of base64"],
    ["only the seed", TEXT.replace(PAIR, Buffer.from(seed).toString("base64")), "the key is not 64 bytes of base64"],
    ["a truncated key", TEXT.replace(PAIR, PAIR.slice(0, 80)), "the key is not 64 bytes of base64"],
    [
      "another public half",
      TEXT.replace(PAIR, Buffer.concat([seed, new Uint8Array(32).fill(9)]).toString("base64")),
      "the two halves of the key do not match",
    ],
    [
      "another public key in its comment",
      TEXT.replace(KEX, vectors[0]?.kex ?? ""),
      '"# public key: " does not match the key',
    ],
    ["no address", TEXT.replace(/# user.*\n/, ""), 'it needs a line such as "# user: alice@alice.example"'],
    ["an invalid address", TEXT.replace("alice@", "alice"), 'it needs a line such as "# user: alice@alice.example"'],
    ["two addresses", `# user: bob@bob.example\n${TEXT}`, 'it has "# user: " twice'],
    [
      "an invalid time",
      TEXT.replace("2026-01-02T", "2026-13-02T"),
      '"# created: " must be a time such as 2026-01-02T03:04:05Z',
    ],
  ])("is refused with %s, and the message does not quote it", (_, text, why) => {
    expect(() => parseIdentity(text, "alice.key")).toThrow(badIdentity(`alice.key is not an identity file: ${why}.`));
  });

  it("is refused if any letter of the key was changed", () => {
    fc.assert(
      fc.property(fc.nat(PAIR.length - 1), fc.constantFrom(..."AZaz09+/= "), (at, letter) => {
        fc.pre(PAIR[at] !== letter);
        const changed = `${PAIR.slice(0, at)}${letter}${PAIR.slice(at + 1)}`;
        const text = TEXT.replace(PAIR, changed).replace(/# public key.*\n/, "");
        expect(() => parseIdentity(text, "alice.key")).toThrow(expect.objectContaining({ code: "bad-identity" }));
      }),
      { seed: 31 },
    );
  });
});

describe("an identity", () => {
  it("never shows its private key", () => {
    const identity = parseIdentity(TEXT, "alice.key");
    const shown = [
      JSON.stringify(identity),
      String(identity),
      `${inspect(identity, { depth: 9, showHidden: true, getters: true })}`,
      inspect(Object.getOwnPropertyDescriptors(identity), { depth: 9, showHidden: true }),
      identity.sign.toString(),
    ].join("\n");
    expect(shown).toContain(KEX);
    for (const secret of [PAIR.slice(0, 40), Buffer.from(seed).toString("hex"), "2, 2, 2, 2", "02 02 02 02"]) {
      expect(shown).not.toContain(secret);
    }
    expect(Object.keys(identity).sort()).toEqual(["address", "agree", "created", "publicKey", "sign"]);
  });
});

describe("storing an identity", () => {
  it("prefers the keychain", async () => {
    const places = newPlaces(workingKeychain());
    expect(await createIdentity(ALICE, places)).toMatchObject({
      identity: { publicKey: KEX },
      file: null,
      keychainFault: null,
    });
    expect(places.keychain.entries).toEqual(new Map([["alice@alice.example", TEXT]]));
    expect(existsSync(places.folder)).toBe(false);
    expect(await loadIdentity("alice@alice.example", places)).toMatchObject({
      identity: { publicKey: KEX },
      file: null,
    });
  });

  it.each<[string, Keychain, string]>([
    ["is locked", lockedKeychain(), "It is locked"],
    ["loses the key", { ...workingKeychain(), read: async () => null }, "it did not return what was stored"],
  ])("uses a file of mode 0600 if the keychain %s, and gives the reason", async (_, keychain, keychainFault) => {
    const places = newPlaces(keychain);
    const file = join(places.folder, "alice@alice.example.key");
    expect(await createIdentity(ALICE, places)).toMatchObject({ file, keychainFault });

    expect(readFileSync(file, "utf8")).toBe(TEXT);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(places.folder).mode & 0o777).toBe(0o700);
    expect(await loadIdentity("alice@alice.example", places)).toMatchObject({ identity: { publicKey: KEX }, file });
  });

  it("uses only the named file, even if the address has another key", async () => {
    const places = newPlaces(workingKeychain());
    await createIdentity({ ...ALICE, seed: new Uint8Array(32).fill(3) }, places);
    const own = { file: join(places.root, "stick", "mine.key") };
    expect(await createIdentity(ALICE, own)).toMatchObject({ ...own, keychainFault: null });
    expect(readFileSync(own.file, "utf8")).toBe(TEXT);
    expect(statSync(own.file).mode & 0o777).toBe(0o600);
    expect(existsSync(places.folder)).toBe(false);

    expect(await readIdentity(own)).toMatchObject({ identity: { publicKey: KEX }, ...own });
    expect(await loadIdentity("alice@alice.example", own)).toMatchObject({ identity: { publicKey: KEX }, ...own });
    await expect(loadIdentity("bob@bob.example", own)).rejects.toEqual(
      badIdentity(`${own.file} has the key of alice@alice.example, not of bob@bob.example.`),
    );
    expect((await loadIdentity("alice@alice.example", places)).identity.publicKey).not.toBe(KEX);
  });

  it("bad-file: the named file exists", async () => {
    const { root } = newPlaces(workingKeychain());
    const own = { file: join(root, "mine.key") };
    writeFileSync(own.file, "precious", { mode: 0o600 });
    await expect(createIdentity(ALICE, own)).rejects.toMatchObject({ code: "bad-file" });
    expect(readFileSync(own.file, "utf8")).toBe("precious");
    await expect(readIdentity({ file: join(root, "no.key") })).rejects.toMatchObject({
      code: "no-identity",
      message: `There is no identity file ${join(root, "no.key")}.`,
    });
  });

  it("bad-identity: the keychain is required and does not work", async () => {
    const places = newPlaces(lockedKeychain());
    await expect(createIdentity(ALICE, places, true)).rejects.toEqual(
      badIdentity("The system keychain cannot store the key: It is locked."),
    );
    expect(existsSync(places.folder)).toBe(false);
  });

  it.each(["keychain", "file"] as const)(
    "bad-identity: the address has a key in the %s, which is not changed",
    async (first) => {
      const places = newPlaces(workingKeychain());
      const keychain = first === "file" ? lockedKeychain() : places.keychain;
      const { file } = await createIdentity(ALICE, { ...places, keychain });
      const other = { ...ALICE, seed: new Uint8Array(32).fill(3) };
      for (const isKeychainOnly of [true, false]) {
        await expect(createIdentity(other, places, isKeychainOnly)).rejects.toEqual(
          badIdentity(
            `alice@alice.example already has a key, in ${file ?? "the system keychain"}. Nothing was changed. To replace it, type \`keys create alice@alice.example --replace\`.`,
          ),
        );
      }
      expect(await loadIdentity("alice@alice.example", places)).toMatchObject({ identity: { publicKey: KEX }, file });
      expect(places.keychain.entries.size).toBe(first === "keychain" ? 1 : 0);
    },
  );

  it("only one of several concurrent keys is stored", async () => {
    const places = newPlaces(lockedKeychain());
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => createIdentity(ALICE, places)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(readFileSync(join(places.folder, "alice@alice.example.key"), "utf8")).toBe(TEXT);
  });

  it("no-identity: the message says whether the keychain responded", async () => {
    const absent = { code: "no-identity", message: "There is no key of alice@alice.example on this machine." };
    await expect(loadIdentity("alice@alice.example", newPlaces(workingKeychain()))).rejects.toMatchObject(absent);
    await expect(loadIdentity("alice@alice.example", newPlaces(lockedKeychain()))).rejects.toMatchObject({
      ...absent,
      message: `${absent.message} The system keychain did not answer: It is locked.`,
    });
  });

  it("bad-identity: its file has the key of another address", async () => {
    const places = newPlaces(workingKeychain());
    places.keychain.entries.set("bob@bob.example", TEXT);
    await expect(loadIdentity("bob@bob.example", places)).rejects.toEqual(
      badIdentity("The system keychain has the key of alice@alice.example, not of bob@bob.example."),
    );
  });

  it.skipIf(process.platform === "win32").each(["644", "640", "604", "620", "601"])(
    "bad-identity: others can access a file of mode %s",
    async (mode) => {
      const places = newPlaces(lockedKeychain());
      const { file } = await createIdentity(ALICE, places);
      chmodSync(file ?? "", Number.parseInt(mode, 8));
      await expect(loadIdentity("alice@alice.example", places)).rejects.toEqual(
        badIdentity(`${file} can be read by others on this machine. Type: chmod 600 ${file}`),
      );
    },
  );
});

describe("importing", () => {
  it("stores the text of the file unchanged, and does not change the file", async () => {
    const places = newPlaces(workingKeychain());
    const file = join(places.root, "from elsewhere.key");
    const text = `\uFEFF${TEXT.replaceAll("\n", "\r\n")}# mine\r\n`;
    writeFileSync(file, text, { mode: 0o600 });
    expect(await importIdentity(file, places)).toMatchObject({ identity: { publicKey: KEX }, file: null });
    expect(places.keychain.entries.get("alice@alice.example")).toBe(text);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it.each([
    ["it is not an identity file", "hello\n", 0o600, "bad-identity"],
    ["it is far too large", TEXT + "#\n".repeat(5000), 0o600, "bad-identity"],
    ["others can read it", TEXT, 0o644, "bad-identity"],
  ])("stores nothing if %s", async (_, text, mode, code) => {
    const places = newPlaces(workingKeychain());
    const file = join(places.root, "it's mine.key");
    writeFileSync(file, text, { mode });
    chmodSync(file, mode);
    await expect(importIdentity(file, places)).rejects.toMatchObject({ code });
    expect(places.keychain.entries.size).toBe(0);
  });

  it("quotes a file name for the shell", async () => {
    const places = newPlaces(workingKeychain());
    const file = join(places.root, "it's mine.key");
    writeFileSync(file, TEXT);
    chmodSync(file, 0o644);
    await expect(importIdentity(file, places)).rejects.toThrow(`Type: chmod 600 '${places.root}/it'\\''s mine.key'`);
  });

  it.skipIf(process.platform === "win32")("bad-identity: a pipe, for which it does not wait", async () => {
    const places = newPlaces(workingKeychain());
    const file = join(places.root, "pipe.key");
    execFileSync("mkfifo", ["-m", "600", file]);
    await expect(importIdentity(file, places)).rejects.toMatchObject({ code: "bad-identity" });
  });

  it("bad-file: the file does not exist", async () => {
    const places = newPlaces(workingKeychain());
    await expect(importIdentity(join(places.root, "no.key"), places)).rejects.toMatchObject({
      code: "bad-file",
      message: `There is no file ${join(places.root, "no.key")}.`,
    });
    mkdirSync(join(places.root, "folder"), { mode: 0o700 });
    await expect(importIdentity(join(places.root, "folder"), places)).rejects.toMatchObject({
      code: "bad-identity",
    });
  });
});

describe("a backup", () => {
  it("is an identity file of mode 0600 that can be imported elsewhere", async () => {
    const places = newPlaces(workingKeychain());
    await createIdentity(ALICE, places);
    const file = join(places.root, "stick", "alice.key");
    await copyIdentity("alice@alice.example", file, places);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const elsewhere = newPlaces(workingKeychain());
    await importIdentity(file, elsewhere);
    expect(await loadIdentity("alice@alice.example", elsewhere)).toMatchObject({ identity: { publicKey: KEX } });
  });

  it("bad-file: does not replace another file", async () => {
    const places = newPlaces(workingKeychain());
    await createIdentity(ALICE, places);
    const file = join(places.root, "alice.key");
    writeFileSync(file, "precious");
    await expect(copyIdentity("alice@alice.example", file, places)).rejects.toMatchObject({
      code: "bad-file",
      message: `${file} already exists.`,
    });
    expect(readFileSync(file, "utf8")).toBe("precious");
  });
});

describe("the words of a key", () => {
  it("restore the key on another machine, without its creation time", async () => {
    const places = newPlaces(workingKeychain());
    await createIdentity(ALICE, places);
    const words = (await wordsOfIdentity("alice@alice.example", places)).join(" ");

    const elsewhere = newPlaces(workingKeychain());
    const { identity } = await createIdentity(
      { seed: seedOfWords(words), address: "alice@alice.example", created: null },
      elsewhere,
    );
    expect(identity).toMatchObject({ publicKey: KEX, address: "alice@alice.example", created: null });
    expect(elsewhere.keychain.entries.get("alice@alice.example")).toBe(TEXT.replace(/# created.*\n/, ""));
  });

  it("neither replace a key nor restore another one", async () => {
    const places = newPlaces(workingKeychain());
    await createIdentity({ ...ALICE, seed: new Uint8Array(32).fill(3) }, places);
    const before = new Map(places.keychain.entries);
    const words = wordsOfSeed(seed);
    const restored = { seed: seedOfWords(words.join(" ")), address: "alice@alice.example", created: null };
    await expect(createIdentity(restored, places)).rejects.toMatchObject({ code: "bad-identity" });
    expect(places.keychain.entries).toEqual(before);
    expect(existsSync(places.folder)).toBe(false);
  });

  it("are those of the given file", async () => {
    const { root } = newPlaces(workingKeychain());
    const own = { file: join(root, "mine.key") };
    writeFileSync(own.file, `\uFEFF${TEXT.replaceAll("\n", "\r\n")}`, { mode: 0o600 });
    expect(await wordsOfIdentity("alice@alice.example", own)).toEqual(wordsOfSeed(seed));
    await expect(wordsOfIdentity("bob@bob.example", own)).rejects.toMatchObject({ code: "bad-identity" });
  });
});

describe("the list of identities", () => {
  it("has the identities of both places, each once, and the errors of the others", async () => {
    const places = newPlaces(workingKeychain());
    const withoutKeychain = { ...places, keychain: lockedKeychain() };
    await createIdentity({ ...ALICE, address: "zoe@localhost:8080" }, withoutKeychain);
    await createIdentity(ALICE, places);
    writeFileSync(join(places.folder, "alice@alice.example.key"), TEXT, { mode: 0o600 });
    writeFileSync(join(places.folder, "bob@bob.example.key"), "rubbish", { mode: 0o600 });
    writeFileSync(join(places.folder, "notes.txt"), "");
    writeFileSync(join(places.folder, "No Address.key"), "");

    const { identities, faults } = await listIdentities(places);
    expect(identities.map(({ identity, file }) => [identity.address, file])).toEqual([
      ["alice@alice.example", null],
      ["zoe@localhost:8080", join(places.folder, "zoe@localhost+8080.key")],
    ]);
    expect(faults).toEqual([
      `${join(places.folder, "bob@bob.example.key")} is not an identity file: the key is not 64 bytes of base64.`,
    ]);
  });

  it("is empty on a new machine", async () => {
    expect(await listIdentities(newPlaces(workingKeychain()))).toEqual({ identities: [], faults: [] });
  });

  it("reports that the keychain did not respond", async () => {
    expect(await listIdentities(newPlaces(lockedKeychain()))).toEqual({
      identities: [],
      faults: ["The system keychain did not answer: It is locked."],
    });
  });
});

describe("an address", () => {
  it.each([
    ["alice@alice.example", "alice@alice.example"],
    ["Alice@ALICE.example", "alice@alice.example"],
    ["a.b_c-1@localhost:8080", "a.b_c-1@localhost:8080"],
    ["alice@bücher.example", "alice@xn--bcher-kva.example"],
  ])("%s", (text, address) => {
    expect(parseAddress(text)).toBe(address);
  });

  it.each([
    "",
    "alice",
    "@alice.example",
    "alice@",
    "a@b@c",
    ".alice@alice.example",
    "ali ce@alice.example",
    "../x@alice.example",
    `alice@${"\u00ad".repeat(1000)}alice.example`,
    `${"a".repeat(65)}@alice.example`,
    "alice@alice.example/x",
    "alice@alice.example?x",
    "alice@alice.example#x",
    "alice@..",
    "alice@alice.example.",
    "alice@a\\b",
    "alice@a%2fb",
    "alice@alice.example\n",
    `alice@${"a".repeat(254)}`,
  ])("is invalid: %j", (text) => {
    expect(parseAddress(text)).toBeNull();
  });
});

describe("a key that was replaced", () => {
  it.each([
    ["a file", lockedKeychain],
    ["the system keychain", workingKeychain],
  ])("still opens messages encrypted for it: from %s", async (_, keychain) => {
    const places = newPlaces(keychain());
    await createIdentity(ALICE, places);
    const { file } = await retireIdentity("alice@alice.example", places);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toBe(TEXT);
    await expect(loadIdentity("alice@alice.example", places)).rejects.toThrow(
      expect.objectContaining({ code: "no-identity" }),
    );

    await createIdentity({ ...ALICE, seed: new Uint8Array(32).fill(3) }, places);
    const former = await formerIdentities("alice@alice.example", places);
    expect(former.map(({ publicKey }) => publicKey)).toEqual([KEX]);
    expect(await formerIdentities("alice@alice.example.org", places)).toEqual([]);
    expect((await loadIdentity("alice@alice.example", places)).identity.publicKey).not.toBe(KEX);
    expect((await listIdentities(places)).identities).toHaveLength(1);
  });

  it("no-identity: the address has no key", async () => {
    await expect(retireIdentity("alice@alice.example", newPlaces(lockedKeychain()))).rejects.toThrow(
      expect.objectContaining({ code: "no-identity" }),
    );
  });

  it("bad-identity: the keychain cannot remove it", async () => {
    const { remove } = lockedKeychain();
    const places = newPlaces({ ...workingKeychain(), remove });
    await createIdentity(ALICE, places);
    await expect(retireIdentity("alice@alice.example", places)).rejects.toEqual(
      badIdentity("The system keychain cannot remove the key: It is locked."),
    );
    expect((await loadIdentity("alice@alice.example", places)).identity.publicKey).toBe(KEX);
  });

  it("completes an interrupted call", async () => {
    const places = newPlaces(lockedKeychain());
    await createIdentity(ALICE, places);
    const { file } = await retireIdentity("alice@alice.example", places);
    await createIdentity(ALICE, places);
    expect((await retireIdentity("alice@alice.example", places)).file).toBe(file);
  });
});
