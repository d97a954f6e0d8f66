// plugin/transport/transport.ts: what all clients for the guard's requests have in common.
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";

/** The other end of a connection. */
export interface ConnectionTarget {
  /** Such as `https:` or `gemini:`. */
  protocol: string;
  /** A name or an IP address, without brackets. */
  host: string;
  port: number;
  /** Default: the system's. */
  lookup?: LookupFunction;
}

/** Sets the lookup of a connection, or changes where it goes. Throws to refuse it. */
export type Route = (target: ConnectionTarget) => ConnectionTarget;

/** The parts of a response that the guard reads. */
export type TransportResponse = Readable & Pick<IncomingMessage, "statusCode" | "headersDistinct">;
