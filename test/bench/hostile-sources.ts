// test/bench/hostile-sources.ts: honest and hostile sources of mentions, in their own process.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type Child, startServer } from "./child.js";
import { addressOf } from "./strangers.js";

const BOMB_BYTES = 8 * 1024 * 1024;
const PAGE_BYTES = 1024 * 1024;

/**
 * Serves on one port of 127.0.0.1 and of the addresses of {@link addressOf}: `/feed.txt` has twts of {@link timestampOf} that mention
 * the target, `/bomb.txt` has eight megabytes of line ends in eight kilobytes of gzip, `/page.html` has a link to the target and a
 * megabyte of nested properties, and `/slow.txt` never responds.
 */
export function startSources(size: { hosts: number; twts: number; target: string }, stop: AbortSignal): Promise<Child> {
  const values = [String(size.hosts), String(size.twts), size.target];
  return startServer([...process.execArgv, fileURLToPath(import.meta.url), ...values], stop);
}

/** The timestamp of a twt of the feed, by its number. */
export function timestampOf(twt: number): string {
  return `${new Date(Date.parse("2026-01-01T00:00:00Z") + twt * 1000).toISOString().slice(0, 19)}Z`;
}

function listenerFor(twts: number, target: string): RequestListener {
  const lines = Array.from(
    { length: twts },
    (_, twt) => `${timestampOf(twt)}\tHello @<alice ${target}>, the ${twt}th\n`,
  );
  const feed = `# nick = bob\n\n${lines.join("")}`;
  const bomb = gzipSync(Buffer.alloc(BOMB_BYTES, "\n"));
  const start = `<div class="h-entry"><a href="${target}">x</a>`;
  const page = gzipSync(start + Buffer.alloc(PAGE_BYTES - start.length, '<div class="e-content p-name">x').toString());
  return (request, response) => {
    response.setHeader("content-type", request.url === "/page.html" ? "text/html" : "text/plain; charset=utf-8");
    if (request.url === "/feed.txt") response.end(feed);
    if (request.url === "/bomb.txt") response.setHeader("content-encoding", "gzip").end(bomb);
    if (request.url === "/page.html") response.setHeader("content-encoding", "gzip").end(page);
  };
}

async function serve(hosts: number, twts: number, target: string): Promise<void> {
  const listener = listenerFor(twts, target);
  let port = 0;
  for (const address of ["127.0.0.1", ...Array.from({ length: hosts }, (_, host) => addressOf(host))]) {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    port = (server.address() as AddressInfo).port;
  }
  process.send?.(port);
}

const [, script, hosts, twts, target = ""] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  process.on("disconnect", () => process.exit());
  await serve(Number(hosts), Number(twts), target);
}
