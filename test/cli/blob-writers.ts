// test/cli/blob-writers.ts: clients that write their own blobs until the server is killed, and then check them.
import { type BlobRequest, type BlobServer, requestBlob } from "./blob-server.js";
import { contentsOf, post, put, readText, type State, textOf } from "./blob-state.js";

const SIZES = [0, 1, 1000, 1000, 70_000, 300_000, 2 ** 20];
const KEYS = 3;

/** An integer from 0 to `end - 1`. */
export type Random = (end: number) => number;

/** Random numbers that a seed determines. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

export interface Writer {
  /**
   * Writes until the server is killed.
   *
   * @param step - called at the start of each request, before each chunk of a body, and after each response
   */
  write(server: BlobServer, step: () => void): Promise<void>;
  /** @returns a line for each wrong blob; a request without a response may or may not have taken effect */
  findFaults(server: Pick<BlobServer, "url">): Promise<string[]>;
}

/** @param name - prefix of the writer's keys, which no other client uses */
export function writer(name: string, random: Random): Writer {
  const keys = Array.from({ length: KEYS }, (_, i) => `${name}-${i}`);
  /** The confirmed state of each key, then the state after a request without a response. */
  const states = new Map<string, readonly [State | null, (State | null)?]>();
  let number = 0;

  const next = (before: State | null): { after: State | null; request: Omit<BlobRequest, "key">; status: number } => {
    number += 1;
    const kind = before ? random(10) : 0;
    if (before && kind > 7) return { after: null, request: { method: "DELETE" }, status: 200 };
    if (before && kind > 5) return { after: { ...before, metadataNumber: number }, request: post(number), status: 200 };
    const contents = contentsOf(number, SIZES[random(SIZES.length)] ?? 0);
    return { after: { contents, metadataNumber: number }, request: put(number, contents), status: before ? 200 : 201 };
  };

  return {
    async write(server, step) {
      for (;;) {
        const key = keys[random(KEYS)] ?? name;
        const [before] = states.get(key) ?? [null];
        const { after, request, status } = next(before);
        states.set(key, [before, after]);
        step();
        const response = await requestBlob(server, { key, ...request, onPiece: step }).catch(() => null);
        if (!response) return;
        if (response.status !== status)
          throw new Error(`${request.method} ${key}: ${response.status} ${response.body}`);
        states.set(key, [after]);
        step();
      }
    },

    async findFaults(server) {
      const faults = await Promise.all(
        [...states].map(async ([key, possible]) => {
          const found = await readText(server, key);
          const state = possible.find((state) => state !== undefined && textOf(state) === found);
          if (state === undefined) {
            return [`${key}: got ${found}, expected ${possible.map((state) => textOf(state ?? null)).join(" or ")}`];
          }
          states.set(key, [state]);
          return [];
        }),
      );
      return faults.flat();
    },
  };
}
