import { describe, expect, it } from "vitest";
import { idOf, sealed } from "../messages/inbox/alices-inbox.js";
import { correspondents } from "./correspondent.js";
import { blog, command } from "./helpers.js";
import { describeWithoutKeychain, environmentOf } from "./machine.js";
import { itRefusesUsage } from "./wrong-usage.js";

const NINE = "See you at nine?\nOr later.";
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;

describeWithoutKeychain("eleventy-twtxt message", () => {
  it("reaches several recipients, who can verify it and reply", async () => {
    const { alice, bob, carol } = await correspondents(["alice", "bob", "carol"]);
    const sent = await alice.message("send", bob.address.toUpperCase(), carol.address, NINE);
    expect(sent).toMatchObject({ exitCode: 0, stderr: "2 delivered.\n" });
    expect(sent.stdout.trimEnd().split("\n").sort()).toEqual(
      [bob, carol]
        .map(({ address, endpoint }) => `${address.padEnd(carol.address.length)}  delivered to ${endpoint}`)
        .sort(),
    );

    const [listed, read] = [await bob.message("list"), await bob.message("read")];
    const head = `[0-9a-f]{8}  ${TIME.source}  ${alice.address}  verified`;
    expect(listed).toMatchObject({ exitCode: 0, stderr: "1 message, 1 unread.\n" });
    expect(listed.stdout).toMatch(new RegExp(`^${head}  See you at nine\\?\n$`));
    expect(read.stdout).toMatch(new RegExp(`^${head}\n  See you at nine\\?\n  Or later\\.\n$`));
    expect(await carol.messageJson("list")).toMatchObject([{ text: NINE, trust: "verified", address: alice.address }]);

    expect(await bob.message("send", alice.address, "Nine it is.")).toMatchObject({ exitCode: 0 });
    expect(await alice.messageJson("list")).toMatchObject([
      { text: "Nine it is.", trust: "verified", address: bob.address },
    ]);
    expect(bob.requests).toEqual(["POST 202", "GET 200", "GET 200"]);
  });

  it("list and read show the newest 50, newest first, or all with --all, and one alone; they request no others", async () => {
    const { bob } = await correspondents(["bob"]);
    for (let n = 0; n < 52; n += 1) {
      const delivery = await fetch(bob.endpoint, { method: "POST", body: Uint8Array.from(sealed(n)) });
      expect(delivery.status).toBe(202);
    }
    const ids = Array.from({ length: 52 }, (_, n) => idOf(sealed(51 - n)));
    const shown = async (...args: string[]) => {
      bob.requests.length = 0;
      const { stdout, stderr } = await bob.message(...args, "--json");
      return { ids: JSON.parse(stdout).map(({ id }: { id: string }) => id), stderr, requests: [...bob.requests] };
    };
    for (const [action, unread] of [
      ["list", ", 50 unread"],
      ["read", ""],
    ] as const) {
      expect(await shown(action)).toEqual({
        ids: ids.slice(0, 50),
        stderr: `50 messages${unread}, 50 unreadable.\nThere are older ones: eleventy-twtxt message ${action} --all shows all.\n`,
        requests: ["GET 200"],
      });
      const all = `52 messages${unread.replace("50", "52")}, 52 unreadable.\n`;
      expect(await shown(action, "--all")).toMatchObject({ ids, stderr: all });
    }
    const [newest = "", oldest = ""] = [ids.at(0), ids.at(-1)];
    for (const [start, id] of [
      [newest, newest],
      [newest.slice(0, 7), newest],
      [oldest.slice(0, 8), oldest],
    ] as const) {
      expect(await shown("read", start)).toMatchObject({ ids: [id], requests: ["GET 200"] });
    }
  });

  it("is read and deleted by the start of its id, without affecting other messages", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    for (const text of ["one", "two", "three"]) await alice.message("send", bob.address, text, "--no-copy");
    const all = await bob.messageJson("list");
    expect(all.map(({ text }) => text)).toEqual(["three", "two", "one"]);
    const ids = all.map(({ id }) => String(id));

    const [read, unknown, short, word] = await Promise.all([
      bob.message("read", String(ids[1]).slice(0, 10).toUpperCase()),
      bob.message("read", "0000000000"),
      bob.message("delete", String(ids[0]).slice(0, 3)),
      bob.message("delete", "newest"),
    ]);
    expect(read.stdout).toMatch(/verified\n {2}two\n$/);
    expect(unknown).toMatchObject({ exitCode: 1, stdout: "" });
    expect(unknown.stderr).toBe("eleventy-twtxt: No message in your inbox has an id that starts with 0000000000.\n");
    expect(short).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("expected an id of at least 4 characters"),
    });
    expect(word).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('as the lists show it, got "newest".') });
    expect(await bob.message("delete", "0000000000", String(ids[0]))).toMatchObject({ exitCode: 1, stdout: "" });

    const deleted = await bob.message("delete", String(ids[0]).slice(0, 8), String(ids[2]), String(ids[2]));
    expect(deleted).toMatchObject({ exitCode: 0, stderr: "2 deleted.\n" });
    expect(deleted.stdout).toMatch(new RegExp(`^${ids[0]?.slice(0, 8)}  .*\n${ids[2]?.slice(0, 8)}  .*\n$`));
    expect(await bob.messageJson("list")).toMatchObject([{ id: ids[1] }]);
    expect((await alice.message("sent")).stderr).toBe("0 copies.\n");
    expect((await alice.message("sent", "0000")).stderr).toContain("No copy of yours has an id that starts with 0000.");
  });

  it("is stored as a sealed copy, which the author's key opens", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.run(["message", "send", bob.address], `\uFEFF${NINE.replace("\n", "\r\n")}\r\n`);
    const [listed, copies] = [await alice.message("sent"), await alice.messageJson("sent")];
    expect(copies).toMatchObject([{ to: [bob.address], text: NINE }]);
    const id = String(copies[0]?.id);
    expect(listed.stdout).toBe(
      `${id.slice(0, 8)}  ${String(copies[0]?.created).slice(0, 19)}Z  to ${bob.address}  See you at nine?\n`,
    );
    expect((await alice.message("sent", id.slice(0, 5))).stdout).toMatch(/\n {2}See you at nine\?\n {2}Or later\.\n$/);
    expect(await bob.messageJson("list")).toMatchObject([{ id, text: NINE }]);
  });

  it("gets a read receipt if the reader wants it: once, and never for a receipt", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    for (const text of ["one", "two"]) await alice.message("send", bob.address, text);
    await bob.message("send", bob.address, "to myself");
    expect(alice.requests).toEqual([]);

    const first = await bob.message("read", "--receipts");
    expect(first.stderr).toBe(`3 messages.\nRead receipt: ${alice.address}  delivered to ${alice.endpoint}\n`);
    expect((await bob.message("read", "--receipts")).stderr).toBe("3 messages.\n");
    expect(alice.requests).toEqual(["POST 202"]);

    const listed = await alice.message("list");
    const read = `read your message of ${TIME.source}`;
    expect(listed.stdout).toMatch(new RegExp(`  ${bob.address}  verified  ${read}, ${read}\n$`));
    const [receipt] = await alice.messageJson("read", "--receipts");
    const copies = await alice.messageJson("sent");
    const ids = (all: unknown) => (all as { id: string }[]).map(({ id }) => id).sort();
    expect([receipt?.text, ids(receipt?.receipts)]).toEqual(["", ids(copies)]);
    expect(await bob.messageJson("list")).toHaveLength(3);
    expect((await bob.message("sent")).stdout).not.toContain(alice.address);
  });

  it("needs one lookup per sender, for any number of messages", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await Promise.all(["one", "two", "three"].map((text) => alice.message("send", bob.address, text)));
    alice.files.length = 0;
    bob.files.length = 0;
    expect(await bob.messageJson("list")).toHaveLength(3);
    expect(alice.files).toEqual(["/.well-known/msg/alice.json"]);
    expect(bob.files).toEqual([]);
  });

  it("can be read from a folder without a site, by lookup, and from a local server", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.message("send", bob.address, "hello");
    const { environment, allowing, machine } = bob;
    const elsewhere = await command(blog(null).folder, ["message", "list", ...allowing], { environment });
    expect(elsewhere).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("verified  hello") });

    const settings = JSON.parse(machine.read(".eleventy-twtxt/settings.json"));
    settings.authors[0].endpoint = "https://bob.example/inbox/bob";
    machine.write(".eleventy-twtxt/settings.json", JSON.stringify(settings));
    expect(await bob.messageJson("list", "--url", bob.url)).toMatchObject([{ text: "hello" }]);
  });

  it("1: a key other than the published one sends no request to the inbox", async () => {
    const { alice } = await correspondents(["alice"]);
    const file = alice.keyFile("other.key", alice.address, 9);
    const { environment, allowing, machine } = alice;
    const args = ["message", "list", "--identity", `${machine.folder}/${file}`, ...allowing];
    const outcome = await command(blog(null).folder, args, { environment });
    expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
    expect(outcome.stderr).toContain("has published a key that is not the one on this machine");
    expect(alice.requests).toEqual([]);
  });

  it("2: --as is required if two authors of the site have keys on this machine", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const settings = JSON.parse(alice.machine.read(".eleventy-twtxt/settings.json"));
    settings.authors.push({ user: "bob", address: bob.address, key: bob.kex, endpoint: bob.endpoint });
    alice.machine.write(".eleventy-twtxt/settings.json", JSON.stringify(settings));
    await bob.message("send", alice.address, "to alice");
    expect(await alice.messageJson("list")).toMatchObject([{ text: "to alice" }]);

    alice.keyFile("data/eleventy-twtxt/keys/bob@elsewhere.example.key", "bob@elsewhere.example", 2);
    const unclear = await alice.message("list");
    expect(unclear).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`${alice.address} or ${bob.address}`),
    });
    await alice.message("send", bob.address, "to bob", "--as", alice.address);
    expect(await alice.messageJson("list", "--as", bob.address)).toMatchObject([{ text: "to bob", trust: "verified" }]);
  });

  it("2 and 1: --as is required if there are several keys and no site", async () => {
    const { alice } = await correspondents(["alice"]);
    const { environment, allowing } = alice;
    alice.keyFile("data/eleventy-twtxt/keys/zoe@zoe.example.key", "zoe@zoe.example", 8);
    const { folder } = blog(null);
    const type = (...args: string[]) => command(folder, ["message", "list", ...args, ...allowing], { environment });
    const several = await type();
    expect(several).toMatchObject({ exitCode: 2, stdout: "" });
    expect(several.stderr).toContain(`Choose one with --as ADDRESS: ${alice.address} or zoe@zoe.example.`);
    expect(await type("--as", alice.address)).toMatchObject({ exitCode: 0, stderr: "0 messages.\n" });
    expect((await type("--as", "yan@yan.example")).stderr).toContain("There is no key of yan@yan.example");

    const none = await command(folder, ["message", "list"], { environment: environmentOf(folder) });
    expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("keys create ADDRESS") });
  });
});

describe("wrong usage of eleventy-twtxt message", () => {
  itRefusesUsage("message", [
    [
      [],
      "message: say what to do. Actions: send, reply, list, read, follow, delete, block, unblock, blocked, sent, outbox, retry, discard.",
    ],
    [["lst"], 'message: there is no "lst". Did you mean "list"?'],
    [["send"], "message send: expected a recipient such as bob@bob.example."],
    [["send", "bob"], 'message send: expected a recipient such as bob@bob.example, got "bob".'],
    [["send", "bob@bob.example", "Hi", "there"], "expected addresses and one text, in quotes."],
    [["send", "bob@bob.example", "carol@@carol"], '"carol@@carol" is not an address such as bob@bob.example.'],
    [["send", "bob@bob.example", " \n "], 'message send: expected a text, such as "See you at nine?".'],
    [["send", "bob@bob.example"], 'message send: expected a text, such as "See you at nine?".'],
    [["list", "4f0c"], 'message list: expected no arguments, got "4f0c".'],
    [
      ["list", "--url", "localhost"],
      'message list: --url: expected a URL such as "http://localhost:8080", got "localhost".',
    ],
    [["list", "--as", "bob"], 'message list: --as: expected an address such as alice@alice.example, got "bob".'],
    [["follow", "--every", "4"], 'message follow: --every: expected a number from 5 to 86400, got "4".'],
    [["delete"], "message delete: expected ids such as 4f0c1a2b, as message list shows them, or --unverified."],
    [["delete", "4f0c", "--unverified"], "message delete: expected ids"],
    [
      ["sent", "4f0c", "4f0d"],
      "message sent: expected an id of at least 4 characters such as 4f0c1a2b, as the lists show it, got 2 arguments.",
    ],
    [["retry", "4f0c"], 'message retry: expected no arguments, got "4f0c".'],
    [["discard"], "message discard: expected an id of at least 4 characters such as 4f0c1a2b"],
  ]);
});
