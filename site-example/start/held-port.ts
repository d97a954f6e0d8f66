// site-example/start/held-port.ts: ports that stay taken until a server of `npm start` needs them.
import { createServer } from "node:net";

/** A port on which nothing is served yet. */
export interface HeldPort {
  port: number;
  /** Frees it for the server that is about to start. */
  release(): Promise<void>;
}

/**
 * Takes the first free ports of a range, because URLs with them are built into the blogs long before these are served.
 * Connections to them are closed at once.
 *
 * @throws Error if there are not enough
 */
export async function holdPorts(count: number, first: number, last: number): Promise<HeldPort[]> {
  const held: HeldPort[] = [];
  for (let port = first; port <= last && held.length < count; port += 1) {
    const taken = await holdPort(port);
    if (taken) held.push(taken);
  }
  if (held.length === count) return held;
  await Promise.all(held.map(({ release }) => release()));
  throw new Error(`Not enough free ports from ${first} to ${last}. Stop another server and try again.`);
}

/** @returns `null` if another server has it */
function holdPort(port: number): Promise<HeldPort | null> {
  const server = createServer((socket) => socket.destroy());
  const release = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return new Promise((resolve) => {
    server.on("error", () => resolve(null));
    server.listen(port, "localhost", () => resolve({ port, release }));
  });
}
