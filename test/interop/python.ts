// test/interop/python.ts: virtual environments with packages of PyPI, in .cache/interop.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
export const cache = fileURLToPath(new URL("../../.cache/interop", import.meta.url));

/**
 * Makes a virtual environment, or takes the one of an earlier run.
 *
 * @param name - of its folder
 * @param packages - with their versions, as pip takes them
 * @returns the environment's folder; `null` where there is no Python or pip, which is reported as skipped
 */
export async function pythonWith(name: string, packages: readonly string[]): Promise<string | null> {
  const folder = join(cache, name);
  const list = join(folder, "packages.txt");
  const wanted = packages.join("\n");
  if (existsSync(list) && readFileSync(list, "utf8") === wanted) return folder;
  rmSync(folder, { recursive: true, force: true });
  const pip = [
    join(folder, "bin/python"),
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-compile",
    "--disable-pip-version-check",
  ];
  const isInstalled =
    (await succeeds(name, ["python3", "-m", "venv", folder])) && (await succeeds(name, [...pip, ...packages]));
  if (!isInstalled) return null;
  writeFileSync(list, wanted);
  return folder;
}

async function succeeds(name: string, [program = "", ...args]: string[]): Promise<boolean> {
  try {
    await run(program, args, { timeout: 300_000 });
    return true;
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code?: string | number; stdout?: string; stderr?: string };
    const said = `${stdout}\n${stderr}`.trim().split("\n").at(-1) || `exit code ${code}`;
    const reason = code === "ENOENT" ? `there is no ${program} on this machine` : `"${said}"`;
    console.log(`SKIPPED: ${name}, since ${[program, ...args].slice(0, 4).join(" ")} failed: ${reason}`);
    return false;
  }
}
