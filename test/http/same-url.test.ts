import { describe, expect, it } from "vitest";
import { comparableUrl, isSameUrl } from "../../plugin/http/same-url.js";

const PAGE = "https://alice.example/Quinces?a=%41&b";

describe("two URLs", () => {
  it.each([
    ["http and https", "http://alice.example/Quinces?a=%41&b"],
    ["another case of protocol and host", "HTTPS://ALICE.Example/Quinces?a=%41&b"],
    ["the port of https", "https://alice.example:443/Quinces?a=%41&b"],
    ["the port of http, over https", "https://alice.example:80/Quinces?a=%41&b"],
    ["the port of https, over http", "http://alice.example:443/Quinces?a=%41&b"],
    ["a fragment", "https://alice.example/Quinces?a=%41&b#:~:text=x"],
    ["dots in the path", "https://alice.example/x/../Quinces?a=%41&b"],
  ])("are the same but for %s", (_, url) => {
    expect(isSameUrl(url, PAGE)).toBe(true);
  });

  it.each([
    ["case of the path", "https://alice.example/quinces?a=%41&b"],
    ["case of the query", "https://alice.example/Quinces?A=%41&b"],
    ["encoding", "https://alice.example/Quinces?a=A&b"],
    ["slash", "https://alice.example/Quinces/?a=%41&b"],
    ["order of the query", "https://alice.example/Quinces?b&a=%41"],
    ["query at all", "https://alice.example/Quinces"],
    ["host", "https://www.alice.example/Quinces?a=%41&b"],
    ["port", "https://alice.example:8443/Quinces?a=%41&b"],
  ])("differ in their %s", (_, url) => {
    expect(isSameUrl(url, PAGE)).toBe(false);
  });

  it("are none, and not the same as anything, where they are no web addresses", () => {
    for (const url of ["", "alice.example", "//alice.example/", "ftp://alice.example/", "javascript:x", "http://"]) {
      expect(comparableUrl(url)).toBeNull();
      expect(isSameUrl(url, url)).toBe(false);
    }
  });

  it("of an international name are the same as its ASCII form", () => {
    expect(isSameUrl("https://bücher.example/", "https://xn--bcher-kva.example")).toBe(true);
  });
});
