import { expect, it } from "vitest";
import { correspondents } from "./correspondent.js";
import { describeWithoutKeychain, keys } from "./machine.js";

/** Control characters that move the cursor, set a colour and reverse the text direction. */
const HOSTILE = "\u001b[2J\u001b]0;title\u0007 a\u202eb\u2066c\u009bd\re";
const SHOWN = "\\u001b[2J\\u001b]0;title\\u0007 a\\u202eb\\u2066c\\u009bd\ne";

/** Wide characters, which take two columns. */
function widthOf(line: string): number {
  return line.length + (line.match(/好/g)?.length ?? 0);
}

describeWithoutKeychain("the sender of a message", () => {
  it("is unverified if another key claims the address", async () => {
    const { alice, bob, eve } = await correspondents(["alice", "bob", "eve"]);
    const file = eve.keyFile("fake.key", alice.address, 9);
    await alice.message("send", bob.address, "I am Alice");
    expect(await eve.message("send", bob.address, "I am Alice too", "--identity", file)).toMatchObject({ exitCode: 0 });

    const reason = `signed with a key that is not that of ${alice.address}`;
    expect(await bob.messageJson("list")).toMatchObject([
      { text: "I am Alice too", trust: "unverified", reason, address: alice.address },
      { text: "I am Alice", trust: "verified", reason: null, signer: alice.kex, address: alice.address },
    ]);
    const { stdout, stderr } = await bob.message("list");
    expect(stdout.split("\n").slice(0, 2)).toEqual([
      expect.stringMatching(/ {2}unverified {2}I am Alice too$/),
      `  ${reason}`,
    ]);
    expect(stderr).toBe("2 messages, 2 unread, 1 unverified.\n");
    expect((await bob.message("read")).stdout).toMatch(
      new RegExp(`  unverified\nReason: ${reason}\n  I am Alice too\n`),
    );

    const before = alice.requests.length;
    await bob.message("read", "--receipts");
    expect(alice.requests.slice(before)).toEqual(["POST 202"]);
    expect(await alice.messageJson("list")).toMatchObject([{ receipts: [{}], events: [{ name: "read" }] }]);
  });

  it("does not matter after the author's key is replaced: old messages and copies can still be opened", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await bob.message("send", alice.address, "sealed to the old key");
    await alice.message("send", bob.address, "my copy");
    const created = await keys(alice.machine, "create", alice.address, "--replace");
    expect(created.exitCode).toBe(0);
    expect(created.stderr).toMatch(/The old key is now in \S+\/former\/\S+\.key/);
    expect(created.stdout.trim()).not.toBe(alice.kex);
    await alice.publish(created.stdout.trim());

    expect(await alice.messageJson("list")).toMatchObject([{ text: "sealed to the old key", trust: "verified" }]);
    expect((await alice.message("sent")).stdout).toContain("my copy");
    await alice.message("send", alice.address, "to my new self");
    expect(await alice.messageJson("list")).toHaveLength(2);
  });

  it("is shown as key-changed until the new key is accepted", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.message("send", bob.address, "with the old key");
    expect(await bob.messageJson("list")).toMatchObject([{ trust: "verified" }]);
    const old = alice.kex;
    await alice.changeKey(7);
    await alice.message("send", bob.address, "with the new key");

    const listed = await bob.message("list");
    expect(listed.stdout).toContain(
      `key changed  with the old key\n  signed with the key that you know; ${alice.address} publishes another one now\n`,
    );
    expect(listed.stdout).toMatch(/ {2}key changed {2}with the new key\n {2}signed with a new key; ask /);
    const threads = (await bob.message("list", "--threads")).stdout;
    expect(threads).toMatch(
      new RegExp(`^${alice.address} {2}key changed:\n {2}you know ${old}, but ${alice.kex} is published; ask .*\n`),
    );
    expect(threads).toMatch(/ {2}key changed {2}with the old key\n\nNot verified:\n.*with the new key\n/);
    expect(listed.stdout).toContain(`then type: eleventy-twtxt contacts accept ${alice.address}\n`);
    expect(listed.stderr).toBe("2 messages, 2 unread, 2 key changed.\n");
    const refused = await bob.message("send", alice.address, "Are you Alice?");
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toContain(`There is a new key of ${alice.address} that is not the one pinned on`);
    expect(alice.requests).toEqual([]);

    const accepted = await bob.run(["contacts", "accept", alice.address]);
    expect(accepted).toMatchObject({ exitCode: 0, stderr: `You have accepted this key of ${alice.address}.\n` });
    expect(accepted.stdout).toMatch(new RegExp(`^old key  ${old}  since \\S{10}\nnew key  ${alice.kex}\n$`));
    expect(await bob.messageJson("list")).toMatchObject([
      { text: "with the new key", trust: "verified" },
      { text: "with the old key", trust: "former-key" },
    ]);
    expect((await bob.message("list", "--threads")).stdout).toMatch(
      new RegExp(`^${alice.address} {2}verified:\n.* {2}former key {2}with the old key\n.*Z {2,}with the new key\n$`),
    );
    expect(await bob.message("send", alice.address, "So you are.")).toMatchObject({ exitCode: 0 });
  });

  it("is unverified while the host is unreachable, and the reason names the known key", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.message("send", bob.address, "hello");
    await alice.stop();
    expect((await bob.message("list")).stdout).toContain(`did not answer; no key is pinned\n`);
    await alice.start();
    expect((await bob.message("list")).stderr).toBe("1 message, 1 unread.\n");
    await alice.stop();
    const reason = expect.stringMatching(/did not answer; it is the key pinned on \d{4}-\d\d-\d\d$/);
    expect(await bob.messageJson("list")).toMatchObject([{ trust: "unverified", reason }]);
  });

  it("cannot control the terminal with a text", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.message("send", bob.address, HOSTILE);
    for (const args of [["list"], ["read"], ["read", "--json"]]) {
      const { stdout } = await bob.message(...args);
      expect(stdout).toContain("\\u001b[2J");
      expect(stdout).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
    }
    expect((await bob.message("read")).stdout).toContain(`  ${SHOWN.replace("\n", "\n  ")}\n`);
    expect(await bob.messageJson("list")).toMatchObject([{ text: HOSTILE.replace("\r", "\n") }]);
    expect((await alice.message("sent")).stdout).toContain("\\u001b[2J");
  });

  it("cannot forge a line of output, not even with a long line", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const forged = "ffffffff  2026-11-20T09:00:00Z  carol@carol.example  verified";
    await alice.message(
      "send",
      bob.address,
      `hello\n\n${forged}\n${" ".repeat(78)}${forged}\u2028${forged} ${"好".repeat(70)}`.repeat(3),
    );
    const read = await bob.runOnTerminal(["message", "read"]);
    const ours = read.stdout.split("\n").filter((line) => !line.startsWith("  "));
    expect(ours).toEqual([expect.stringContaining(`${alice.address}  verified`)]);
    expect(Math.max(...read.stdout.split("\n").map(widthOf))).toBeLessThanOrEqual(80);
    expect(read.stdout.replace(/\s/g, "").match(/carol@carol\.exampleverified/g)).toHaveLength(9);

    await alice.message("send", bob.address, `${"\u0001".repeat(10)}${forged}`);
    const listed = (await bob.runOnTerminal(["message", "list"])).stdout.split("\n");
    expect(listed.filter((line) => !line.startsWith("  "))).toHaveLength(2);
    expect(Math.max(...listed.map(widthOf))).toBeLessThanOrEqual(80);
    expect(listed.join("\n")).toMatch(/ {2}verified\s+(\\u0001)+[\s\S]* {2}verified\s+hello$/);
  });

  it("is unknown for a message that is not sealed to this key", async () => {
    const { bob } = await correspondents(["bob"]);
    await bob.message("send", bob.address, "of an earlier key");
    await bob.changeKey(8);
    const listed = await bob.message("list");
    expect(listed.stdout).toMatch(/ {2}\? {2}unreadable\n {2}\S/);
    expect(listed.stderr).toBe("1 message, 1 unread, 1 unreadable.\n");
    expect((await bob.message("read")).stdout).toMatch(/ {2}unreadable\nReason: \S/);
    expect(await bob.messageJson("list")).toMatchObject([{ unreadable: expect.any(String) }]);
    expect((await bob.message("sent")).stdout).toContain("(sealed to a key that is not on this machine)");
  });
});
