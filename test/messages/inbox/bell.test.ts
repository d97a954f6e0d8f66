import { describe, expect, it } from "vitest";
import { bell } from "../../../plugin/messages/inbox/bell.js";

describe("a bell", () => {
  it("is heard by those who listen for this user, as long as they do", () => {
    const { ring, listen } = bell();
    const heard: string[] = [];
    const stopFirst = listen("alice", () => heard.push("first"));
    listen("alice", () => heard.push("second"));
    listen("carol", () => heard.push("carol"));
    ring("alice");
    stopFirst();
    ring("alice");
    ring("bob");
    expect(heard).toEqual(["first", "second", "second"]);
  });
});
