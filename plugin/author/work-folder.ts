// plugin/author/work-folder.ts: a folder for the temporary files of one process, in the data folder of the author.
import { rmSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { processOfName, uniqueName } from "../store/processes.js";
import { dataFolder, ifThere, orBadFile } from "./files.js";
import type { Machine } from "./machine.js";

/** Only the author may read them. */
const MODE = 0o700;

/** A folder of this process. It is created when it is first used. */
export class WorkFolder {
  readonly #all: string;
  readonly #own: string;

  /** @param ending - deletes the folder */
  constructor(machine: Pick<Machine, "environment">, ending: AbortSignal) {
    this.#all = join(dataFolder(machine), "work");
    this.#own = join(this.#all, uniqueName());
    ending.addEventListener("abort", () => rmSync(this.#own, { recursive: true, force: true }));
  }

  /** Its absolute path. @throws TwtxtError `bad-file` */
  async path(): Promise<string> {
    await orBadFile(mkdir(this.#own, { recursive: true, mode: MODE }));
    return this.#own;
  }

  /** Deletes the folders of processes that were killed. @throws TwtxtError `bad-file` */
  async clearOthers(): Promise<void> {
    const folders = await orBadFile(ifThere(readdir(this.#all)));
    const left = (folders ?? []).filter((name) => processOfName(name) === "ended");
    await orBadFile(Promise.all(left.map((name) => rm(join(this.#all, name), { recursive: true, force: true }))));
  }
}
