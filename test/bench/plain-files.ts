// test/bench/plain-files.ts: minimal file server in its own process, the baseline for blobs.
import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { rename, stat, unlink } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { type Child, startServer } from "./child.js";

/** Serves GET, PUT and DELETE of `/<name>` for the files of a folder. @param folder - is created */
export function startPlainFiles(folder: string, stop: AbortSignal): Promise<Child> {
  return startServer([...process.execArgv, fileURLToPath(import.meta.url), "plain", folder], stop);
}

async function answer(request: IncomingMessage, response: ServerResponse, file: string): Promise<void> {
  if (request.method === "PUT") {
    await pipeline(request, createWriteStream(`${file}.part`, { flush: true }));
    await rename(`${file}.part`, file);
    response.writeHead(201).end();
  } else if (request.method === "DELETE") {
    await unlink(file);
    response.writeHead(200).end();
  } else {
    const { size } = await stat(file);
    response.writeHead(200, { "content-length": size });
    await pipeline(createReadStream(file), response);
  }
}

function serve(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const server = createServer((request, response) => {
    answer(request, response, join(folder, basename(request.url ?? ""))).catch((error) => response.destroy(error));
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

const [, script, what, folder = ""] = process.argv;
if (script === fileURLToPath(import.meta.url) && what === "plain") serve(folder);
