import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { open, secretKey } from "../../../plugin/messages/index.js";
import { nodePrimitives } from "../../../plugin/messages/sealing.js";
import { ALICE, BOB, sealed, utf8 } from "./vectors.js";

async function bundle(file: string, platform: "browser" | "node") {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`../../../plugin/messages/${file}`, import.meta.url))],
    bundle: true,
    format: "esm",
    logLevel: "silent",
    metafile: true,
    minify: true,
    platform,
    write: false,
  });
  const [{ text } = { text: "" }] = outputFiles;
  return { text, inputs: Object.keys(metafile.inputs) };
}

describe("the bundle for browsers", () => {
  // esbuild fails on imports of "node:" modules when it bundles for browsers.
  it("does not need Node.js, and its messages open in Node.js", async () => {
    const { text } = await bundle("browser.ts", "browser");
    expect(/\bBuffer\.|\bprocess\./.test(text)).toBe(false);
    const folder = await mkdtemp(join(tmpdir(), "twtxt-browser-"));
    try {
      const file = join(folder, "messages.mjs");
      await writeFile(file, text);
      const browser: typeof import("../../../plugin/messages/browser.js") = await import(pathToFileURL(file).href);
      const [alice, bob] = [ALICE, BOB].map((seed) =>
        Uint8Array.of(...seed, ...nodePrimitives.secretKey(seed).publicKey),
      );
      if (!alice || !bob) throw new Error("no keys");
      const message = browser.seal(utf8("hello"), { sender: alice, recipients: [bob.subarray(32)], armor: true });
      expect(open(message, { key: secretKey(bob) })).toEqual({ plaintext: utf8("hello"), sender: alice.subarray(32) });
      const answer = sealed(utf8("hello"), nodePrimitives);
      expect(browser.open(answer, { key: bob }).plaintext).toEqual(utf8("hello"));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("the bundle of the checks without a key", () => {
  it("contains no curves or ciphers, and is small", async () => {
    const { text, inputs } = await bundle("sealed-bytes.ts", "node");
    expect(inputs.filter((input) => input.includes("node_modules"))).toEqual([]);
    expect(text.length).toBeLessThan(8192);
  });
});
