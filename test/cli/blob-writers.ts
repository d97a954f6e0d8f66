// test/cli/blob-writers.ts: clients that write blobs of their own until the server is gone, and know what must be there then.
import { type Asked, ask, type BlobServer } from "./blob-server.js";
import { contentsOf, post, put, readText, type State, textOf } from "./blob-state.js";

const SIZES = [0, 1, 1000, 1000, 70_000, 300_000, 2 ** 20];
const KEYS = 3;

/** A number from 0 to below `end`. */
export type Random = (end: number) => number;

/** The same numbers again for the same seed. */
export function seeded(seed: number): Random {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

export interface Writer {
  /**
   * Writes until the server is gone.
   *
   * @param step - called at the beginning of each request, before each piece of a body, and after each answer
   */
  write(server: BlobServer, step: () => void): Promise<void>;
  /** @returns what is wrong of what is there, in a line each; what was not answered may have happened or not */
  faults(server: BlobServer): Promise<string[]>;
}

/** @param name - nobody else writes keys that begin with it */
export function writer(name: string, random: Random): Writer {
  const keys = Array.from({ length: KEYS }, (_, i) => `${name}-${i}`);
  /** Of each key; the second one is that of a request without an answer. */
  const states = new Map<string, readonly [State | null, (State | null)?]>();
  let number = 0;

  const next = (before: State | null): { after: State | null; asked: Omit<Asked, "key">; status: number } => {
    number += 1;
    const kind = before ? random(10) : 0;
    if (before && kind > 7) return { after: null, asked: { method: "DELETE" }, status: 200 };
    if (before && kind > 5) return { after: { ...before, said: number }, asked: post(number), status: 200 };
    const contents = contentsOf(number, SIZES[random(SIZES.length)] ?? 0);
    return { after: { contents, said: number }, asked: put(number, contents), status: before ? 200 : 201 };
  };

  return {
    async write(server, step) {
      for (;;) {
        const key = keys[random(KEYS)] ?? name;
        const [before] = states.get(key) ?? [null];
        const { after, asked, status } = next(before);
        states.set(key, [before, after]);
        step();
        const answer = await ask(server, { key, ...asked, onPiece: step }).catch(() => null);
        if (!answer) return;
        if (answer.status !== status) throw new Error(`${asked.method} ${key}: ${answer.status} ${answer.body}`);
        states.set(key, [after]);
        step();
      }
    },

    async faults(server) {
      const faults = await Promise.all(
        [...states].map(async ([key, possible]) => {
          const found = await readText(server, key);
          const state = possible.find((state) => state !== undefined && textOf(state) === found);
          if (state === undefined) {
            return [`${key} is ${found}, and not ${possible.map((state) => textOf(state ?? null)).join(" or ")}`];
          }
          states.set(key, [state]);
          return [];
        }),
      );
      return faults.flat();
    },
  };
}
