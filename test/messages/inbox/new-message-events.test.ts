import { describe, expect, it } from "vitest";
import { NewMessageEvents } from "../../../plugin/messages/inbox/new-message-events.js";

describe("events of new messages", () => {
  it("reach the listeners of this user until they are removed", () => {
    const events = new NewMessageEvents();
    const heard: string[] = [];
    const stopFirst = events.listen("alice", () => heard.push("first"));
    events.listen("alice", () => heard.push("second"));
    events.listen("carol", () => heard.push("carol"));
    events.emit("alice");
    stopFirst();
    events.emit("alice");
    events.emit("bob");
    expect(heard).toEqual(["first", "second", "second"]);
  });
});
