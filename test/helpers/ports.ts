// test/helpers/ports.ts: ports for servers whose address must be known before they start, or must stay free.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/** Browsers refuse some ports below this one. */
const LOWEST = 10_100;
/** Enough for all ports that a run needs. */
const ENOUGH = 1000;

const [FIRST, END] = portsWithoutConnections();

/**
 * A free port of 127.0.0.1, also for servers that are stopped and started again.
 *
 * The system never assigns it to a connection or to a server that listens on port 0. No other test gets it, because this
 * process binds the UDP port of the same number until it ends.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (END - FIRST));
    if ((await isReserved(port)) && (await isFree(port))) return port;
  }
}

/** The URL of a server that does not exist, without a slash at its end. */
export async function deadUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

/** The range of ports that the system does not assign by itself: the first port, and the one after the last. */
function portsWithoutConnections(): [first: number, end: number] {
  const [low, high] = chosenBySystem();
  const ranges: [number, number][] = [
    [Math.max(LOWEST, low - 20_000), low],
    [high + 1, 65_536],
  ];
  return ranges.find(([first, end]) => end - first >= ENOUGH) ?? [LOWEST, 32_768];
}

function chosenBySystem(): [low: number, high: number] {
  try {
    const [low, high] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s+/).map(Number);
    if (low && high) return [low, high];
  } catch {
    // Systems other than Linux assign ports from 49,152 on, older ones from 32,768 on.
  }
  return [32_768, 65_535];
}

/** Reserves a port for this process, unless another test has reserved it. */
async function isReserved(port: number): Promise<boolean> {
  const socket = createSocket("udp4").unref();
  socket.bind({ port, address: "127.0.0.1", exclusive: true });
  return isBound(once(socket, "listening"));
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  if (!(await isBound(once(server, "listening")))) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

async function isBound(listening: Promise<unknown>): Promise<boolean> {
  try {
    await listening;
    return true;
  } catch (error) {
    // EACCES: Windows reserves some ranges.
    if (["EADDRINUSE", "EACCES"].includes(String((error as NodeJS.ErrnoException).code))) return false;
    throw error;
  }
}
