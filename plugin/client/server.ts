// plugin/client/server.ts: the HTTP server of the client.
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Machine, OwnSiteChoice } from "../author/machine.js";
import { prepareClose } from "../host/close-server.js";
import { clientApp } from "./app.js";
import { Notices } from "./notices.js";
import type { ClientContext, CreateRoom } from "./room.js";
import { CLIENT_HOST, Session } from "./session.js";

interface ClientOptions {
  /** 0 for a free port. */
  port: number;
  machine: Machine;
  choice: OwnSiteChoice;
  /** The host of the site; `null` if there is none here. */
  site: string | null;
  rooms: readonly CreateRoom[];
  /** Reads a bundled script or stylesheet. */
  readAsset(file: string): Promise<string>;
  /** Shows a link with a token to the author. */
  announce(link: string): void;
}

export type RunningClient = Awaited<ReturnType<typeof startClient>>;

/**
 * Starts the client. Resolves once it listens.
 *
 * @throws the error of Node.js if the port cannot be used
 */
export async function startClient(options: ClientOptions) {
  const { machine, choice, site, readAsset } = options;
  const ending = new AbortController();
  let app: ReturnType<typeof clientApp> | null = null;
  const server = createAdaptorServer({
    fetch: (request, env) => app?.fetch(request, env),
    overrideGlobalObjects: false,
  }) as Server;
  const closeServer = prepareClose(server, 0);
  server.listen(options.port, CLIENT_HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const session = new Session(port, options.announce);
  const notices = new Notices();
  const context: ClientContext = { machine, choice, notices, ending: ending.signal };
  const rooms = options.rooms.map((create) => create(context));
  app = clientApp({ session, notices, rooms, site, machine, readAsset });
  // If it fails, the page of the room says why.
  for (const room of rooms) void room.prepare?.().catch(() => {});
  return {
    port,
    /** Opens the client once. */
    link: session.createLink(),
    /** Ends streams, answers open requests, closes, and waits for work that must not be interrupted. */
    async close(): Promise<void> {
      ending.abort();
      await closeServer();
      await Promise.all(rooms.map((room) => room.end?.()));
    },
  };
}
