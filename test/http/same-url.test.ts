import { describe, expect, it } from "vitest";
import { comparableUrl, isSameUrl, normalUrl } from "../../plugin/http/same-url.js";

const PAGE = "https://alice.example/Quinces?a=%41&b";

describe("two URLs", () => {
  it.each([
    ["http and https", "http://alice.example/Quinces?a=%41&b"],
    ["the case of scheme and host", "HTTPS://ALICE.Example/Quinces?a=%41&b"],
    ["the port of https", "https://alice.example:443/Quinces?a=%41&b"],
    ["the port of http, over https", "https://alice.example:80/Quinces?a=%41&b"],
    ["the port of https, over http", "http://alice.example:443/Quinces?a=%41&b"],
    ["a fragment", "https://alice.example/Quinces?a=%41&b#:~:text=x"],
    ["dots in the path", "https://alice.example/x/../Quinces?a=%41&b"],
    ["encoded dots in the path", "https://alice.example/x/%2e%2E/%2e/Quinces?a=%41&b"],
    ["doubled slashes", "https://alice.example//Quinces?a=%41&b"],
    ["a trailing dot of the host", "https://alice.example./Quinces?a=%41&b"],
    ["more than one trailing dot", "https://alice.example.../Quinces?a=%41&b"],
    ["encoding of unreserved characters", "https://alice.example/%51uinces?a=A&b"],
  ])("are the same except for %s", (_, url) => {
    expect(isSameUrl(url, PAGE)).toBe(true);
  });

  it("are compared in linear time, with any number of dots in the host", () => {
    const dots = ".".repeat(1_000_000);
    expect(isSameUrl(`https://alice${dots}/`, "https://alice/")).toBe(true);
    expect(isSameUrl(`https://${dots}alice/`, "https://alice/")).toBe(false);
  });

  it("are the same except for needless encoding in the path", () => {
    expect(isSameUrl("https://alice.example/%40alice/%21%28x%29", "https://alice.example/@alice/!(x)")).toBe(true);
    expect(isSameUrl("https://alice.example/%2falice", "https://alice.example/alice")).toBe(false);
    expect(isSameUrl("https://alice.example/?a=%40", "https://alice.example/?a=@")).toBe(false);
  });

  it.each([
    ["case of the path", "https://alice.example/quinces?a=%41&b"],
    ["case of the query", "https://alice.example/Quinces?A=%41&b"],
    ["encoding of reserved characters", "https://alice.example/Quinces?a=%41%26b"],
    ["slash", "https://alice.example/Quinces/?a=%41&b"],
    ["order of the query", "https://alice.example/Quinces?b&a=%41"],
    ["query, which one lacks", "https://alice.example/Quinces"],
    ["host", "https://www.alice.example/Quinces?a=%41&b"],
    ["port", "https://alice.example:8443/Quinces?a=%41&b"],
  ])("differ in their %s", (_, url) => {
    expect(isSameUrl(url, PAGE)).toBe(false);
  });

  it("are invalid and equal to nothing if they are not http or https", () => {
    for (const url of ["", "alice.example", "//alice.example/", "ftp://alice.example/", "javascript:x", "http://"]) {
      expect(comparableUrl(url)).toBeNull();
      expect(isSameUrl(url, url)).toBe(false);
    }
  });

  it("keep their scheme and reserved characters when normalized", () => {
    expect(normalUrl("HTTP://Bob.example.:80//a/%2e/%7Eb%2fc?d=%2e%20&e=//#f")).toBe(
      "http://bob.example/a/~b%2Fc?d=.%20&e=//",
    );
    expect(normalUrl("mailto:bob@bob.example")).toBeNull();
  });

  it("are the same with an internationalized host and its ASCII form", () => {
    expect(isSameUrl("https://bücher.example/", "https://xn--bcher-kva.example")).toBe(true);
  });
});
