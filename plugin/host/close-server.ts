// plugin/host/close-server.ts: closes a server once its open requests are answered.
import { once } from "node:events";
import type { Server } from "node:http";

/** Longer than a verification, so that open requests are answered before. */
const GRACE_MS = 20_000;

/** Accepts no new connections, answers open requests for up to 20 seconds, and closes. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  // Closes each connection as soon as it is idle.
  server.keepAliveTimeout = 1;
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(timer);
}
