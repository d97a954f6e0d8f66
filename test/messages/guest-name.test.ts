import { describe, expect, it } from "vitest";
import { nameEvent, nameIn } from "../../plugin/messages/guest-name.js";
import { parseMessage } from "../../plugin/messages/plaintext.js";

const nameOf = (comments: string) => nameIn(parseMessage(`2026-11-20T09:00:00Z\t(a@a.example)\thi\n${comments}`));

describe("the name that a guest states", () => {
  it.each([
    ["a name", "Dana", "Dana"],
    ["a line break and other space become one space", "Dana\r\n\u2028 \t Doe", "Dana Doe"],
    ["control characters go", "\u001b]0;Dana\u0007\u009b", "]0;Dana"],
    ["changes of direction go", "\u202eanaD\u2066\u200f", "anaD"],
    ["invisible characters go", "Da\u00ad\u200bna\ufeff", "Dana"],
    [
      "joiners and variation selectors stay, for names and emoji",
      "نی\u200cلو ❤\ufe0f 👩\u200d🌾",
      "نی\u200cلو ❤\ufe0f 👩\u200d🌾",
    ],
    ["60 characters are kept", "🌾".repeat(61), "🌾".repeat(60)],
    ["half a character is replaced", "Dana\ud83c", "Dana\ufffd"],
    ["nothing visible is no name", "\u200b \u2800\u3164", null],
  ])("%s", (_, given, name) => {
    expect(nameEvent(given)).toEqual(name === null ? null : { name: "name", args: name });
    expect(nameIn({ events: [{ name: "name", args: given }] })).toBe(name);
  });

  it("is in the first comment line only", () => {
    expect(nameOf("# name: Dana\n# other: x\n")).toBe("Dana");
    expect(nameOf("# other: x\n# name: Dana\n")).toBeNull();
    expect(nameOf("")).toBeNull();
  });
});
