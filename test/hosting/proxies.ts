// test/hosting/proxies.ts: nginx and Caddy, with the configurations of docs/hosting/.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { afterEach } from "../helpers/hooks.js";
import { REPO } from "../helpers/paths.js";
import { freePort } from "../helpers/ports.js";

const running: { child: ChildProcess; folder: string }[] = [];

afterEach(async () => {
  for (const { child, folder } of running.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Parts of a configuration and what a test has instead. */
export type Replacements = readonly (readonly [part: string, instead: string])[];

export interface WebServer {
  name: string;
  /** The program, which CI installs. */
  program: string;
  /**
   * Starts it with a configuration.
   *
   * @param file - in docs/hosting/
   * @param above - text above it
   * @returns its URL
   */
  start(file: string, replacements: Replacements, above?: string): Promise<string>;
}

export const nginx: WebServer = {
  name: "nginx",
  program: "nginx",
  async start(file, replacements, above = "") {
    const folder = newFolder();
    const [port, plainPort] = [await freePort(), await freePort()];
    const site = configuration(file, [
      ["  listen [::]:443 ssl http2;\n", ""],
      ["listen 443 ssl http2;", `listen 127.0.0.1:${port};`],
      ["  ssl_certificate /etc/letsencrypt/live/alice.example/fullchain.pem;\n", ""],
      ["  ssl_certificate_key /etc/letsencrypt/live/alice.example/privkey.pem;\n", ""],
      ["  ssl_protocols TLSv1.2 TLSv1.3;\n", ""],
      ...(file === "nginx.conf"
        ? ([
            ["  listen [::]:80;\n", ""],
            ["listen 80;", `listen 127.0.0.1:${plainPort};`],
          ] as const)
        : []),
      ...replacements,
    ]);
    writeFileSync(join(folder, "nginx.conf"), nginxConfiguration(folder, above + site));
    await start(folder, ["nginx", "-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"], port);
    return `http://127.0.0.1:${port}`;
  },
};

/** Debian's main file, without a daemon, and with all files in a folder of the test. */
function nginxConfiguration(folder: string, site: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events {}
http {
  include /etc/nginx/mime.types;
  access_log off;
  ${temporary.join("\n  ")}
${site}
}
`;
}

export const caddy: WebServer = {
  name: "Caddy",
  program: "caddy",
  async start(file, replacements) {
    const folder = newFolder();
    const port = await freePort();
    const site = configuration(file, [["alice.example {", `http://127.0.0.1:${port} {`], ...replacements]);
    writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n}\n${site}`);
    await start(folder, ["caddy", "run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")], port);
    return `http://127.0.0.1:${port}`;
  },
};

/** Why a program cannot be used; `null` if it can. */
export function programLack(program: string): string | null {
  return spawnSync("which", [program]).status === 0 ? null : `${program} is not installed`;
}

/** Tests with both proxies. Without one of them, its tests are skipped. */
export function describeWithProxies(name: string, tests: (proxy: WebServer) => void): void {
  for (const proxy of [nginx, caddy]) {
    const lack = programLack(proxy.program);
    if (lack === null) describe(`${name}: ${proxy.name}`, () => tests(proxy));
    else describe.skip(`${name}: ${proxy.name} (skipped: ${lack})`, () => tests(proxy));
  }
}

function configuration(file: string, replacements: Replacements): string {
  let text = readFileSync(join(REPO, "docs/hosting", file), "utf8");
  for (const [part, instead] of replacements) {
    expect(text).toContain(part);
    text = text.replaceAll(part, instead);
  }
  return text;
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "twtxt-proxy-"));
}

async function start(folder: string, [program = "", ...args]: string[], port: number): Promise<void> {
  mkdirSync(join(folder, "data"));
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: join(folder, "data"), XDG_CONFIG_HOME: folder };
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  running.push({ child, folder });
  let output = "";
  child.stderr.on("data", (data) => (output += data));
  await expect
    .poll(async () => (child.exitCode === null ? isListening(port) : `${program} has ended: ${output}`))
    .toBe(true);
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isOpen = await Promise.race([
    once(socket, "connect").then(() => true),
    once(socket, "error").then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return isOpen;
}
