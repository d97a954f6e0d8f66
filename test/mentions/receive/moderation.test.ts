import { describe, expect, it } from "vitest";
import { Moderation } from "../../../plugin/mentions/receive/moderation.js";

const none = { allow: [], block: [], moderate: false };

describe("the options allow and block", () => {
  it.each([
    ["spam.example", "https://spam.example/feed.txt", true],
    ["spam.example", "http://SPAM.example:8080/", true],
    ["spam.example", "https://a.b.spam.example/", true],
    ["spam.example", "https://notspam.example/", false],
    ["spam.example", "https://spam.example.org/", false],
    ["spam.example:8443", "https://spam.example:8443/", true],
    ["spam.example:8443", "https://spam.example/", false],
    ["spam.example:443", "https://spam.example/", true],
    ["spam.example:80", "http://spam.example/", true],
    ["[2001:db8::1]", "https://[2001:db8::1]/", true],
    ["https://shared.example/~eve/tw.txt", "http://shared.example/~eve/tw.txt", true],
    ["https://shared.example/~eve/tw.txt", "https://shared.example/~bob/tw.txt", false],
    ["https://SHARED.example.:443//~eve/%74w.txt", "https://shared.example/~eve/tw.txt?1", true],
  ])("block with %s: %s is %s", (entry, url, isBlocked) => {
    expect(new Moderation({ ...none, block: [entry] }).isBlocked(url)).toBe(isBlocked);
  });

  it.each([
    ["bob.example", "https://bob.example/twtxt.txt", true],
    ["bob.example", "https://eve.bob.example/twtxt.txt", false],
    ["https://bob.example/twtxt.txt", "http://bob.example/twtxt.txt", true],
    ["https://bob.example/twtxt.txt", "https://bob.example/other.txt", false],
    ["https://pod.example/feed", "https://pod.example/feed?user=eve", false],
  ])("allow with %s: %s is %s", (entry, url, isAllowed) => {
    expect(new Moderation({ ...none, allow: [entry] }).isAllowed(url)).toBe(isAllowed);
  });
});
