import { expect, it } from "vitest";
import { type Correspondent, contactsOf, correspondents } from "./correspondent.js";
import { describeWithoutKeychain } from "./machine.js";

const HOUR_MS = 3600_000;

/** Alice has written to Bob and Carol; Bob's host is now down. */
async function withBobDown() {
  const people = await correspondents(["alice", "bob", "carol"]);
  const { alice, bob, carol } = people;
  await alice.message("send", bob.address, carol.address, "first", "--no-copy");
  await bob.stop();
  return people;
}

async function entries(person: Correspondent) {
  return JSON.parse((await person.message("outbox", "--json")).stdout);
}

describeWithoutKeychain("the outbox", () => {
  it("0: keeps a message for a recipient who cannot be reached, and retry delivers it later", async () => {
    const { alice, bob, carol } = await withBobDown();
    const sent = await alice.message("send", bob.address, carol.address, "second");
    expect(sent).toMatchObject({ exitCode: 0, stderr: "1 delivered, 1 to be retried.\n" });
    expect(sent.stdout).toContain(`${carol.address}  delivered to ${carol.endpoint}\n`);
    const waiting = `not delivered yet at ${bob.endpoint}; to try again after \\S+Z: eleventy-twtxt message retry \\(kept in the outbox\\)`;
    expect(sent.stdout).toMatch(new RegExp(`${bob.address} *  ${waiting}\n  \\S+ could not be reached: .*\n`));

    const outbox = await alice.message("outbox");
    expect(outbox).toMatchObject({
      exitCode: 0,
      stderr: "1 in the outbox. To try now, type: eleventy-twtxt message retry\n",
    });
    expect(outbox.stdout).toMatch(
      new RegExp(
        `^[0-9a-f]{8}  \\S+Z  second\n  ${bob.address} *  ${waiting}\n    \\S+ could not be reached: .*\n  ${carol.address}  delivered`,
      ),
    );
    const [entry] = await entries(alice);
    expect(await alice.messageJson("sent")).toMatchObject([{ id: entry.id, to: [carol.address], text: "second" }]);

    const early = await alice.message("retry");
    expect(early).toMatchObject({ exitCode: 0, stderr: "1 to be retried.\n" });
    await bob.start();
    const late = await alice.message("retry");
    expect(late).toMatchObject({ exitCode: 0, stderr: "1 delivered.\n" });
    expect(late.stdout).toBe(`${entry.id.slice(0, 8)}  ${bob.address}  delivered to ${bob.endpoint}\n`);
    expect((await bob.messageJson("list")).map(({ text }) => text)).toEqual(["second", "first"]);
    expect(await alice.message("outbox")).toMatchObject({ stdout: "", stderr: "0 in the outbox.\n" });
    expect(await alice.messageJson("sent")).toMatchObject([{ id: entry.id, to: [bob.address, carol.address] }]);
    expect(await alice.message("retry")).toMatchObject({
      exitCode: 0,
      stderr: "The outbox has nothing to retry.\n",
    });
    expect(carol.requests).toEqual(["POST 202", "POST 202"]);
  });

  it("says that the key of a recipient was found through DNS", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const { address, kex, endpoint } = bob;
    await contactsOf(alice).pin({ address, key: kex, endpoint, url: bob.url, byDns: true });
    await bob.stop();
    const sent = await alice.message("send", address, "hello");
    expect(sent.stdout).toMatch(/\(kept in the outbox\) {2}verified by DNS\n {2}\S+ could not be reached: .*\n$/);
    const again = await alice.message("send", address, "hello", "--json");
    expect(JSON.parse(again.stdout).recipients).toMatchObject([{ address, byDns: true }]);
    await bob.start();
    const now = await alice.message("send", address, "hello", "--json");
    expect(JSON.parse(now.stdout).recipients).toMatchObject([{ address, byDns: false }]);
  });

  it("is retried by the next send after the retry time", async () => {
    const { alice, bob, carol } = await withBobDown();
    await alice.message("send", bob.address, "second");
    await bob.start();
    expect((await alice.message("send", carol.address, "third")).stderr).toBe("1 delivered.\n");
    expect(await entries(alice)).toHaveLength(1);

    const now = () => Date.now() + HOUR_MS;
    const later = await alice.runOnTerminal(["message", "send", carol.address, "fourth"], { now });
    expect(later.exitCode).toBe(0);
    expect(later.stderr.split("\n")).toEqual([
      "From the outbox: 1 delivered. To see what is left, type: eleventy-twtxt message outbox",
      "1 delivered.",
    ]);
    expect((await bob.messageJson("list")).map(({ text }) => text)).toEqual(["second", "first"]);
    expect(await entries(alice)).toEqual([]);
  });

  it("1: keeps a refused message until the author retries or discards it", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    bob.failWithStatus = 400;
    for (const text of ["one", "two"]) {
      const sent = await alice.message("send", bob.address, text);
      expect(sent).toMatchObject({ exitCode: 1, stderr: "1 failed.\n" });
      expect(sent.stdout).toBe(`${bob.address}  failed at ${bob.endpoint} (kept in the outbox)\n  it answers 400\n`);
    }
    expect(await alice.message("retry")).toMatchObject({ exitCode: 1, stderr: "2 failed.\n" });

    const [one, two] = await entries(alice);
    expect(one).toMatchObject({ recipients: [{ state: "failed", why: "it answers 400" }] });
    expect(one.sealed).toBeUndefined();
    const discarded = await alice.message("discard", one.id.slice(0, 12));
    expect(discarded).toMatchObject({ exitCode: 0, stderr: `Discarded. Not delivered to ${bob.address}.\n` });
    expect(discarded.stdout).toBe(`${one.id.slice(0, 8)}  ${one.created.slice(0, 19)}Z\n`);
    expect(await alice.message("discard", one.id)).toMatchObject({ exitCode: 1, stdout: "" });

    bob.failWithStatus = null;
    expect(await alice.message("retry")).toMatchObject({ exitCode: 0, stderr: "1 delivered.\n" });
    expect(await bob.messageJson("list")).toMatchObject([{ id: two.id }]);
    expect(await entries(alice)).toEqual([]);
  });

  it("1: sends nothing to any recipient if one is not found", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const nobody = `nobody@${bob.host}`;
    const sent = await alice.message("send", bob.address, nobody, "hello");
    expect(sent).toMatchObject({ exitCode: 1, stdout: "" });
    expect(sent.stderr).toContain(
      `${nobody} publishes no key for messages: each of the 4 places on ${bob.host} answers 404`,
    );
    expect([bob.requests, await entries(alice), await alice.messageJson("sent")]).toEqual([[], [], []]);
  });

  it("stores read receipts that cannot be delivered; retries only those with a key", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.message("send", bob.address, "hello");
    alice.failWithStatus = 503;
    const read = await bob.message("read", "--receipts");
    expect(read).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("not delivered yet at") });
    expect((await bob.message("outbox")).stdout).toContain("  (read receipt)\n");
    alice.failWithStatus = null;
    expect((await bob.message("retry")).stderr).toBe("1 delivered.\n");
    expect((await bob.message("read", "--receipts")).stderr).toBe("1 message.\n");
    expect((await alice.messageJson("list")).map(({ receipts }) => receipts)).toMatchObject([[{}]]);
  });

  it("prints the whole outbox with --json", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const sent = await alice.message("send", bob.address, "hello", "--json");
    const [message] = await bob.messageJson("list");
    expect(JSON.parse(sent.stdout)).toMatchObject({
      id: message?.id,
      recipients: [{ address: bob.address, endpoint: bob.endpoint, state: "delivered", why: null }],
    });
    expect(sent.stderr).toBe("1 delivered.\n");
    const deleted = await bob.message("delete", String(message?.id), "--json");
    expect(JSON.parse(deleted.stdout)).toEqual([{ id: message?.id, created: message?.created, deleted: true }]);
  });
});
