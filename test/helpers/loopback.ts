// test/helpers/loopback.ts: servers on this machine, and a way out of it that is closed.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buildConnector } from "undici";
import { afterEach } from "vitest";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

export interface LoopbackServer {
  url: string;
  /** `host:port`, as the guard wants it. */
  host: string;
  port: number;
  /** Paths that were asked for, in order. */
  asked: string[];
}

/** A real server on loopback, closed after the test. */
export async function loopbackServer(listener: RequestListener): Promise<LoopbackServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, port, asked };
}

/** Where connections would have gone that this machine must not make. */
export const strayed: string[] = [];

/** Dials loopback alone, so that a broken guard shows in a test and nowhere else. */
export function loopbackConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const dial = buildConnector(options);
  return (target, callback) => {
    dial(target, (error, socket) => {
      if (error) return callback(error, null);
      if (socket.remoteAddress === "127.0.0.1" || socket.remoteAddress === "::1") return callback(null, socket);
      strayed.push(`${target.hostname}:${target.port}`);
      socket.destroy();
      callback(new Error("This test left the machine."), null);
    });
  };
}
