import { expect, it } from "vitest";
import { type Correspondent, correspondents } from "./correspondent.js";
import { describeWithoutKeychain } from "./machine.js";

/** A sender who claims another address. */
function forge(eve: Correspondent, claimed: string, to: Correspondent, text: string) {
  return eve.message("send", to.address, text, "--identity", eve.keyFile("fake.key", claimed, 9));
}

describeWithoutKeychain("eleventy-twtxt message delete --unverified", () => {
  it("deletes and lists all unverified messages without asking", async () => {
    const { alice, bob, eve } = await correspondents(["alice", "bob", "eve"]);
    await alice.message("send", bob.address, "verified");
    await forge(eve, alice.address, bob, "forged");
    await forge(eve, `nobody@${eve.host}`, bob, "from nobody");
    const [, ...forged] = await bob.messageJson("list");

    const deleted = await bob.message("delete", "--unverified");
    expect(deleted).toMatchObject({ exitCode: 0, stderr: "2 deleted.\n" });
    const lines = deleted.stdout.split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(new RegExp(`^${String(forged[0]?.id).slice(0, 8)}  .*  unverified  forged$`));
    expect(lines[1]).toBe(`  signed with a key that is not that of ${alice.address}`);
    expect(lines[2]).toMatch(/ {2}unverified {2}from nobody$/);
    expect(await bob.messageJson("list")).toMatchObject([{ text: "verified", trust: "verified" }]);
    expect(await bob.message("delete", "--unverified")).toEqual({ exitCode: 0, stdout: "", stderr: "0 deleted.\n" });
  });

  it("deletes no message whose key has changed", async () => {
    const { alice, bob, eve } = await correspondents(["alice", "bob", "eve"]);
    await alice.message("send", bob.address, "with the old key");
    expect(await bob.messageJson("list")).toMatchObject([{ trust: "verified" }]);
    await alice.changeKey(7);
    await alice.message("send", bob.address, "with the new key");
    await forge(eve, alice.address, bob, "forged");
    const deleted = JSON.parse((await bob.message("delete", "--unverified", "--json")).stdout);
    expect(deleted).toEqual([{ id: expect.any(String), created: expect.any(String), deleted: true }]);
    expect(await bob.messageJson("list")).toMatchObject([{ trust: "key-changed" }, { trust: "key-changed" }]);
  });

  it("keeps messages signed with a known key while its owner's host is down", async () => {
    const { alice, bob, eve } = await correspondents(["alice", "bob", "eve"]);
    await alice.message("send", bob.address, "hello");
    await bob.message("list");
    await forge(eve, alice.address, bob, "forged");
    await alice.stop();
    const deleted = await bob.message("delete", "--unverified");
    const kept = "1 kept: unverified, but signed with a key that you know.";
    expect(deleted).toMatchObject({ exitCode: 0, stderr: `1 deleted. ${kept}\n` });
    expect(await bob.messageJson("list")).toMatchObject([{ text: "hello", trust: "unverified" }]);
  });
});
