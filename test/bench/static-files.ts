// test/bench/static-files.ts: processor time of static files from `serve`, sirv, nginx and Caddy.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import sirv from "sirv";
import { Pool } from "undici";
import { freePort } from "../helpers/ports.js";
import { startServer } from "./child.js";
import { startServe, writeSite } from "./served-site.js";
import { median, type Part } from "./table.js";
import { readUsage } from "./watched-serve.js";

const AT_ONCE = 8;
const FILES = [
  { name: "a page of 20 KB", path: "/page/", bytes: 20_000, requests: 2000 },
  { name: "1 KB", path: "/small.txt", bytes: 1024, requests: 2000 },
  { name: "5 MB", path: "/film.mp4", bytes: 5_000_000, requests: 60 },
];
const PLACES: Record<string, string> = {
  "/page/": "page/index.html",
  "/small.txt": "small.txt",
  "/film.mp4": "film.mp4",
};

interface FileServer {
  name: string;
  pid: number;
  pool: Pool;
  end(): Promise<void>;
}

interface Size {
  folder: string;
  rounds: number;
  stop: AbortSignal;
}

/** The servers take turns, so that other load of the machine affects all of them. The first round is a warm-up. */
export async function measureStaticFiles(entry: string, { folder, rounds, stop }: Size): Promise<Part> {
  const servers = await startAll(entry, folder, stop);
  try {
    const figures: { file: string; server: string; microseconds: number[] }[] = [];
    for (const file of FILES) {
      const series = servers.map((server) => ({ file: file.name, server: server.name, microseconds: [] as number[] }));
      for (let round = 0; round <= rounds; round += 1) {
        for (const [index, server] of servers.entries()) {
          const used = await measureRequests(server, file);
          if (round > 0) series[index]?.microseconds.push(used);
        }
      }
      figures.push(...series);
    }
    return toPart(
      figures,
      servers.map(({ name }) => name),
      rounds,
    );
  } finally {
    await Promise.all(servers.map((server) => server.end()));
  }
}

/** @returns processor time of the server for one request, in microseconds */
async function measureRequests({ pid, pool, name }: FileServer, file: (typeof FILES)[number]): Promise<number> {
  const before = readUsage(pid).cpuSeconds;
  let left = file.requests;
  const sender = async () => {
    while (left-- > 0) {
      const { statusCode, body } = await pool.request({ path: file.path, method: "GET" });
      const { byteLength } = await body.arrayBuffer();
      if (statusCode !== 200 || byteLength !== file.bytes)
        throw new Error(`${name} answered ${file.path} with ${statusCode}.`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  return ((readUsage(pid).cpuSeconds - before) * 1e6) / file.requests;
}

async function startAll(entry: string, folder: string, stop: AbortSignal): Promise<FileServer[]> {
  writeSite(folder, { inbox: null, blobs: null });
  const site = join(folder, "_site");
  for (const { path, bytes } of FILES) {
    const file = join(site, PLACES[path] ?? "");
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "0123456789".repeat(bytes / 10 + 1).slice(0, bytes));
  }
  const served = await startServe(entry, folder, stop);
  const servers = [{ name: "serve", ...toServer(served.pid, Number(new URL(served.url).port), served.end) }];
  const other = await startServer([...process.execArgv, fileURLToPath(import.meta.url), "sirv", site], stop);
  servers.push({ name: "sirv", ...toServer(other.pid, other.port, other.end) });
  for (const [name, start] of [
    ["nginx", startNginx],
    ["Caddy", startCaddy],
  ] as const) {
    const started = await start(folder, site);
    if (started) servers.push({ name, ...started });
  }
  return servers;
}

function toServer(pid: number, port: number, end: () => void) {
  const pool = new Pool(`http://127.0.0.1:${port}`);
  return { pid, pool, end: () => pool.destroy().finally(end) };
}

async function startNginx(folder: string, site: string) {
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/nginx;`,
  );
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; events {}
http { include /etc/nginx/mime.types; access_log off; sendfile on; ${temporary.join(" ")}
server { listen 127.0.0.1:${port}; root ${site}; } }`,
  );
  return startProgram("nginx", ["-c", file], port);
}

async function startCaddy(folder: string, site: string) {
  const port = await freePort();
  const file = join(folder, "Caddyfile");
  writeFileSync(
    file,
    `{\n admin off\n auto_https off\n}\nhttp://127.0.0.1:${port} {\n root * ${site}\n file_server\n}\n`,
  );
  return startProgram("caddy", ["run", "--config", file, "--adapter", "caddyfile"], port);
}

/** @returns `null` if the program is not installed */
async function startProgram(program: string, args: string[], port: number) {
  const child = spawn(program, args, { stdio: "ignore" });
  let hasFailed = false;
  child.on("error", () => {
    hasFailed = true;
  });
  while (!(await isListening(port))) {
    if (hasFailed || child.exitCode !== null) return null;
    await sleep(20);
  }
  return toServer(Number(child.pid), port, () => endProgram(child));
}

function endProgram(child: ChildProcess): void {
  child.kill("SIGKILL");
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

function toPart(
  figures: { file: string; server: string; microseconds: number[] }[],
  names: string[],
  rounds: number,
): Part {
  const find = (file: string, server: string) =>
    median(figures.find((figure) => figure.file === file && figure.server === server)?.microseconds ?? []);
  const rows = FILES.map(({ name }) => [
    name,
    ...names.map((server) => `${find(name, server).toFixed(0)} µs`),
    `${(find(name, "serve") / find(name, "sirv")).toFixed(2)} x`,
  ]);
  return {
    title: `Static files: processor time of a request, median of ${rounds} rounds, ${AT_ONCE} requests at once`,
    rows: [["", ...names, "serve / sirv"], ...rows],
    aims: FILES.map(({ name }) => ({
      what: name,
      aim: "at most 1.3 times sirv",
      reached: `${(find(name, "serve") / find(name, "sirv")).toFixed(2)} x`,
    })),
    note: "nginx and Caddy are measured where they are installed. sirv looks at the files when it starts, serve at each request.",
    figures,
  };
}

const [, script, what, folder = ""] = process.argv;
if (script === fileURLToPath(import.meta.url) && what === "sirv") {
  const serve = sirv(folder, { etag: true });
  const server = createServer((request, response) =>
    serve(request, response, () => void response.writeHead(404).end()),
  );
  server.listen(0, "127.0.0.1", () => process.send?.(Object(server.address()).port));
  process.on("disconnect", () => process.exit());
}
