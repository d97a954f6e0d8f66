import { describe, expect, it } from "vitest";
import { sentMentionLine } from "../../plugin/host/jobs.js";
import type { MentionReport } from "../../plugin/mentions/send/send-mention.js";

const SENT: MentionReport = {
  kind: "new",
  timestamp: "2026-11-20T09:30:00Z",
  nick: "bob",
  target: "https://bob.example/twtxt.txt",
  isLink: false,
  endpoint: "https://bob.example/webmention",
  method: "feed field",
  outcome: "sent",
  status: 200,
  why: null,
  next: null,
};

describe("the log line of a sent mention", () => {
  it.each([
    [{}, "sent to https://bob.example/webmention"],
    [
      { outcome: "retry", why: "it answers 503", next: "2026-11-20T10:30:12.345Z" },
      "not sent yet (it answers 503); next attempt after 2026-11-20T10:30Z",
    ],
    [
      { outcome: "failed", why: "it answers 400" },
      "could not be sent to https://bob.example/webmention (it answers 400)",
    ],
    [{ outcome: "no-endpoint", endpoint: null, why: "no endpoint in the feed" }, "not sent (no endpoint in the feed)"],
    [{ outcome: "not-asked", endpoint: null, why: "not public" }, "not sent (not public)"],
    [
      { outcome: "not-asked", endpoint: "http://127.0.0.1:8081/webmention", why: "not public" },
      "not sent (not public); to allow it: serve --allow-private-host 127.0.0.1:8081",
    ],
  ] as const)("says what happened: %j", (changes, outcome) => {
    expect(sentMentionLine({ ...SENT, ...changes })).toBe(
      `Mention of https://bob.example/twtxt.txt in your twt of 2026-11-20T09:30:00Z: ${outcome}`,
    );
  });

  it("says that a mention was withdrawn", () => {
    expect(sentMentionLine({ ...SENT, kind: "gone" })).toBe(
      "Mention of https://bob.example/twtxt.txt in your twt of 2026-11-20T09:30:00Z, now removed: sent to https://bob.example/webmention",
    );
  });
});
