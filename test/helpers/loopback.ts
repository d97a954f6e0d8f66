// test/helpers/loopback.ts: servers on this machine, and a connector that connects only to this machine.
import { lookup as systemLookup } from "node:dns";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, isIP, type LookupFunction } from "node:net";
import type { ConnectionTarget } from "../../plugin/transport/transport.js";
import { afterEach } from "./hooks.js";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

export interface LoopbackServer {
  url: string;
  /** `host:port`, the form that the guard expects. */
  host: string;
  port: number;
  /** The requested paths, in order. */
  requests: string[];
}

/** A real server on loopback, closed after the test. */
export async function loopbackServer(listener: RequestListener): Promise<LoopbackServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, port, requests };
}

/** Addresses of refused connections to other machines. */
export const strayed: string[] = [];

/**
 * Lets connections go only to loopback, so that a broken guard fails a test without reaching another machine. Addresses are
 * checked before the connection, names after their resolution.
 */
export function loopbackRoute(target: ConnectionTarget): ConnectionTarget {
  const { host, lookup = systemLookup as LookupFunction } = target;
  if (isIP(host) !== 0 && !isLoopback(host)) throw stray(host);
  return { ...target, lookup: loopbackLookup(lookup) };
}

function loopbackLookup(lookup: LookupFunction): LookupFunction {
  return (name, options, callback) =>
    lookup(name, options, (error, found, family) => {
      // Without an address there is nothing to check.
      if (error) return callback(error, found, family);
      const addresses = [found].flat().map((one) => (typeof one === "string" ? one : one.address));
      const stranger = addresses.find((address) => !isLoopback(address));
      callback(stranger === undefined ? null : stray(stranger), found, family);
    });
}

function isLoopback(address: string): boolean {
  return /^(127\.|::1$|::ffff:127\.)/.test(address);
}

function stray(address: string): Error {
  strayed.push(address);
  return new Error(`This test tried to connect to another machine: ${address}.`);
}
