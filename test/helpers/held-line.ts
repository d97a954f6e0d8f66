// test/helpers/held-line.ts: a TCP proxy to a server on this machine that can be paused.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach } from "./hooks.js";

const ends: (() => void)[] = [];
/** More than several requests without a body. */
const PASSING = 64 * 1024;

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

export interface HeldLine {
  /** Pauses uploads: requests without a body still pass, and at most 128 KiB more of each connection. */
  hold(): void;
  release(): void;
}

/**
 * Forwards bytes to a server.
 *
 * @param port - the port of the proxy
 * @param to - the port of the server
 */
export async function heldLine(port: number, to: number): Promise<HeldLine> {
  const sockets = new Set<Socket>();
  let isHeld = false;
  const line = createServer((socket) => {
    const onward = connect(to, "127.0.0.1");
    let passed = 0;
    sockets.add(socket);
    for (const [one, other] of [[socket, onward] as const, [onward, socket] as const]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      onward.write(chunk);
      passed = isHeld ? passed + chunk.length : 0;
      if (passed > PASSING) socket.pause();
    });
    onward.pipe(socket);
  });
  line.listen(port, "127.0.0.1");
  await once(line, "listening");
  ends.push(() => {
    line.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
  };
}
