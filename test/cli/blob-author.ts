// test/cli/blob-author.ts: people with blobs at a site of their own on loopback, who type `eleventy-twtxt blob`.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../plugin/cli/command-line.js";
import type { Terminal } from "../../plugin/cli/terminal.js";
import { type Correspondent, correspondents } from "./correspondent.js";
import { standingTerminal } from "./helpers.js";

export interface Typed {
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** What went to stdout as it is. */
  written: Buffer;
}

export interface BlobAuthor extends Correspondent {
  /** Types `eleventy-twtxt blob ARGS`, in this process. */
  blob(...args: string[]): Promise<Typed>;
  /** The same with other things at the terminal. */
  blobWith(terminal: Partial<Terminal>, ...args: string[]): Promise<Typed>;
  /** What `blob list --json` prints. */
  listed(): Promise<Record<string, unknown>[]>;
  /** A file of the machine, as bytes. */
  bytes(path: string): Buffer;
  /** The shared URL of a key. */
  shared(key: string): string;
  /** Methods of the requests for blobs since it was asked last. */
  methods(): string[];
}

type BlobsOption = NonNullable<Parameters<typeof correspondents>[1]>["blobs"];

/** As `correspondents`, each with blobs at their site. */
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
      const terminal = standingTerminal(person.machine.folder, new Date().toISOString(), null, true);
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
      const methods = person.asked.slice(seen).map((asked) => asked.split(" ")[0] ?? "");
      seen = person.asked.length;
      return methods;
    },
  });
  return author;
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The start of a picture, enough to tell its type. */
export const PNG = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex"),
  Buffer.from("0000000a49444154789c63000100000500010d0a2db40000000049454e44ae426082", "hex"),
]);
