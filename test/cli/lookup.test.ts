import { describe, expect, it } from "vitest";
import { lookupLines } from "../../plugin/cli/contacts.js";
import { freePort } from "../helpers/ports.js";
import { BOB, foundFor, hostWith } from "../messages/neighbourhood.js";
import { correspondents } from "./correspondent.js";
import { blog, command } from "./helpers.js";
import { describeWithoutKeychain, environmentOf } from "./machine.js";
import { itRefusesUsage } from "./wrong-usage.js";

const KEX = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";
const { folder } = blog(null);

/** Runs `eleventy-twtxt lookup bob@HOST` on a machine without keys. */
function lookup(host: string, ...args: string[]) {
  const environment = environmentOf(folder);
  return command(folder, ["lookup", `bob@${host}`, "--allow-private-host", host, ...args], { environment });
}

function document(fields: object) {
  return hostWith({ "/.well-known/msg/bob.json": { body: JSON.stringify(fields) } });
}

describeWithoutKeychain("eleventy-twtxt lookup", () => {
  it("shows the key and inbox of an address, and whether the key is the known one", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const facts = [
      `address  ${bob.address}`,
      `key      ${bob.kex}`,
      `inbox    ${bob.endpoint}`,
      `found    ${bob.url}/.well-known/msg/bob.json`,
    ];
    const first = await alice.run(["lookup", bob.address.toUpperCase()]);
    expect(first).toEqual({ exitCode: 0, stdout: [...facts, "contact  none yet", ""].join("\n"), stderr: "" });
    expect((await alice.run(["contacts"])).stderr).toBe("0 known.\n");

    await alice.message("send", bob.address, "hello");
    expect((await alice.run(["lookup", bob.address])).stdout).toMatch(
      /\ncontact {2}the same key, since \d{4}-\d\d-\d\d\n$/,
    );
    const old = bob.kex;
    await bob.changeKey(7);
    const other = await alice.run(["lookup", bob.address]);
    expect(other.stdout).toContain(`\nkey      ${bob.kex}\n`);
    expect(other.stdout).toMatch(
      new RegExp(`\ncontact  another key, since \\S{10}: ${old}\\. Ask over another channel`),
    );
    expect(JSON.parse((await alice.run(["lookup", bob.address, "--json"])).stdout)).toEqual({
      address: bob.address,
      endpoint: bob.endpoint,
      key: bob.kex,
      url: `${bob.url}/.well-known/msg/bob.json`,
      byDns: false,
      pinned: { key: old, since: expect.any(String) },
    });
  });

  it("needs no key on this machine, and escapes control characters", async () => {
    const { host } = await document({ key: KEX, endpoint: "https://bob.example/\u001b[2Jinbox" });
    const { exitCode, stdout } = await lookup(host);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("inbox    https://bob.example/%1B[2Jinbox\n");
    expect(stdout).not.toContain("contact");
  });

  it("1: names the step that failed", async () => {
    const at = (body: string) => hostWith({ "/.well-known/msg/bob.json": { body } });
    const hosts = await Promise.all([
      hostWith({}),
      at("<!doctype html>"),
      document({ key: `${KEX}x`, endpoint: "https://bob.example/inbox" }),
      document({ key: KEX, endpoint: "http://bob.example/inbox" }),
      document({ key: KEX }),
    ]);
    const outcomes = await Promise.all(
      [...hosts.map(({ host }) => host), `127.0.0.1:${await freePort()}`].map((host) => lookup(host)),
    );
    expect(outcomes.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(outcomes.map(() => [1, ""]));
    const expected = [
      "each of the 4 places on 127.0.0.1",
      "msg/bob.json is not JSON",
      "msg/bob.json has a malformed key",
      "msg/bob.json has an endpoint that is not an https URL",
      'msg/bob.json lacks an "endpoint" or a "key"',
      "did not answer (the connection failed: ECONNREFUSED)",
    ];
    expect(outcomes.map(({ stderr }) => stderr)).toEqual(expected.map((part) => expect.stringContaining(part)));
    expect(outcomes[0]?.stderr).toContain("answers 404");
  });
});

describe("what eleventy-twtxt lookup shows", () => {
  it("says that a key was found through DNS", () => {
    const url = "https://other.example/.well-known/msg/bob.json";
    expect(lookupLines(foundFor(BOB, { byDns: true, url }), null)).toContain(`found    ${url} (by DNS)`);
    expect(lookupLines(foundFor(BOB, { url }), null)).toContain(`found    ${url}`);
  });
});

describe("wrong usage of eleventy-twtxt lookup", () => {
  itRefusesUsage("lookup", [
    [[], "lookup: expected an address such as bob@bob.example."],
    [
      ["bob@bob.example", "carol@carol.example"],
      "lookup: expected an address such as bob@bob.example, got 2 arguments.",
    ],
    [["bob"], 'lookup: expected an address such as bob@bob.example, got "bob".'],
  ]);
});
