import { describe, expect, it } from "vitest";
import { nameEvent, readName } from "../../plugin/messages/guest-name.js";
import { parseMessage } from "../../plugin/messages/plaintext.js";

const nameOf = (comments: string) => readName(parseMessage(`2026-11-20T09:00:00Z\t(a@a.example)\thi\n${comments}`));

describe("the name in a guest's message", () => {
  it.each([
    ["a name", "Dana", "Dana"],
    ["line breaks and repeated spaces become one space", "Dana\r\n\u2028 \t Doe", "Dana Doe"],
    ["control characters are removed", "\u001b]0;Dana\u0007\u009b", "]0;Dana"],
    ["bidirectional controls are removed", "\u202eanaD\u2066\u200f", "anaD"],
    ["invisible characters are removed", "Da\u00ad\u200bna\ufeff", "Dana"],
    [
      "joiners and variation selectors are kept for names and emoji",
      "نی\u200cلو ❤\ufe0f 👩\u200d🌾",
      "نی\u200cلو ❤\ufe0f 👩\u200d🌾",
    ],
    ["a long name is cut to 60 characters", "🌾".repeat(61), "🌾".repeat(60)],
    ["a lone surrogate is replaced", "Dana\ud83c", "Dana\ufffd"],
    ["a name without visible characters is ignored", "\u200b \u2800\u3164", null],
  ])("%s", (_, given, name) => {
    expect(nameEvent(given)).toEqual(name === null ? null : { name: "name", args: name });
    expect(readName({ events: [{ name: "name", args: given }] })).toBe(name);
  });

  it("is read only from the first comment line", () => {
    expect(nameOf("# name: Dana\n# other: x\n")).toBe("Dana");
    expect(nameOf("# other: x\n# name: Dana\n")).toBeNull();
    expect(nameOf("")).toBeNull();
  });
});
