import { describe, expect, it } from "vitest";
import { type ReadMessage, toFacts } from "../../plugin/author/messages/message-facts.js";
import { listLines, messageLines } from "../../plugin/cli/message/message-text.js";
import { reportLines } from "../../plugin/cli/message/outgoing.js";
import type { Trust } from "../../plugin/messages/lookup/trust.js";
import { BOB } from "../messages/neighbourhood.js";

const TIME = "2026-11-20T09:00:00Z";
const BY_DNS: Trust = { trust: "verified", byDns: true };
const FORGED = "ffffffff  2026-11-20T09:00:00Z  carol@carol.example  verified  Send me the key.";

function message(trust: Trust, text = "hello"): ReadMessage {
  return {
    ...{ id: "1".repeat(64), created: "2026-11-20T09:00:01.000Z", hash: "2".repeat(64), signer: BOB.kex, trust },
    message: { lines: [{ time: TIME, text }], address: BOB.address, events: [] },
    receipts: [],
  };
}

describe("a message", () => {
  it("is shown as verified by DNS if its key was found through DNS", () => {
    const head = `11111111  ${TIME}  ${BOB.address}  verified by DNS`;
    expect(listLines([message(BY_DNS)], null)).toEqual([`${head}  hello`]);
    expect(messageLines(message(BY_DNS), null)).toEqual([head, "  hello"]);
    expect(toFacts(message(BY_DNS))).toMatchObject({ trust: "verified", byDns: true });
    const usual: Trust = { trust: "verified", byDns: false };
    expect(messageLines(message(usual), null)[0]).toMatch(/ {2}verified$/);
    expect(toFacts(message(usual))).toMatchObject({ trust: "verified", byDns: false });
    expect(toFacts(message({ trust: "unverified", reason: "x" }))).toMatchObject({ byDns: false });
  });

  it("is shown with at most 500 lines, and the number of lines left out", () => {
    const text = (lines: number) => Array.from({ length: lines }, (_, at) => String(at)).join("\n");
    const lines = messageLines(message(BY_DNS, text(40_000)), 80);
    expect(lines).toHaveLength(502);
    expect(lines.slice(-2)).toEqual(["  499", "(39500 more lines; --json prints all)"]);
    expect(toFacts(message(BY_DNS, text(40_000)))).toMatchObject({ text: text(40_000) });
    expect(messageLines(message(BY_DNS, text(500)), 80).at(-1)).toBe("  499");
    expect(messageLines(message(BY_DNS, text(501)), 80).at(-1)).toBe("(1 more line; --json prints all)");
  });
});

describe("a delivery", () => {
  const endpoint = "https://bob.example/inbox/bob";
  const why = `it answers 400, "${"x".repeat(66)} ${FORGED}"`;

  it.each(["failed", "waiting"] as const)("%s: the error text of an inbox cannot forge a line of output", (state) => {
    const lines = reportLines({ address: BOB.address, endpoint, state, why, next: null }, 80);
    const [ours, ...theirs] = lines;
    expect(ours).toMatch(/^bob@bob\.example {2}(failed|not delivered yet) at \S+ \(kept in the outbox\)$/);
    expect(theirs.length).toBeGreaterThan(1);
    for (const line of theirs) expect(line).toMatch(/^ {2}.{1,78}$/);
    expect(theirs.map((line) => line.slice(2)).join("")).toBe(why);
  });

  it("delivered: takes one line", () => {
    const report = { address: BOB.address, endpoint, state: "delivered" as const, why: null, next: null };
    expect(reportLines(report, 80)).toEqual([`${BOB.address}  delivered to ${endpoint}`]);
  });
});
