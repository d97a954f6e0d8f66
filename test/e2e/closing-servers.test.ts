// test/e2e/closing-servers.test.ts: servers that send everything at once and close the connection, while their reader is
// slow. undici ends the process in this situation, so each program runs in a process of its own, and must survive.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { hostSettings } from "../../plugin/site/site.js";
import { blog, dataEnvironment } from "../cli/helpers.js";
import { serveProcess, site } from "../cli/server.js";
import { blobsSite } from "../helpers/blobs-server.js";
import { builtSite, hostFile } from "../helpers/built-site.js";
import { type ClosingServer, closingServer } from "../helpers/closing-server.js";
import { afterAll } from "../helpers/hooks.js";
import { LONGEST_MS } from "../helpers/longest.js";
import { siteOf } from "../helpers/netlify-site.js";
import { COMMAND, COMPILED, REPO } from "../helpers/paths.js";
import { runs } from "../helpers/runs.js";
import { site as buildSite, post } from "../helpers/site.js";

const TARGET = "https://alice.example/twtxt.txt";
const folder = mkdtempSync(join(tmpdir(), "twtxt-closing-"));
const children: ReturnType<typeof spawn>[] = [];
let bob: ClosingServer;

beforeAll(async () => {
  bob = await closingServer();
});
afterAll(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a module with a JSON value as its argument. @returns the JSON that it prints; throws if it does not exit with 0 */
async function runModule(code: string, argument: unknown, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code, JSON.stringify(argument)], {
    env: { ...process.env, ...environment },
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
  const urls = bob.urls(runs(2));
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

describe("followed feeds on such servers", () => {
  const follow = () => bob.urls(runs(1), ["feed"]).map((url, index) => ({ nick: `bob${index}`, url }));

  it("are read by a build", async () => {
    // A site on loopback may request its own host.
    const options = `{ url: "http://${bob.host}", timeline: true, follow: ${JSON.stringify(follow())} }`;
    const files = { "posts/a.md": post({ title: "A", date: "2026-01-02" }) };
    const built = await buildSite({ files, options, args: [] });
    expect([built.exitCode, built.log]).toEqual([0, expect.not.stringContaining("AssertionError")]);
    expect(built.read("timeline/index.html")).toContain("#:~:text=");
  });

  it("are read by the client", async () => {
    const { settings } = builtSite("https://alice.example");
    const file = "_data/follow.json";
    Object.assign(settings, { followed: { file, option: [] } });
    const pages = { feeds: [TARGET], pages: [], twts: [] };
    const alice = blog(settings, {
      [file]: JSON.stringify(follow()),
      ...hostFile({ settings: hostSettings(settings), pages }),
    });
    const words = [COMMAND, "client", "--no-open", "--port", "0", "--allow-private-host", bob.host];
    const child = spawn(process.execPath, words, {
      cwd: alice.folder,
      env: { ...process.env, ...dataEnvironment(alice.folder), DBUS_SESSION_BUS_ADDRESS: "unix:path=/dev/null" },
    });
    children.push(child);
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (printed += data));
    await expect.poll(() => printed).toMatch(/http:\/\/\S+token=\S+/);
    const [link = ""] = /http:\/\/\S+token=\S+/.exec(printed) ?? [];
    const opened = await fetch(link, { redirect: "manual" });
    const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    const shown = async () => (await fetch(new URL("/timeline", link), { headers: { cookie } })).text();
    await expect.poll(shown, { interval: 200 }).toMatch(/Read \d/);
    expect([child.exitCode, printed]).toEqual([null, expect.not.stringContaining("AssertionError")]);
  });
});

it("the bundled function of Netlify survives mentions from them", async () => {
  const bundler = pathToFileURL(join(REPO, "build/netlify.mjs")).href;
  const { settings, pages } = siteOf("https://alice.example");
  const { url: edge } = await blobsSite();
  const context = { edgeURL: edge, uncachedEdgeURL: edge, token: "token", siteID: "site", primaryRegion: "us-east-1" };
  const code = `
    process.argv[2] = ${JSON.stringify(folder)};
    await import(${JSON.stringify(bundler)});
    const { mentions } = await import(${JSON.stringify(pathToFileURL(join(folder, "mentions.js")).href)});
    const { settings, pages, sources, mention } = JSON.parse(process.argv[1]);
    const handle = mentions(settings, pages);
    const send = (body) => handle(new Request(settings.urls.webmention, { method: "POST", body }), { deploy: { context: "" } });
    const TARGET = ${JSON.stringify(TARGET)};
    console.log(JSON.stringify(await (${mention})(sources, send)));
  `;
  const answers = await runModule(
    code,
    { settings, pages, sources: bob.urls(runs(1)) },
    {
      NETLIFY_DEV: "true",
      NETLIFY_LOCAL: "true",
      NETLIFY_BLOBS_CONTEXT: Buffer.from(JSON.stringify(context)).toString("base64"),
      TWTXT_ALLOW_PRIVATE_HOSTS: bob.host,
    },
  );
  expectRefusals(answers);
});
