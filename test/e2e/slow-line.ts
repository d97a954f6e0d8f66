// test/e2e/slow-line.ts: a line to a server of this machine on which large uploads can be stopped.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach } from "../helpers/hooks.js";

/** What a connection may send while the line is held, besides up to 36 MiB in the buffers of the operating system. */
const HELD_AT_BYTES = 2 ** 20;

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

export interface SlowLine {
  /** Lets large uploads wait from now on. */
  hold(): void;
  /** Lets them go on. */
  release(): void;
}

/**
 * @param port - of the line
 * @param to - the port of the server
 */
export async function slowLine(port: number, to: number): Promise<SlowLine> {
  const sockets = new Set<Socket>();
  const waiting = new Set<Socket>();
  let isHeld = false;
  const server = createServer((near) => {
    const far = connect(to, "127.0.0.1");
    let sent = 0;
    near.on("data", (chunk) => {
      sent += chunk.length;
      if (!far.write(chunk)) near.pause();
      if (isHeld && sent > HELD_AT_BYTES) waiting.add(near.pause());
    });
    far.on("drain", () => waiting.has(near) || near.resume());
    far.pipe(near);
    near.on("end", () => far.end());
    for (const [one, other] of [[near, far] as const, [far, near] as const]) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      for (const socket of waiting) socket.resume();
      waiting.clear();
    },
  };
}
