import { expect, it } from "vitest";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { nameEvent } from "../../plugin/messages/guest-name.js";
import { decodeKey, formatMessage, seal } from "../../plugin/messages/index.js";
import { type Correspondent, correspondents } from "./correspondent.js";
import { command } from "./helpers.js";
import { describeWithoutKeychain } from "./machine.js";

const SHORT = /guest kex1\w{3}…\w\w/;

/** Sends a message from the contact page of Alice's site, as a guest whose browser has the key of this seed. */
async function writeAsGuest(alice: Correspondent, seed: number, text: string, name = ""): Promise<string> {
  const { address } = alice.guest(seed);
  const events = [nameEvent(name) ?? []].flat();
  const message = formatMessage({ time: "2026-11-20T09:00:00Z", from: address, text, events });
  const sender = toSecretKey(new Uint8Array(32).fill(seed));
  const recipients = [decodeKey(alice.kex), sender.publicKey];
  const body = seal(new TextEncoder().encode(message), { sender, recipients, armor: true });
  const response = await fetch(alice.endpoint, { method: "POST", body });
  expect(response.status).toBe(202);
  return address;
}

const idIn = async (person: Correspondent, text: string) =>
  String((await person.messageJson("list")).find((message) => message.text === text)?.id);

describeWithoutKeychain("a guest", () => {
  it("writes from the browser, is listed with an unverified name, gets a reply, and can read it with a saved key", async () => {
    const { alice } = await correspondents(["alice"]);
    const address = await writeAsGuest(alice, 9, "Do you sell quinces?", "Dana");
    const { stdout, stderr } = await alice.message("list");
    expect(stdout).toMatch(
      new RegExp(`^\\w{8}  2026-11-20T09:00:00Z  ${SHORT.source} "Dana" +Do you sell quinces\\?\n$`),
    );
    expect(stdout).not.toContain("verified");
    expect(stderr).toBe("1 message, 1 unread, 1 from a guest.\n");
    expect(await alice.messageJson("list")).toMatchObject([{ address, guest: true, name: "Dana", trust: "verified" }]);
    expect((await alice.message("read")).stdout).toContain(`\nAddress: ${address}\n`);

    const sent = await alice.message(
      "reply",
      (await idIn(alice, "Do you sell quinces?")).slice(0, 8),
      "From October on.",
    );
    expect([sent.exitCode, sent.stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^${SHORT.source}  delivered to ${alice.url}/inbox/kex1\\w+\n$`)),
    ]);
    expect(alice.requests.at(-1)).toBe("POST 202");
    const dana = alice.guest(9);
    expect(await alice.messageJson("list", ...dana.options)).toMatchObject([
      { text: "From October on.", address: alice.address, trust: "verified", guest: false, name: null },
    ]);
    expect((await alice.message("send", alice.address, "Good.", ...dana.options)).exitCode).toBe(0);
    expect(await alice.messageJson("list")).toMatchObject([{ text: "Good.", address, name: null }, {}]);
  });

  it("of a site on this machine needs no --allow-private-host", async () => {
    const { alice } = await correspondents(["alice"]);
    await writeAsGuest(alice, 9, "Do you sell quinces?");
    const { machine, environment } = alice;
    const list = await command(machine.folder, ["message", "list"], { environment });
    expect(list).toMatchObject({ exitCode: 0, stderr: "1 message, 1 unread, 1 from a guest.\n" });
    const id = (await idIn(alice, "Do you sell quinces?")).slice(0, 8);
    const reply = await command(machine.folder, ["message", "reply", id, "From October on."], { environment });
    expect(reply).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("delivered to") });
  });

  it("can be sent messages by address, and a retried delivery gets a new signature", async () => {
    const { alice } = await correspondents(["alice"]);
    const dana = alice.guest(9);
    alice.failWithStatus = 503;
    const waiting = await alice.message("send", dana.address, "Hello");
    expect([waiting.exitCode, waiting.stdout]).toEqual([0, expect.stringContaining("not delivered yet")]);
    alice.failWithStatus = null;
    expect((await alice.message("retry")).stdout).toContain("delivered to");
    expect(await alice.messageJson("list", ...dana.options)).toMatchObject([{ text: "Hello" }]);
    expect((await alice.message("sent")).stdout).toMatch(new RegExp(`to ${SHORT.source}`));
  });

  it("of another site is refused before anything is sent", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const { exitCode, stderr } = await alice.message("send", bob.guest(9).address, "Hello");
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("Only the authors of that site can write to its guests."),
    ]);
    expect([...alice.requests, ...bob.requests]).toEqual([]);
  });

  it("cannot write to another guest: the host responds with 403", async () => {
    const { alice } = await correspondents(["alice"]);
    const { exitCode, stdout } = await alice.message("send", alice.guest(10).address, "Hi", ...alice.guest(9).options);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining("it answers 403")]);
  });

  it("is shown as forged if another key signed the message, and gets no reply", async () => {
    const { alice, eve } = await correspondents(["alice", "eve"]);
    const { address } = alice.guest(9);
    const fake = eve.keyFile("fake.key", address, 11);
    await eve.message("send", alice.address, "I am Dana", "--identity", fake);
    const [forged] = await alice.messageJson("list");
    expect(forged).toMatchObject({
      trust: "unverified",
      reason: "forged: not signed with the key that is its address",
      guest: true,
    });
    expect((await alice.message("list")).stderr).toBe("1 message, 1 unread, 1 unverified.\n");
    const { exitCode, stderr } = await alice.message("reply", String(forged?.id).slice(0, 8), "Hello");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("It is not certain who wrote")]);
  });

  it("cannot pose as someone else with a name", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await writeAsGuest(alice, 9, "hi", `${bob.address}"  verified\u001b[2J\u202e\n\u2028x`);
    const { stdout } = await alice.message("list");
    expect(stdout).toMatch(new RegExp(`^\\w{8}  \\S+  ${SHORT.source} "${bob.address}' verified \\[2J x" +hi\n$`));
  });

  it("cannot start a line of a narrow terminal with a name", async () => {
    const { alice } = await correspondents(["alice"]);
    await writeAsGuest(alice, 9, "hi", `${"long ".repeat(5)}4f0c1a2b 2026-11-20 bob@bob.example`);
    for (const args of [["list"], ["list", "--threads"], ["read"]]) {
      const { stdout } = await alice.runOnTerminal(["message", ...args], { columns: () => 60 });
      const lines = stdout.split("\n");
      expect([args, lines.filter((line) => line.length > 60 && !line.startsWith("Address: "))]).toEqual([args, []]);
      expect([args, lines.filter((line) => line.startsWith("4f0c1a2b"))]).toEqual([args, []]);
      expect(stdout.replace(/\s+/g, " ")).toContain("4f0c1a2b 2026-11-20 bob@bob.example");
    }
  });
});

describeWithoutKeychain("message reply", () => {
  it("replies to a verified sender, also with a text from standard input", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await bob.message("send", alice.address, "At nine?");
    const id = (await idIn(alice, "At nine?")).slice(0, 6);
    expect((await alice.message("reply", id, "Nine it is.")).exitCode).toBe(0);
    expect((await alice.run(["message", "reply", id], "Or ten.\n")).exitCode).toBe(0);
    expect(await bob.messageJson("list")).toMatchObject([{ text: "Or ten." }, { text: "Nine it is." }]);
  });

  it("says what is missing", async () => {
    const { alice } = await correspondents(["alice"]);
    expect((await alice.message("reply")).stderr).toContain("expected an id of at least 4 characters");
    const unknown = "No message in your inbox has an id that starts with ffff.";
    expect((await alice.message("reply", "ffff", "x")).stderr).toContain(unknown);
  });
});

describeWithoutKeychain("message list --threads", () => {
  it("groups messages and sent copies by correspondent: verified addresses, then guests, then unverified senders", async () => {
    const { alice, bob, eve } = await correspondents(["alice", "bob", "eve"]);
    await writeAsGuest(alice, 9, "From a guest", "Dana");
    await eve.message("send", alice.address, "I am Bob", "--identity", eve.keyFile("fake.key", bob.address, 11));
    await bob.message("send", alice.address, "At nine?");
    await alice.message("reply", (await idIn(alice, "At nine?")).slice(0, 8), "Nine it is.");

    const { stdout } = await alice.message("list", "--threads");
    const time = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ";
    expect(stdout).toMatch(
      new RegExp(
        [
          `^${bob.address}  verified:`,
          `  \\w{8}  ${time}       At nine\\?`,
          `  \\w{8}  ${time}  you  Nine it is\\.`,
          "",
          `${SHORT.source} "Dana":`,
          `  \\w{8}  ${time} +From a guest`,
          "",
          "Not verified:",
          `  \\w{8}  ${time}  ${bob.address}  unverified  I am Bob`,
          "    signed with a key that is not that of .*",
          "$",
        ].join("\n"),
      ),
    );
    expect(await alice.messageJson("list", "--threads")).toMatchObject([
      { address: bob.address, received: [{ text: "At nine?" }], sent: [{ text: "Nine it is." }] },
      { address: alice.guest(9).address, received: [{ name: "Dana" }], sent: [] },
      { address: null, received: [{ text: "I am Bob" }], sent: [] },
    ]);
  });
});

describeWithoutKeychain("message block", () => {
  it("deletes a blocked sender's messages when they are opened, and shows messages sent after unblock", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await bob.message("send", alice.address, "Buy now");
    await alice.message("list");
    const blocked = await alice.message("block", bob.address);
    expect([blocked.exitCode, blocked.stderr]).toEqual([0, expect.stringContaining(`message unblock ${bob.address}`)]);
    expect((await alice.message("blocked")).stdout).toMatch(new RegExp(`^${bob.address}  \\d{4}-\\d\\d-\\d\\d\n$`));

    alice.operator = async (request, answer) =>
      request.method === "DELETE" ? new Response(null, { status: 503 }) : answer();
    const hidden = await alice.message("list");
    const stays = "1 message of blocked senders not shown, but not deleted yet: the inbox does not answer.";
    expect([hidden.stdout, hidden.stderr]).toEqual(["", `${stays}\n0 messages.\n`]);
    alice.operator = null;

    const listed = await alice.message("list");
    expect([listed.stdout, listed.stderr]).toEqual(["", "1 message of blocked senders deleted.\n0 messages.\n"]);
    expect(alice.requests.at(-1)).toBe("DELETE 200");
    await bob.message("send", alice.address, "Buy later", "--as", bob.address);
    expect((await alice.message("read")).stdout).toBe("");

    expect((await alice.message("unblock", bob.address)).exitCode).toBe(0);
    expect((await alice.message("unblock", bob.address)).exitCode).toBe(1);
    await bob.message("send", alice.address, "Sorry");
    expect(await alice.messageJson("list")).toMatchObject([{ text: "Sorry" }]);
    expect((await alice.message("blocked", "--json")).stdout).toBe("[]\n");
  });

  it("accepts the id of a message, since a guest's address is long", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await writeAsGuest(alice, 9, "Spam");
    await bob.message("send", alice.address, "Hello");
    await alice.message("block", (await idIn(alice, "Spam")).slice(0, 8));
    await writeAsGuest(alice, 9, "More spam");
    expect(await alice.messageJson("list")).toMatchObject([{ text: "Hello" }]);
  });

  it("does not block an address because another key claims it in a message", async () => {
    const { alice, bob, eve } = await correspondents(["alice", "bob", "eve"]);
    await eve.message("send", alice.address, "I am Bob", "--identity", eve.keyFile("fake.key", bob.address, 11));
    const { exitCode } = await alice.message("block", (await idIn(alice, "I am Bob")).slice(0, 8));
    expect(exitCode).toBe(1);
    expect((await alice.message("blocked")).stderr).toBe("0 senders blocked.\n");
  });

  it("refuses the author's own address", async () => {
    const { alice } = await correspondents(["alice"]);
    expect((await alice.message("block", alice.address)).stderr).toContain("You cannot block your own address");
  });
});
