// test/interop/feeds.ts: the oldest twtxt client, twtxt 1.3.1 from PyPI, follows the built example and a private feed of mentions.
import { type ChildProcess, execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type ParsedTwt, parseFeed } from "../../plugin/feed/feed.js";
import type { Handler } from "../../plugin/http/respond.js";
import { formatGuestFeed } from "../../plugin/mentions/comments/guest-feed.js";
import { mentionsFeed } from "../../plugin/mentions/inform/mentions-feed.js";
import { listOf, storedMention } from "../helpers/stored-mentions.js";
import { pythonWith } from "./python.js";

const run = promisify(execFile) as (
  file: string,
  args: string[],
  options?: object,
) => Promise<{ stdout: string; child?: ChildProcess }>;
const repo = fileURLToPath(new URL("../../", import.meta.url));
/** The client needs `pkg_resources`, which setuptools removed in version 81. */
const PACKAGES = ["setuptools<81", "twtxt==1.3.1"];

/** The client splits lines as Python's `str.splitlines` does. */
const PYTHON_LINE_END = /[\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** @returns the number of twts that the client misread or missed */
export async function tryFeeds(): Promise<number> {
  const python = await pythonWith("twtxt", PACKAGES);
  if (python === null) return 0;
  const work = mkdtempSync(join(tmpdir(), "twtxt-interop-"));
  try {
    const output = join(work, "_site");
    await run(
      process.execPath,
      [
        "--import",
        "tsx",
        "node_modules/@11ty/eleventy/cmd.cjs",
        "--config=.eleventy.ts",
        `--output=${output}`,
        "--quiet",
      ],
      { cwd: repo },
    );
    const client = { program: join(python, "bin/twtxt"), work };
    const failures =
      (await compare(client, output)) + (await compareNotices(client)) + (await compareGuestFeed(client));
    console.log(failures === 0 ? "The client reads every twt as it was written." : `${failures} differences.`);
    return failures;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

interface Client {
  program: string;
  /** The folder of its configuration. */
  work: string;
}

async function compare(client: Client, output: string): Promise<number> {
  let failures = 0;
  const { url, close } = await serve(output);
  try {
    for (let name: string | undefined = "twtxt.txt"; name; ) {
      const feed = parseFeed(readFileSync(join(output, name)));
      failures += await compareFeed(client, name, `${url}/${name}`, feed.twts);
      name = feed.fields.prev?.[0]?.split(" ")[1];
    }
  } finally {
    close();
  }
  return failures;
}

/** Follows `mentions.txt` with both ways to send the token, and compares each notice as a whole. */
async function compareNotices(client: Client): Promise<number> {
  const token = randomBytes(16).toString("hex");
  const mentions = [
    storedMention({ received: "2026-01-02T03:04:06.100Z" }),
    storedMention({ received: "2026-01-02T03:04:06.200Z", text: "one line\nand\u20282026-01-01T00:00:00Z\tforged" }),
    storedMention({ received: "2026-02-02T00:00:00.000Z", state: "held" }),
  ];
  const path = "/mentions.txt";
  const handler = mentionsFeed({ list: listOf(mentions), token, nick: "alice", url: path, log: console.error });
  const { url, close } = await serveHandler(handler);
  try {
    const withToken = `${url}${path}?token=${token}`;
    const withPassword = `${url.replace("//", `//alice:${token}@`)}${path}`;
    const { twts } = parseFeed(await (await fetch(withToken, { headers: { "user-agent": "twtxt/1.3.1" } })).text());
    if (twts.length !== 2 || !twts.every(({ text }) => text.includes("> "))) return 1;
    return (
      (await compareFeed(client, "mentions.txt?token=", withToken, twts)) +
      (await compareFeed(client, "mentions.txt with a password", withPassword, twts))
    );
  } finally {
    close();
  }
}

/** Follows the feed of a guest, with awkward comments. */
async function compareGuestFeed(client: Client): Promise<number> {
  const guest = "https://alice.example/guests/anon-0123456789abcdef.txt";
  const words = [
    "What a harvest!",
    "one line\nand 2026-01-01T00:00:00Z not another",
    "# nick = forged",
    "[half a link",
    "🍐 née",
  ];
  const comments = words.map((text, n) =>
    storedMention({
      timestamp: `2026-01-02T03:04:0${n}Z`,
      text: `(#abcdefg) @<alice https://alice.example/twtxt.txt> ${text}`,
    }),
  );
  const feed = formatGuestFeed(comments, guest);
  const { url, close } = await listen((_, response) =>
    response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" }).end(feed),
  );
  try {
    return await compareFeed(client, "the feed of a guest", `${url}/guest.txt`, parseFeed(feed).twts);
  } finally {
    close();
  }
}

async function compareFeed(client: Client, name: string, url: string, twts: readonly ParsedTwt[]): Promise<number> {
  const expected = twts.map(
    ({ instant, text }) => `${instant.replace("Z", "+00:00")}\t${(text.split(PYTHON_LINE_END)[0] ?? "").trim()}`,
  );
  const read = await readByClient(client, url);
  const missing = expected.filter((line) => !read.includes(line));
  const added = read.filter((line) => !expected.includes(line));
  for (const line of missing) console.log(`missing in the client: ${line}`);
  for (const line of added) console.log(`only in the client: ${line}`);
  console.log(`${name}: the client reads ${read.length} of ${expected.length} twts.`);
  return missing.length + added.length + Math.abs(read.length - expected.length);
}

async function readByClient({ program, work }: Client, url: string): Promise<string[]> {
  const config = join(work, "config");
  writeFileSync(join(work, "me.txt"), "");
  writeFileSync(
    config,
    `[twtxt]\nnick = me\ntwtfile = ${join(work, "me.txt")}\nuse_pager = False\ncharacter_limit = 0\n\n[following]\n`,
  );
  await run(program, ["-c", config, "follow", "alice", url]);
  const { stdout } = await run(
    program,
    ["-c", config, "timeline", "--no-cache", "--porcelain", "--ascending", "--limit", "1000000"],
    {
      env: { ...process.env, LC_ALL: "C.UTF-8" },
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t").slice(2).join("\t"));
}

function serve(folder: string): Promise<Served> {
  return listen((request, response) => {
    const file = join(folder, (request.url ?? "/").replace(/[^\w.-]/g, ""));
    if (!existsSync(file)) return response.writeHead(404).end();
    return response
      .writeHead(200, { "Content-Type": "text/plain; charset=utf-8" })
      .end(request.method === "HEAD" ? "" : readFileSync(file));
  });
}

function serveHandler(handler: Handler): Promise<Served> {
  return listen(async ({ url, method = "GET", headers: { authorization, "user-agent": agent = "" } }, response) => {
    const headers = { "user-agent": agent, ...(authorization !== undefined && { authorization }) };
    const answer = await handler(new Request(`http://127.0.0.1${url}`, { method, headers }), {
      address: "",
      params: {},
    });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
}

interface Served {
  url: string;
  close(): void;
}

function listen(listener: RequestListener): Promise<Served> {
  const server = createServer(listener);
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }),
    ),
  );
}
