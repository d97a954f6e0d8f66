import { expect, it } from "vitest";
import { canParseUrl } from "../plugin/url.js";

it("recognizes URLs with non-ASCII characters even after many calls, when URL.canParse in Node.js 20 fails", () => {
  for (let calls = 0; calls < 20_000; calls += 1) {
    if (canParseUrl("https://bücher.example/") && canParseUrl("/Tür", "https://bücher.example/")) continue;
    expect.fail(`wrong after ${calls} calls`);
  }
  expect(canParseUrl("ü")).toBe(false);
  expect(canParseUrl("https://ü:port/")).toBe(false);
});
