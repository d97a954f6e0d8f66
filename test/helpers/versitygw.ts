// test/helpers/versitygw.ts: versitygw, a server that speaks S3 and keeps its objects in a folder.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildGo, findGo } from "./go.js";

const MODULE = "github.com/versity/versitygw";
const sources = fileURLToPath(new URL("../store/versitygw/", import.meta.url));
const cache = fileURLToPath(new URL("../../.cache/versitygw/", import.meta.url));
const version = new RegExp(`${MODULE} (\\S+)`).exec(readFileSync(join(sources, "go.mod"), "utf8"))?.[1];
const program = join(cache, `versitygw-${version}-${process.platform}-${process.arch}`);

/** Enough for a first build, which downloads 340 MB of modules. */
export const BUILD_MS = 600_000;

export const ACCESS = { region: "eu-central-1", accessKeyId: "tester", secretAccessKey: "the/secret+of=tests" };

export interface Versitygw {
  /** The Unix socket on which versitygw listens; unlike a port, it is always free. */
  socketPath: string;
  /** Writes small objects directly into its folder, which is faster than requests. */
  fill(bucket: string, keys: readonly string[]): void;
  end(): Promise<void>;
}

/** The reason why versitygw cannot run here; `null` if it can. */
export async function versitygwLack(): Promise<string | null> {
  if (process.platform === "win32") return "it does not run on Windows";
  if (existsSync(program) || (await findGo()) !== null) return null;
  return "Go is not installed on this machine, so it cannot be built";
}

/** Builds versitygw if this version is missing, and starts it with its own folder. */
export async function startVersitygw(): Promise<Versitygw> {
  if (!existsSync(program)) await build();
  const folder = mkdtempSync(join(tmpdir(), "twtxt-s3-"));
  const socketPath = join(folder, "socket");
  const data = join(folder, "data");
  mkdirSync(data);
  const { region, accessKeyId, secretAccessKey } = ACCESS;
  const access = ["--access", accessKeyId, "--secret", secretAccessKey, "--region", region];
  // Without --keep-alive, it closes the connection of a request that it refuses before reading the body, and the response is lost.
  const settings = ["--port", socketPath, "--health", "/health", "--quiet", "--keep-alive"];
  const child = spawn(program, [...access, ...settings, "posix", data], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (part) => {
    log += part;
  });
  const exited = once(child, "exit");
  const end = async () => {
    child.kill();
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  while (!(await isUp(socketPath))) {
    if (child.exitCode !== null) throw new Error(`versitygw has ended (${child.exitCode}): ${log}`);
    await sleep(20);
  }
  const fill: Versitygw["fill"] = (bucket, keys) => {
    for (const key of keys) {
      const file = join(data, bucket, key);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "x");
    }
  };
  return { socketPath, fill, end };
}

/** Two concurrent builds each replace the program atomically. */
async function build(): Promise<void> {
  const go = await findGo();
  if (go === null) throw new Error("Go is not installed on this machine.");
  mkdirSync(cache, { recursive: true });
  const file = `${program}.${process.pid}`;
  await buildGo(go, sources, { name: `${MODULE}/cmd/versitygw`, file });
  renameSync(file, program);
}

function isUp(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    get({ socketPath, path: "/health" }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    }).on("error", () => resolve(false));
  });
}
