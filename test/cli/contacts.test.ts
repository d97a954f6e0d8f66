import { describe, expect, it } from "vitest";
import { CAROL, foundFor } from "../messages/neighbourhood.js";
import { contactsOf, correspondents } from "./correspondent.js";
import { describeWithoutKeychain } from "./machine.js";
import { itRefusesUsage } from "./wrong-usage.js";

describeWithoutKeychain("eleventy-twtxt contacts", () => {
  it("lists the known keys, and forgets one", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    expect(await alice.run(["contacts"])).toEqual({ exitCode: 0, stdout: "", stderr: "0 known.\n" });
    await alice.message("send", bob.address, "hello");
    await contactsOf(alice).pin(foundFor(CAROL, { byDns: true }));

    const listed = await alice.run(["contacts", "list"]);
    const day = "\\d{4}-\\d\\d-\\d\\d";
    expect(listed).toMatchObject({ exitCode: 0, stderr: "2 known.\n" });
    expect(listed.stdout).toMatch(
      new RegExp(`^${bob.address} *  ${bob.kex}  ${day}\n${CAROL.address} *  ${CAROL.kex}  ${day}  by DNS\n$`),
    );
    const data = JSON.parse((await alice.run(["contacts", "--json"])).stdout);
    expect(data).toMatchObject([{ address: bob.address, key: bob.kex, endpoint: bob.endpoint }, { byDns: true }]);

    const forgotten = await alice.run(["contacts", "forget", bob.address.toUpperCase()]);
    expect(forgotten).toEqual({ exitCode: 0, stdout: "", stderr: `${bob.address} forgotten.\n` });
    expect(await contactsOf(alice).list()).toMatchObject([{ address: CAROL.address }]);
    const again = await alice.run(["contacts", "forget", bob.address]);
    expect(again).toMatchObject({ exitCode: 1, stderr: `${bob.address} is not one of your contacts.\n` });
  });

  it("accepts the first key, says if it is already known, and replaces it with a new one", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const accept = () => alice.run(["contacts", "accept", bob.address]);
    expect(await accept()).toEqual({
      exitCode: 0,
      stdout: `new key  ${bob.kex}\n`,
      stderr: `You have accepted this key of ${bob.address}.\n`,
    });
    expect((await accept()).stderr).toBe(`You already know this key of ${bob.address}.\n`);
    const old = bob.kex;
    await bob.changeKey(7);
    const changed = await accept();
    expect(changed.stdout).toMatch(new RegExp(`^old key  ${old}  since \\S{10}\nnew key  ${bob.kex}\n$`));
    expect(await contactsOf(alice).get(bob.address)).toMatchObject({ key: bob.kex });
  });

  it("1: accepts only the key that is given after the address", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.run(["contacts", "accept", bob.address]);
    const old = bob.kex;
    await bob.changeKey(7);
    const refused = await alice.run(["contacts", "accept", bob.address, alice.kex]);
    expect(refused).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `eleventy-twtxt: ${bob.address} has published a different key, ${bob.kex}. Nothing was changed.\n`,
    });
    expect(await contactsOf(alice).get(bob.address)).toMatchObject({ key: old });
    const accepted = await alice.run(["contacts", "accept", bob.address, bob.kex.toUpperCase()]);
    expect(accepted).toMatchObject({ exitCode: 0, stderr: `You have accepted this key of ${bob.address}.\n` });
    expect(await contactsOf(alice).get(bob.address)).toMatchObject({ key: bob.kex });
  });

  it("1: does not change the known key if the lookup fails", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.run(["contacts", "accept", bob.address]);
    await bob.stop();
    const outcome = await alice.run(["contacts", "accept", bob.address]);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("did not answer") });
    expect(await contactsOf(alice).get(bob.address)).toMatchObject({ key: bob.kex });
  });
});

describe("wrong usage of eleventy-twtxt contacts", () => {
  itRefusesUsage("contacts", [
    [["acept", "bob@bob.example"], 'contacts: there is no "acept". Did you mean "accept"?'],
    [["bob@bob.example"], 'contacts: there is no "bob@bob.example". Actions: list, accept, forget.'],
    [["accept"], "contacts accept: expected an address such as bob@bob.example."],
    [
      ["accept", "bob@bob.example", "kex1"],
      'contacts accept: expected a public key as lookup and contacts show it, got "kex1".',
    ],
    [["forget", "bob"], 'contacts forget: expected an address such as bob@bob.example, got "bob".'],
    [["list", "bob@bob.example"], 'contacts list: expected no arguments, got "bob@bob.example".'],
  ]);
});
