// plugin/host/request-queue.ts: runs the requests of one connection in order (HTTP/1.1 pipelining).
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many requests may wait on a connection. No browser pipelines even two. */
const MAX_WAITING = 100;

interface Connection {
  /** Fulfilled when the latest request is answered. */
  latest: Promise<void>;
  waiting: number;
}

/**
 * Runs the requests of each connection one after the other.
 *
 * A client that sends a thousand requests at once, in a few lines, would otherwise have a thousand files opened. Node.js
 * sends none of these answers before the first one, and keeps them when the connection ends.
 */
export class RequestQueue {
  readonly #connections = new WeakMap<Socket, Connection>();

  /** Runs the work for a request when the requests before it are answered. */
  async run(socket: Socket, response: ServerResponse, work: () => Promise<void>): Promise<void> {
    const before = this.#connections.get(socket);
    const connection: Connection = { latest: closed(response), waiting: (before?.waiting ?? 0) + 1 };
    this.#connections.set(socket, connection);
    if (connection.waiting > MAX_WAITING) socket.destroy();
    await before?.latest;
    if (!socket.destroyed) await work();
    const now = this.#connections.get(socket);
    if (now) now.waiting -= 1;
  }
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once("close", resolve));
}
