// plugin/client/peer.ts: finds the user of this machine who opened a connection to the client.
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { endianness, release } from "node:os";

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const ESTABLISHED = "01";
const ROOT = 0;
/** An IPv4 address in a socket of IPv6. */
const MAPPED = /^::ffff:/i;

const checked = new WeakMap<Socket, Promise<boolean>>();

/**
 * Whether Linux names the user of each local connection. In WSL, browsers of Windows have no socket on the Linux side.
 */
export const namesUsers = process.platform === "linux" && !/microsoft/i.test(release());

/** Whether the other end of a connection belongs to the user of this process or to root. Without {@link namesUsers}: `true`. */
export function mayConnect(socket: Socket): Promise<boolean> {
  const known = checked.get(socket) ?? (namesUsers ? isOurs(socket) : Promise.resolve(true));
  checked.set(socket, known);
  return known;
}

async function isOurs({
  remoteAddress = "",
  remotePort = 0,
  localAddress = "",
  localPort = 0,
}: Socket): Promise<boolean> {
  const tables = await Promise.all(TABLES.map((file) => readFile(file, "utf8").catch(() => "")));
  const user = findOwner(tables.join("\n"), ends(remoteAddress, remotePort), ends(localAddress, localPort));
  return user === ROOT || (user !== null && user === process.getuid?.());
}

/**
 * Finds the user of an established connection.
 *
 * @param table - the text of `/proc/net/tcp`
 * @param local - the end whose user is looked for, as the table writes it
 * @returns `null` for no such connection. A closed socket is not established: Linux lists it as root's.
 */
export function findOwner(table: string, local: string, remote: string): number | null {
  for (const line of table.split("\n")) {
    const [, from = "", to = "", state, , , , user] = line.trim().split(/\s+/);
    if (state === ESTABLISHED && from.endsWith(local) && to.endsWith(remote)) return Number(user);
  }
  return null;
}

/** One end of a connection as the table writes it: `0100007F:0050` for port 80 of 127.0.0.1 on little-endian machines. */
function ends(address: string, port: number): string {
  const bytes = address.replace(MAPPED, "").split(".").map(Number);
  const hex = Buffer.from(endianness() === "LE" ? bytes.toReversed() : bytes).toString("hex");
  return `${hex}:${port.toString(16).padStart(4, "0")}`.toUpperCase();
}
