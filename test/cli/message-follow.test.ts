import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { type Sleep, sleep } from "../../plugin/store/retry.js";
import { loopbackServer } from "../helpers/loopback.js";
import { shortenPauses } from "../helpers/time-limits.js";
import { type Correspondent, correspondents } from "./correspondent.js";
import { longCommand } from "./helpers.js";
import { describeWithoutKeychain } from "./machine.js";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

/** A running `message follow`. */
interface Following {
  printed: { stdout: string; stderr: string };
  /** The texts of the messages so far. */
  texts(): string[];
  end(): Promise<number | null>;
}

/** Sleeps for a hundredth of the given time. */
const sleepBriefly: Sleep = (milliseconds, signal) => sleep(milliseconds / 100, signal);

/** Runs `eleventy-twtxt message follow ARGS`, and waits until it is ready. */
async function follow({ machine, environment, allowing }: Correspondent, ...args: string[]): Promise<Following> {
  const words = ["message", "follow", ...args, ...allowing];
  const { printed, end } = longCommand(machine.folder, words, { environment }, { sleep: sleepBriefly });
  ends.push(end);
  await expect.poll(() => printed.stderr).toContain("Stop with Ctrl-C.");
  return { printed, texts: () => printed.stdout.split("\n").filter((line) => line.startsWith("  ")), end };
}

/** A host that starts a response and never ends it. */
function slowHost() {
  return loopbackServer((_request, response) => {
    response.writeHead(200).write("{");
  });
}

describeWithoutKeychain("eleventy-twtxt message follow", () => {
  it("deletes messages of blocked senders, and shows the others", async () => {
    const { alice, bob, carol } = await correspondents(["alice", "bob", "carol"]);
    await bob.message("send", alice.address, "Hello");
    await carol.message("send", alice.address, "Buy now");
    await alice.message("block", carol.address);
    const following = await follow(alice, "--all");
    await expect
      .poll(() => [following.texts(), alice.requests])
      .toEqual([["  Hello"], expect.arrayContaining(["DELETE 200"])]);
    expect(await following.end()).toBe(0);
    expect(await alice.messageJson("list")).toHaveLength(1);
  });

  it("shows each new message once, through a subscription, and stops at Ctrl-C", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.message("send", bob.address, "before");
    const following = await follow(bob);
    for (const text of ["one", "two"]) {
      await alice.message("send", bob.address, text);
      await expect.poll(following.texts).toContain(`  ${text}`);
    }
    const block = (text: string) => `[0-9a-f]{8}  \\S+Z  ${alice.address}  verified\n  ${text}\n`;
    expect(following.printed.stdout).toMatch(new RegExp(`^${block("one")}\n${block("two")}$`));
    expect(await following.end()).toBe(0);
    expect(following.printed.stderr).toBe(`Waiting for messages to ${bob.address}. Stop with Ctrl-C.\n`);
    expect(await bob.messageJson("list")).toHaveLength(3);
  });

  it("--all starts with the existing messages, and --json prints a line for each", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await alice.message("send", bob.address, "one\ntwo");
    const following = await follow(bob, "--all", "--json");
    const lines = () => following.printed.stdout.split("\n").slice(0, -1);
    // A message is printed only after the lookup of its sender.
    await expect.poll(lines).toHaveLength(1);
    await alice.message("send", bob.address, "three");
    await expect.poll(lines).toHaveLength(2);
    expect(lines().map((line) => JSON.parse(line))).toMatchObject([
      { text: "one\ntwo", trust: "verified" },
      { text: "three", trust: "verified", address: alice.address },
    ]);
    expect(await following.end()).toBe(0);
  });

  it("shows other messages while the host of an unknown sender is slow, and ends without waiting for it", async () => {
    const { alice, bob, eve } = await correspondents(["alice", "bob", "eve"]);
    // The timeouts of requests do not fire.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const slow = await slowHost();
    const file = eve.keyFile("slow.key", `eve@${slow.host}`, 9);
    const following = await follow(bob, "--allow-private-host", slow.host);
    await eve.runOnTerminal(["message", "send", bob.address, "slow", "--identity", file]);
    await expect.poll(() => slow.requests).toHaveLength(1);
    await alice.runOnTerminal(["message", "send", bob.address, "quick"]);
    await expect.poll(following.texts).toEqual(["  quick"]);
    expect(await following.end()).toBe(0);
    expect(following.texts()).toEqual(["  quick"]);
    expect(slow.requests).toHaveLength(1);
    vi.runOnlyPendingTimers();
    vi.useRealTimers();
    expect(await bob.messageJson("list")).toMatchObject([{ text: "quick" }, { text: "slow", trust: "unverified" }]);
  });

  it("polls without a subscription, and requests the body of new messages only", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"], { isStreaming: false });
    await alice.message("send", bob.address, "before");
    const following = await follow(bob, "--every", "5");
    await expect.poll(() => bob.requests).toContain("GET 304");
    await alice.message("send", bob.address, "after");
    await expect.poll(following.texts).toEqual(["  after"]);
    const count = bob.requests.length;
    await expect.poll(() => bob.requests.slice(count)).toContain("GET 304");
    expect(following.texts()).toEqual(["  after"]);
    expect(bob.requests.filter((one) => one === "GET 406")).toHaveLength(1);
    expect(await following.end()).toBe(0);
  });

  it("shows a message that arrives after the clock of the server has gone back", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"], { isStreaming: false });
    for (const [text, behindMs] of [
      ["old", 90_000],
      ["newest", 0],
    ] as const) {
      bob.clockLagMs = behindMs;
      await alice.message("send", bob.address, text);
    }
    const following = await follow(bob, "--every", "5");
    bob.clockLagMs = 30_000;
    await alice.message("send", bob.address, "late");
    await expect.poll(following.texts).toEqual(["  late"]);
    expect((await bob.messageJson("list")).map(({ text }) => text)).toEqual(["late", "newest", "old"]);
    expect(await following.end()).toBe(0);
  });

  it.each([{ isStreaming: true }, { isStreaming: false }])(
    "reports an outage once, and continues after it: streaming $isStreaming",
    async (host) => {
      shortenPauses();
      const { alice, bob } = await correspondents(["alice", "bob"], host);
      await alice.message("send", bob.address, "first");
      const following = await follow(bob, "--every", "5");
      await bob.stop();
      await expect.poll(() => following.printed.stderr).toContain("The inbox does not answer.");
      await bob.start();
      await expect.poll(() => following.printed.stderr).toContain("The inbox answers again.\n");
      await alice.message("send", bob.address, "second");
      await expect.poll(following.texts).toEqual(["  second"]);
      expect(await following.end()).toBe(0);
      expect(following.printed.stderr.match(/does not answer/g)).toHaveLength(1);
    },
  );

  it("1: ends if the inbox refuses the request", async () => {
    const { bob } = await correspondents(["bob"], { isStreaming: false });
    const following = await follow(bob, "--every", "5");
    bob.failWithStatus = 403;
    await expect.poll(() => following.printed.stderr).toContain("answers 403");
    expect(await following.end()).toBe(1);
  });

  it("1: says at once that the inbox cannot be reached and what to check, as list does", async () => {
    const { bob } = await correspondents(["bob"]);
    await bob.stop();
    for (const action of ["follow", "list"]) {
      const outcome = await bob.message(action);
      expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
      expect(outcome.stderr).toMatch(
        /^eleventy-twtxt: \S+ could not be reached: ECONNREFUSED\. Check that the site is running, or name its address with --url\.\n$/,
      );
    }
  });
});
