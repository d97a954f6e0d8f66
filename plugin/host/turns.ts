// plugin/host/turns.ts: requests that come at once on one connection, one after the other.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many may wait on a connection. Nobody's browser sends even two. */
const MOST_WAITING = 100;

interface Line {
  /** Fulfilled when the latest one is answered. */
  latest: Promise<void>;
  waiting: number;
}

/** Runs the work for a request when its turn has come. */
export type InTurn = (socket: Socket, response: ServerResponse, work: () => Promise<void>) => Promise<void>;

/**
 * Whoever sends a thousand requests at once, in a few lines, would have a thousand files opened and read, none of which is
 * passed on before the first one is, and Node does not let go of them where the connection ends.
 */
export function turns(): InTurn {
  const lines = new WeakMap<Socket, Line>();

  return async (socket, response, work) => {
    const before = lines.get(socket);
    const line: Line = { latest: closed(response), waiting: (before?.waiting ?? 0) + 1 };
    lines.set(socket, line);
    if (line.waiting > MOST_WAITING) socket.destroy();
    await before?.latest;
    if (!socket.destroyed) await work();
    const now = lines.get(socket);
    if (now) now.waiting -= 1;
  };
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once("close", resolve));
}
