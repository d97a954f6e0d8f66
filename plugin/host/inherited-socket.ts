// plugin/host/inherited-socket.ts: a socket that systemd has opened, and which outlives the process.
import type { Environment } from "./service-options.js";

/** The first file descriptor that is passed. @see sd_listen_fds(3) */
const FIRST = 3;

/**
 * Finds the socket of a systemd socket unit. Connections wait in it while the service restarts.
 *
 * @param pid - of this process: the variables may belong to a parent
 * @returns its file descriptor; `null` if the process was started without one
 */
export function inheritedSocket({ LISTEN_PID, LISTEN_FDS }: Environment, pid: number): number | null {
  return LISTEN_PID === String(pid) && Number(LISTEN_FDS) > 0 ? FIRST : null;
}
