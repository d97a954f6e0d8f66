// plugin/store/write-thread.ts: a thread that commits the transactions of a server, so that a slow disk stops no requests.
import { Worker } from "node:worker_threads";
import { libsqlFile } from "./sqlite-driver.js";
import type { Step, StepResult } from "./sqlite-rows.js";

/**
 * Runs the steps of each message in a transaction, as `Rows.commit` does. It is text, because a file would have to be found
 * beside each bundle.
 */
const SCRIPT = `
const { parentPort, workerData: { file, libsql } } = require("node:worker_threads");
process.emitWarning = () => {};
const Database = libsql ? require(libsql) : process.getBuiltinModule("node:sqlite").DatabaseSync;
const database = new Database(file);
database.exec("PRAGMA busy_timeout = 30000; PRAGMA synchronous = FULL");
const statements = new Map();
const run = ([sql, ...values]) => {
  if (!statements.has(sql)) statements.set(sql, database.prepare(sql));
  return statements.get(sql).get(...values);
};
parentPort.on("message", (steps) => {
  try {
    database.exec("BEGIN IMMEDIATE");
    const results = steps.map(run);
    database.exec("COMMIT");
    parentPort.postMessage({ results });
  } catch (error) {
    try { database.exec("ROLLBACK"); } catch {}
    const { message, code, errcode, rawCode } = error;
    parentPort.postMessage({ error: { message, code, errcode, rawCode } });
  }
});`;

type Answer = { results: StepResult[]; error?: undefined } | { error: { message: string } };

/** The thread of one database, started by its first transaction. It runs one transaction at a time. */
export class WriteThread {
  /** Found once: the package may be removed while a server runs. */
  readonly #libsql = libsqlFile();
  #thread: Worker | null = null;
  #answer: ((answer: Answer) => void) | null = null;

  constructor(private readonly file: string) {}

  /** Runs steps in a transaction. The database must exist, and the previous transaction must have ended. */
  async commit(steps: readonly Step[]): Promise<StepResult[]> {
    this.#thread ??= this.#start();
    const answered = new Promise<Answer>((resolve) => {
      this.#answer = resolve;
    });
    // A process does not end before its writes are durable.
    this.#thread.ref();
    this.#thread.postMessage(steps);
    const answer = await answered;
    this.#thread?.unref();
    if (!answer.error) return answer.results;
    // SQLite may have opened a file that was read-only at that time.
    this.stop();
    throw Object.assign(new Error(answer.error.message), answer.error);
  }

  stop(): void {
    const thread = this.#thread;
    this.#thread = null;
    this.#answer?.({ error: new Error("the thread that writes was stopped") });
    void thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(SCRIPT, { eval: true, workerData: { file: this.file, libsql: this.#libsql } });
    const answer = (answer: Answer) => {
      if (this.#thread === thread) this.#answer?.(answer);
    };
    const fail = (error: Error) => {
      answer({ error });
      if (this.#thread === thread) this.#thread = null;
    };
    thread.on("message", answer);
    thread.on("error", fail);
    thread.on("exit", () => fail(new Error("the thread that writes has ended")));
    return thread;
  }
}
