// test/interop/python.ts: virtual environments with packages from PyPI, in .cache/interop.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
export const cache = fileURLToPath(new URL("../../.cache/interop", import.meta.url));

/** Prints the folder that contains the package pip. */
const FIND_PIP = "import pip; print(pip.__path__[0].removesuffix('pip'), end='')";
/** With --ignore-installed, because Python also finds the packages next to pip, which are only for pip. */
const INSTALL = [
  "-m",
  "pip",
  "install",
  "--quiet",
  "--no-compile",
  "--disable-pip-version-check",
  "--ignore-installed",
];

let pip: Promise<string | null> | undefined;

/**
 * Creates a virtual environment, or returns that of an earlier run.
 *
 * @param name - the name of its folder
 * @param packages - requirements in pip's format, with versions
 * @returns the environment's folder; `null` without Python or pip, after printing that the trial is skipped
 */
export async function pythonWith(name: string, packages: readonly string[]): Promise<string | null> {
  const folder = join(cache, name);
  const list = join(folder, "packages.txt");
  const wanted = packages.join("\n");
  if (existsSync(list) && readFileSync(list, "utf8") === wanted) return folder;
  rmSync(folder, { recursive: true, force: true });
  pip ??= preparePip();
  const PYTHONPATH = await pip;
  if (PYTHONPATH === null) {
    console.log(`SKIPPED: ${name}. pip is not installed.`);
    return null;
  }
  const isInstalled =
    (await output(name, ["python3", "-m", "venv", "--without-pip", folder])) !== null &&
    (await output(name, [join(folder, "bin/python"), ...INSTALL, ...packages], { PYTHONPATH })) !== null;
  if (!isInstalled) return null;
  writeFileSync(list, wanted);
  return folder;
}

/** Creates one environment with pip for all others, because installing pip takes longer than installing their packages. */
async function preparePip(): Promise<string | null> {
  const folder = join(cache, "pip");
  const isMade =
    existsSync(join(folder, "bin/pip")) || (await output("pip", ["python3", "-m", "venv", folder])) !== null;
  return isMade ? output("pip", [join(folder, "bin/python"), "-c", FIND_PIP]) : null;
}

/** @returns the output of a program; `null` if it fails, after printing that the trial is skipped */
async function output(
  name: string,
  [program = "", ...args]: string[],
  environment: Record<string, string> = {},
): Promise<string | null> {
  try {
    return (await run(program, args, { timeout: 300_000, env: { ...process.env, ...environment } })).stdout;
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code?: string | number; stdout?: string; stderr?: string };
    const lastLine = `${stdout}\n${stderr}`.trim().split("\n").at(-1) || `exit code ${code}`;
    const reason = code === "ENOENT" ? `${program} is not installed` : `"${lastLine}"`;
    console.log(`SKIPPED: ${name}. ${[program, ...args].slice(0, 4).join(" ")} failed: ${reason}`);
    return null;
  }
}
