import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../plugin/http/public-address.js";

describe("a public address", () => {
  it.each([
    "93.184.215.14",
    "8.8.8.8",
    "2606:2800:21f:cb07::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:0808:0808::1",
  ])("%s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe("an address that is not public", () => {
  it.each([
    ["loopback", "127.0.0.1"],
    ["loopback, not 127.0.0.1", "127.255.255.254"],
    ["this host", "0.0.0.0"],
    ["private", "10.1.2.3"],
    ["private", "172.16.0.1"],
    ["private", "192.168.1.1"],
    ["carrier-grade NAT", "100.64.0.1"],
    ["link-local, a cloud metadata service", "169.254.169.254"],
    ["documentation", "192.0.2.1"],
    ["benchmarks", "198.18.0.1"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["IPv6 loopback", "::1"],
    ["IPv6 unspecified", "::"],
    ["unique local", "fd00::1"],
    ["IPv6 link-local", "fe80::1"],
    ["IPv6 link-local with a zone", "fe80::1%eth0"],
    ["IPv6 multicast", "ff02::1"],
    ["IPv6 documentation", "2001:db8::1"],
    ["IPv4-mapped private", "::ffff:10.0.0.1"],
    ["IPv4-mapped private in hex", "::ffff:7f00:1"],
    ["IPv4-compatible loopback", "::127.0.0.1"],
    ["NAT64 private", "64:ff9b::192.168.0.1"],
    ["local NAT64 private", "64:ff9b:1::10.0.0.1"],
    ["local NAT64 public", "64:ff9b:1::8.8.8.8"],
    ["local NAT64 with another prefix below it", "64:ff9b:1:a00:8:808:800::"],
    ["6to4 private", "2002:7f00:1::1"],
    ["Teredo with a private client", "2001:0:4136:e378:8000:63bf:f5ff:fffe"],
    ["a host name", "localhost"],
    ["empty", ""],
  ])("%s: %s", (_name, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
