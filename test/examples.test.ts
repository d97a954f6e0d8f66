import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

const plugin = fileURLToPath(new URL("../plugin", import.meta.url));

/** Examples without a value to compare, with the reason. */
const WITHOUT_VALUE: Record<string, string> = {
  "http/time-slices.ts": "a loop",
  "messages/index.ts": "asks the network",
  "messages/saltpack/saltpack.ts": "needs keys; saltpack.test.ts shows the same",
  "plugin.ts": "a line of an Eleventy configuration",
  "text/post-links.ts": "needs settings; post-links.test.ts shows the same",
};

interface Example {
  file: string;
  /** An expression that uses exports of the file. */
  call: string;
  /** An expression; `name: value` for one property of the result. Empty for an example without a value. */
  value: string;
}

const examples = readdirSync(plugin, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .sort()
  .flatMap((file) => examplesIn(file, readFileSync(join(plugin, file), "utf8")));
const runnable = examples.filter(({ value }) => value !== "");

/** The calls in the examples; an example that starts with a quote is a returned text. */
function examplesIn(file: string, source: string): Example[] {
  return [...source.matchAll(/@example (?!")(.+?)(?: \*\/)?$/gm)].map(([, line = ""]) => {
    const [call = "", value = ""] = line.split(" // ");
    return { file, call, value: withoutComment(value) };
  });
}

/** A quoted text may be followed by a colon or comma and a comment. */
function withoutComment(value: string): string {
  return /^"(?:[^"\\]|\\.)*"(?=[:,] )/.exec(value)?.[0] ?? value;
}

function evaluate(expression: string, names: Record<string, unknown> = {}): unknown {
  return new Function(...Object.keys(names), `return (${expression});`)(...Object.values(names));
}

describe("the examples of docstrings", () => {
  // Examples show the hints for users of npx.
  beforeAll(() => void vi.stubEnv("npm_config_user_agent", "npm/11.0.0 node/v20.20.2"));
  afterAll(() => vi.unstubAllEnvs());

  it.each(runnable)("$file: $call", async ({ file, call, value }) => {
    const { default: _, ...names } = await import(join(plugin, file));
    const result = await evaluate(call, names);
    if (/^\w+: /.test(value)) expect(result).toMatchObject(evaluate(`{ ${value} }`) as object);
    else expect(result).toEqual(evaluate(value));
  });

  it("have a value, with few exceptions", () => {
    expect(runnable.length).toBeGreaterThan(20);
    const others = examples.filter(({ value }) => value === "").map(({ file }) => file);
    expect(others).toEqual(Object.keys(WITHOUT_VALUE));
  });
});
