// plugin/host/close-server.ts: closes a server without a failed request.
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** Longer than a verification, so that open requests are answered before. */
const GRACE_MS = 20_000;

/**
 * Prepares closing a server, before it accepts connections.
 *
 * @param lingerMs - how long connections without a request stay open when the server closes: a proxy may just be sending one.
 *   Responses in that time tell it not to use the connection again
 * @returns a function that accepts no new connections, answers open requests for up to 20 seconds, and closes
 */
export function prepareClose(server: Server, lingerMs: number): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const responses = new Set<ServerResponse>();
  let isClosing = false;
  let isLingering = false;
  server.prependListener("request", (_, response: ServerResponse) => {
    if (isClosing) response.shouldKeepAlive = false;
    responses.add(response);
    response.once("close", () => {
      responses.delete(response);
      // Its connection is idle now. Node.js would keep it open for at least a second.
      if (isClosing && !isLingering) server.closeIdleConnections();
    });
  });
  return async () => {
    const closed = once(server, "close");
    isClosing = true;
    for (const response of responses) response.shouldKeepAlive = false;
    if (lingerMs > 0) {
      isLingering = true;
      // Unlike `server.close`, leaves idle connections open.
      NetServer.prototype.close.call(server);
      await Promise.race([closed, wait(lingerMs)]);
      isLingering = false;
    } else server.close();
    server.closeIdleConnections();
    // Browsers open connections in advance, which Node.js does not count as idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    await closed;
    clearTimeout(timer);
  };
}
