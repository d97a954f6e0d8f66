// test/helpers/build-in-process.ts: builds a site in this process as Eleventy's command line does.
import { Console } from "node:console";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { refuseStrangers } from "./loopback-sockets.mjs";

/** The exit code and output of a build, as those of Eleventy's command line. */
export interface Build {
  exitCode: number;
  log: string;
}

/** `--quiet`, `--dryrun` and `--to=json`. */
export interface BuildFlags {
  quietMode?: boolean;
  dryRun?: boolean;
  toJson?: boolean;
}

/** The part of Eleventy's API that is used here, because Eleventy ships no types. */
interface EleventyModule {
  Eleventy: new (
    input: undefined,
    output: undefined,
    options: { source: "cli"; configPath: string; quietMode?: boolean; dryRun?: boolean },
  ) => {
    init(): Promise<void>;
    setIsVerbose(isVerbose: boolean): void;
    write(): Promise<unknown>;
    toJSON(): Promise<unknown>;
    errorHandler: { fatal(error: unknown, title: string): void };
  };
}
interface EventBusModule {
  default: { emit(event: string, ...values: unknown[]): unknown };
}

const ELEVENTY = new URL("../../node_modules/@11ty/eleventy/src/", import.meta.url);

/**
 * Leaves out Eleventy's hook for imports, which reloads what a changed module imports: on Node.js 20 each later import of
 * the process asks a thread.
 */
const SKIP_RESOLVER = { ELEVENTY_SKIP_ESM_RESOLVER: "1" };

let builds: Promise<unknown> = Promise.resolve();

/**
 * Builds the site of a folder. Builds run one after another, because the working directory, the console and the exit
 * code belong to the process.
 */
export function buildInProcess(
  folder: string,
  environment: Record<string, string>,
  flags: BuildFlags = {},
): Promise<Build> {
  const build = builds.then(() => runEleventy(folder, environment, flags));
  builds = build.catch(() => {});
  return build;
}

async function runEleventy(folder: string, environment: Record<string, string>, flags: BuildFlags): Promise<Build> {
  const { console } = globalThis;
  const { exitCode } = process;
  const before = { ...process.env };
  const directory = process.cwd();
  const printed: string[] = [];
  process.chdir(folder);
  Object.assign(process.env, environment, SKIP_RESOLVER);
  globalThis.console = new Console(collect(printed));
  process.exitCode = 0;
  const allowStrangers = refuseStrangers();
  try {
    await build(flags);
    return { exitCode: Number(process.exitCode), log: printed.join("") };
  } finally {
    allowStrangers();
    process.exitCode = exitCode;
    globalThis.console = console;
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
    process.chdir(directory);
  }
}

async function build({ toJson = false, ...flags }: BuildFlags): Promise<void> {
  // Imported here, because it reads the environment variables for colors once, when it is loaded.
  const { Eleventy }: EleventyModule = await import(new URL("Eleventy.js", ELEVENTY).href);
  const { default: bus }: EventBusModule = await import(new URL("EventBus.js", ELEVENTY).href);

  // Layouts, templates and modules are cached by path for the whole process; a watcher sends the same events.
  const files = readdirSync(".", { encoding: "utf8" }).flatMap(filesBelow);
  for (const file of files) bus.emit("eleventy.resourceModified", `./${file}`, [], {});
  bus.emit("eleventy.importCacheReset", files);

  const eleventy = new Eleventy(undefined, undefined, { source: "cli", configPath: "eleventy.config.js", ...flags });
  try {
    await eleventy.init();
    if (!toJson) return void (await eleventy.write());
    eleventy.setIsVerbose(false);
    console.log(JSON.stringify(await eleventy.toJSON()));
  } catch (error) {
    eleventy.errorHandler.fatal(error, "Eleventy Fatal Error (CLI)");
  }
}

/** Does not follow links, such as node_modules. */
function filesBelow(path: string): string[] {
  if (!lstatSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

function collect(printed: string[]): Writable {
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      printed.push(text);
      done();
    },
  });
}
