import { describe, expect, it } from "vitest";
import { sources } from "./helpers/sources.js";

const DECLARATIONS = [
  /\bfunction\*? (\w+)/g,
  /^ +(?:override |static |async |get |set |\*)*#?(\w+)(?:<[^()]*>)?\([^;]*\{$/gm,
  /\bconst (\w+) = (?:async )?(?:\([^=]*\)|\w+)(?:: [^=]+)? =>/g,
];
const KEYWORDS = /^(?:if|for|while|switch|catch|function|constructor)$/;
const PREPOSITION = /[a-z\d](?:Of|In|At|As|On|By|For)$/;

const names = sources.flatMap(({ text }) =>
  DECLARATIONS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = ""]) => name)),
);
const functions = names.filter((name) => !KEYWORDS.test(name));

describe("the names of functions in plugin/", () => {
  it("are verbs with an object: fewer than 1 in 100 end in a preposition", () => {
    const prepositional = functions.filter((name) => PREPOSITION.test(name));

    expect(functions.length).toBeGreaterThan(2_000);
    expect(prepositional.length / functions.length, prepositional.join(", ")).toBeLessThan(0.01);
  });
});
