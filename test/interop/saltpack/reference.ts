// test/interop/saltpack/reference.ts: builds main.go, the reference implementation of saltpack, and sends it requests.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildGo, findGo } from "../../helpers/go.js";

const sources = fileURLToPath(new URL(".", import.meta.url));

/** The Go program's `Request`; a measurement is in milliseconds. */
export interface Question {
  do: "seal" | "open" | "armor" | "dearmor";
  sender?: Uint8Array;
  recipients?: Uint8Array[];
  key?: Uint8Array;
  input: Uint8Array;
  armored?: boolean;
  measure?: number;
}

export interface Answer {
  output: Uint8Array;
  /** The signer of an opened message. */
  sender: Uint8Array;
  /** Operations per second, if `measure` was given. */
  perSecond: number;
}

export interface Reference {
  /** @throws Error with the error of the reference */
  ask(question: Question): Promise<Answer>;
  close(): void;
}

/**
 * Builds and starts the Go program. It processes one request after the other.
 *
 * @param folder - the folder for the program; nothing is written into the repository
 * @param signal - ends the program
 * @returns `null` if Go is not installed
 */
export async function startReference(folder: string, signal?: AbortSignal): Promise<Reference | null> {
  const go = await findGo();
  if (go === null) return null;
  const program = join(folder, "saltpack-reference");
  await buildGo(go, sources, { name: ".", file: program, signal });
  return start(program, signal);
}

function start(program: string, signal?: AbortSignal): Reference {
  const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"], ...(signal && { signal }) });
  const waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  let end: Error | undefined;
  const fail = (error: Error) => {
    end ??= error;
    for (const { reject } of waiting.splice(0)) reject(end);
  };
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(line));
  child.on("error", fail);
  child.stdin.on("error", fail);
  child.on("close", (code) => fail(new Error(`The Go program ended with exit code ${code}.`)));

  return {
    async ask(question) {
      const line = await new Promise<string>((resolve, reject) => {
        if (end) return reject(end);
        waiting.push({ resolve, reject });
        child.stdin.write(`${lineFor(question)}\n`);
      });
      return answerFrom(line);
    },
    close: () => child.stdin.end(),
  };
}

function lineFor({ sender, recipients, key, input, ...rest }: Question): string {
  return JSON.stringify({
    ...rest,
    sender: sender && base64(sender),
    recipients: recipients?.map(base64),
    key: key && base64(key),
    input: base64(input),
  });
}

function answerFrom(line: string): Answer {
  const { output, sender, perSecond, error } = JSON.parse(line) as Record<string, string | null> & {
    perSecond?: number;
  };
  if (error) throw new Error(error);
  return { output: bytesFrom(output), sender: bytesFrom(sender), perSecond: perSecond ?? Number.NaN };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

/** Go encodes an empty slice as null. */
function bytesFrom(text: string | null | undefined): Uint8Array {
  return new Uint8Array(Buffer.from(text ?? "", "base64"));
}
