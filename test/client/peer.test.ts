import { describe, expect, it } from "vitest";
import { findOwner } from "../../plugin/client/session.js";

const LOCAL = "0100007F:A3D2";
const REMOTE = "0100007F:1F90";

/** Lines in Linux's format: this end of a connection, and the other end. */
function table(state: string, user: number, prefix = ""): string {
  const line = (from: string, to: string, uid: number) =>
    `   1: ${prefix}${from} ${prefix}${to} ${state} 00000000:00000000 00:00000000 00000000 ${uid}        0 6739387 1 0 100`;
  return `  sl  local_address rem_address   st\n${line(REMOTE, LOCAL, 0)}\n${line(LOCAL, REMOTE, user)}\n`;
}

describe("the user of a connection", () => {
  it("is the user of the other end, for IPv4 and IPv6 sockets", () => {
    expect(findOwner(table("01", 1000), LOCAL, REMOTE)).toBe(1000);
    expect(findOwner(table("01", 1000, "0000000000000000FFFF0000"), LOCAL, REMOTE)).toBe(1000);
  });

  it("is unknown for a closed socket, which Linux lists as root's, and for an unlisted one", () => {
    for (const state of ["04", "05", "06", "08"]) expect(findOwner(table(state, 0), LOCAL, REMOTE)).toBeNull();
    expect(findOwner(table("01", 1000), "0100007F:0001", REMOTE)).toBeNull();
    expect(findOwner("", LOCAL, REMOTE)).toBeNull();
  });
});
