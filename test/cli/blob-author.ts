// test/cli/blob-author.ts: authors with blobs at their own loopback sites, and the command `eleventy-twtxt blob`.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Terminal } from "../../plugin/cli/terminal.js";
import { type Correspondent, correspondents } from "./correspondent.js";
import { testTerminal } from "./helpers.js";
import { runCommandLine } from "./run-command-line.js";

export interface BlobOutcome {
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** Binary output. */
  written: Buffer;
}

export interface BlobAuthor extends Correspondent {
  /** Runs `eleventy-twtxt blob ARGS` in this process. */
  blob(...args: string[]): Promise<BlobOutcome>;
  /** The same, with parts of the terminal replaced. */
  blobWith(terminal: Partial<Terminal>, ...args: string[]): Promise<BlobOutcome>;
  /** The output of `blob list --json`. */
  listed(): Promise<Record<string, unknown>[]>;
  /** The content of a file on the machine. */
  bytes(path: string): Buffer;
  /** The shared URL of a key. */
  shared(key: string): string;
  /** The methods of the requests since the last call. */
  methods(): string[];
}

type BlobsOption = NonNullable<Parameters<typeof correspondents>[1]>["blobs"];

/** `correspondents` whose sites have blobs. */
export async function blobAuthors<T extends string>(
  users: readonly T[],
  blobs: BlobsOption = true,
): Promise<Record<T, BlobAuthor>> {
  const people = await correspondents(users, { ...(blobs !== undefined && { blobs }) });
  const all = users.map((user) => [user, withBlobs(people[user])]);
  return Object.fromEntries(all);
}

function withBlobs(person: Correspondent): BlobAuthor {
  let seen = 0;
  const author: BlobAuthor = Object.assign(person, {
    blob: (...args: string[]) => author.blobWith({}, ...args),
    async blobWith(given: Partial<Terminal>, ...[action, ...args]: string[]) {
      const written: Uint8Array[] = [];
      const terminal = testTerminal(person.machine.folder, new Date().toISOString(), null, true);
      const typed = action === undefined ? [] : [action, ...person.allowing, ...args];
      const exitCode = await runCommandLine(["blob", ...typed], {
        ...terminal,
        environment: person.environment,
        ended: () => new Promise(() => {}),
        async write(chunks) {
          for await (const chunk of chunks) written.push(chunk);
        },
        ...given,
      });
      const [stdout, stderr] = [terminal.stdout.join("\n"), terminal.stderr.join("\n")];
      return { exitCode, stdout, stderr, written: Buffer.concat(written) };
    },
    async listed() {
      return JSON.parse((await author.blob("list", "--json")).stdout);
    },
    bytes: (path: string) => readFileSync(join(person.machine.folder, path)),
    shared: (key: string) => `${person.url}/shared/${person.kex}/${key}`,
    methods() {
      const methods = person.requests.slice(seen).map((request) => request.split(" ")[0] ?? "");
      seen = person.requests.length;
      return methods;
    },
  });
  return author;
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The start of a picture, enough to detect its type. */
export const PNG = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex"),
  Buffer.from("0000000a49444154789c63000100000500010d0a2db40000000049454e44ae426082", "hex"),
]);
