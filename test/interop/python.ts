// test/interop/python.ts: virtual environments with packages from PyPI, in .cache/interop.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
export const cache = fileURLToPath(new URL("../../.cache/interop", import.meta.url));

const UV = "uv==0.13.9";
let uv: Promise<string | null> | undefined;

/**
 * Creates a virtual environment, or returns that of an earlier run.
 *
 * @param name - the name of its folder
 * @param packages - requirements, with versions
 * @returns the environment's folder; `null` without Python, after printing that the trial is skipped
 */
export async function pythonWith(name: string, packages: readonly string[]): Promise<string | null> {
  const folder = join(cache, name);
  const list = join(folder, "packages.txt");
  const wanted = packages.join("\n");
  if (existsSync(list) && readFileSync(list, "utf8") === wanted) return folder;
  rmSync(folder, { recursive: true, force: true });
  uv ??= installUv();
  const installer = await uv;
  if (installer === null) {
    console.log(`SKIPPED: ${name}. uv is not installed.`);
    return null;
  }
  const python = join(folder, "bin/python");
  const isInstalled =
    (await output(name, ["python3", "-m", "venv", "--without-pip", folder])) !== null &&
    (await output(name, [installer, "pip", "install", "--quiet", "--python", python, ...packages])) !== null;
  if (!isInstalled) return null;
  writeFileSync(list, wanted);
  return folder;
}

/** Installs uv, which takes a tenth of pip's time for all the environments. @returns the path of the program */
async function installUv(): Promise<string | null> {
  const folder = join(cache, "uv");
  const program = join(folder, "bin/uv");
  if (existsSync(program)) return program;
  const isInstalled =
    (await output("uv", ["python3", "-m", "venv", folder])) !== null &&
    (await output("uv", [join(folder, "bin/python"), "-m", "pip", "install", "--quiet", UV])) !== null;
  return isInstalled ? program : null;
}

/** @returns the output of a program; `null` if it fails, after printing that the trial is skipped */
async function output(name: string, [program = "", ...args]: string[]): Promise<string | null> {
  try {
    return (await run(program, args, { timeout: 300_000 })).stdout;
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code?: string | number; stdout?: string; stderr?: string };
    const lastLine = `${stdout}\n${stderr}`.trim().split("\n").at(-1) || `exit code ${code}`;
    const reason = code === "ENOENT" ? `${program} is not installed` : `"${lastLine}"`;
    console.log(`SKIPPED: ${name}. ${[program, ...args].slice(0, 4).join(" ")} failed: ${reason}`);
    return null;
  }
}
