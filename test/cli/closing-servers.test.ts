// test/cli/closing-servers.test.ts: servers that send everything at once and close the connection, while their reader is
// slow. undici ends the process in this situation, so each program runs in a process of its own, and must survive.
//
// Builds, the client and functions at Netlify read strangers' documents through the same guard.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { type ClosingServer, closingServer } from "../helpers/closing-server.js";
import { afterAll } from "../helpers/hooks.js";
import { LONGEST_MS } from "../helpers/longest.js";
import { COMPILED } from "../helpers/paths.js";
import { runs } from "../helpers/runs.js";
import { serveProcess, site } from "./server.js";

const TARGET = "https://alice.example/twtxt.txt";
const children: ReturnType<typeof spawn>[] = [];
let bob: ClosingServer;

beforeAll(async () => {
  bob = await closingServer();
});
afterAll(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Runs a module with a JSON value as its argument. @returns the JSON that it prints; throws if it does not exit with 0 */
async function runModule(code: string, argument: unknown) {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code, JSON.stringify(argument)], {
    timeout: LONGEST_MS,
  });
  children.push(child);
  let [printed, errors] = ["", ""];
  child.stdout.on("data", (data) => (printed += data));
  child.stderr.on("data", (data) => (errors += data));
  const exitCode = await new Promise((resolve) => child.on("close", resolve));
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  return JSON.parse(printed);
}

/**
 * Reads all URLs in three manners, three at a time: to the end, late and only a part, and not at all.
 *
 * @param pauseMs - after each chunk of the first 400 kB
 */
function readSlowly(open: string, pauseMs = 0): string {
  return `
    import { setTimeout as sleep } from "node:timers/promises";
    ${open}
    const read = async (url, index) => {
      const { body, close } = await open(url);
      if (index % 3 === 2) return close();
      if (index % 3 === 1) await sleep(20);
      let bytes = 0;
      try {
        for await (const chunk of body) {
          bytes += chunk.length;
          if (index % 3 === 1 && bytes > 300_000) break;
          if (${pauseMs} > 0 && bytes < 400_000) await sleep(${pauseMs});
        }
      } catch (error) {
        return error.code ?? String(error);
      }
      return bytes;
    };
    const outcomes = [];
    const waiting = JSON.parse(process.argv[1]).entries();
    const work = async () => {
      for (const [index, url] of waiting) outcomes[index] = await read(url, index) ?? null;
    };
    await Promise.all([work(), work(), work()]);
    console.log(JSON.stringify(outcomes));
  `;
}

it("the guard survives them, and reads each body to its end or limit", async () => {
  const urls = bob.urls(runs(1));
  const open = `
    import { createGuard } from ${JSON.stringify(join(COMPILED, "http/guard.js"))};
    const ask = createGuard({ userAgent: "test/1", allowPrivateHosts: [${JSON.stringify(bob.host)}],
      totalMs: ${LONGEST_MS}, firstByteMs: ${LONGEST_MS} });
    const open = (url) => ask(url, { maxBytes: 4 * 2 ** 20 });
  `;
  const outcomes = await runModule(readSlowly(open), urls);
  expect(outcomes).toEqual(
    urls.map((url, index) => {
      const [, , , , encoding, , megabytes] = url.split("/");
      if (index % 3 === 2) return null;
      const isTooLarge = Number(megabytes) > 4;
      // The guard takes a body as it arrives, so a late reader may learn first that the body is too large.
      const part = isTooLarge ? expect.toBeOneOf([expect.any(Number), "too-large"]) : expect.any(Number);
      if (index % 3 === 1 && encoding !== "members") return part;
      if (isTooLarge) return "too-large";
      return encoding === "members" ? 1000 : Number(megabytes) * 2 ** 20;
    }),
  );
});

it("requests to the author's own site, store and hooks survive them", async () => {
  const urls = bob.urls(runs(1));
  const open = `
    import { fetchSafely } from ${JSON.stringify(join(COMPILED, "transport/fetch.js"))};
    const open = async (url) => {
      const { body } = await fetchSafely(url);
      return { body, close: () => void body.cancel() };
    };
  `;
  const outcomes = await runModule(readSlowly(open, 20), urls);
  expect(outcomes.filter((outcome: unknown) => outcome !== null && typeof outcome !== "number")).toEqual([]);
});

it("serve survives mentions from them", async () => {
  const { url, output, end } = await serveProcess(site(), ["--allow-private-host", bob.host, "--rate-limit", "0"]);
  const answers = await mention(bob.urls(runs(1)), (body) => fetch(`${url}/webmention`, { method: "POST", body }));
  expectRefusals(answers);
  expect(output()).not.toContain("AssertionError");
  expect(await end()).toBe(0);
});

/** 400: the source was read. 202: a loaded machine had no time for it. */
function expectRefusals(statuses: readonly number[]): void {
  expect(statuses).toContain(400);
  expect(statuses.filter((status) => status !== 400 && status !== 202)).toEqual([]);
}

/** Sends mentions of the feed, three at a time. @returns the statuses */
async function mention(sources: readonly string[], send: (body: URLSearchParams) => Promise<Response>) {
  const statuses: number[] = [];
  const waiting = sources.values();
  const work = async () => {
    for (const source of waiting) {
      const isFeed = source.includes("/feed/");
      const reference = isFeed ? `${source}#:~:text=2026-01-02T03:04:05Z` : source;
      statuses.push((await send(new URLSearchParams({ source: reference, target: TARGET }))).status);
    }
  };
  await Promise.all([work(), work(), work()]);
  return statuses;
}
