// test/client/client.ts: runs the local web client in this process, and sends it requests as a browser or an attacker would.
import { request as httpRequest } from "node:http";
import { Hono } from "hono";
import { type RunningClient, startClient } from "../../plugin/client/app.js";
import type { ClientEnv } from "../../plugin/client/client-request.js";
import type { CreateRoom } from "../../plugin/client/notices.js";
import { ROOMS } from "../../plugin/client/rooms.js";
import type { Clock } from "../../plugin/clock.js";
import type { Correspondent } from "../cli/correspondent.js";
import { afterEach } from "../helpers/hooks.js";
import { readAsset } from "../helpers/read-asset.js";

const running: RunningClient[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((client) => client.close()));
});

/** The method, headers and body of a request. */
export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

export interface Got {
  status: number;
  headers: Headers;
  text: string;
}

export interface ClientUnderTest {
  origin: string;
  /** The link that opens it once. */
  link: string;
  /** The links that it has printed since its start. */
  announced: string[];
  /** The lines that it has printed to the terminal. */
  printed: string[];
  /** Sends a request with exactly these headers. */
  ask(path: string, sent?: Sent): Promise<Got>;
  /** Opens the link. @returns the cookie */
  open(link?: string): Promise<string>;
  /** The cookie of the browser that has opened the link first. */
  session(): Promise<string>;
  /** Ends it as Ctrl-C does. */
  close(): Promise<void>;
}

export interface ClientSetup {
  rooms?: readonly CreateRoom[];
  folder?: string;
  environment?: Record<string, string>;
  url?: string;
  /** `host:port`s that may be contacted. */
  hosts?: readonly string[];
  now?: Clock;
}

/** A room that works without a site. */
export const quietRoom: CreateRoom = () => {
  const routes = new Hono<ClientEnv>();
  routes.get("/", (c) => c.render("Nothing to see.", { title: "Quiet" }));
  return { title: "Quiet", path: "/quiet", icon: "M5 5h14", keys: [], routes };
};

/** Starts the client of a user who has a site on loopback, and may connect to those of other users. */
export function clientOfPerson(
  { machine, environment, allowing }: Pick<Correspondent, "machine" | "environment" | "allowing">,
  rooms: readonly CreateRoom[] = ROOMS,
): Promise<ClientUnderTest> {
  const hosts = allowing.filter((word) => !word.startsWith("--"));
  return startedClient({ rooms, folder: machine.folder, environment, hosts });
}

/** Starts a client for the site in a folder, with all rooms by default. */
export async function startedClient(setup: ClientSetup = {}): Promise<ClientUnderTest> {
  const announced: string[] = [];
  const printed: string[] = [];
  const { folder = "/nonexistent", environment = {}, url, rooms = ROOMS, hosts = [], now = Date.now } = setup;
  const client = await startClient({
    port: 0,
    machine: {
      environment,
      folder,
      now,
      say: (line) => void printed.push(line),
      ended: () => new Promise<void>(() => {}),
    },
    choice: { as: undefined, identity: undefined, settings: undefined, url, "allow-private-host": hosts },
    site: "alice.example",
    rooms,
    readAsset,
    announce: (link) => void announced.push(link),
  });
  running.push(client);
  const origin = `http://127.0.0.1:${client.port}`;
  const ask = (path: string, sent: Sent = {}) => sendRequest(client.port, path, sent);
  const open = async (link = client.link) => {
    const { headers } = await ask(link.slice(origin.length));
    return (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  };
  let session: Promise<string> | undefined;
  const close = () => {
    running.splice(running.indexOf(client), 1);
    return client.close();
  };
  return { origin, link: client.link, announced, printed, ask, open, session: () => (session ??= open()), close };
}

/** Sends a request without `fetch`, which cannot set `Host` or `Origin`. */
function sendRequest(port: number, path: string, { method = "GET", headers = {}, body }: Sent): Promise<Got> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? 0 : Buffer.byteLength(body);
    const hasLength = body !== undefined && headers["transfer-encoding"] === undefined;
    const length = hasLength ? { "content-length": String(bytes) } : {};
    // A server may end a connection before it has read a large body. On one that is kept, Node.js 20 then emits EPIPE after the
    // response, when no one listens.
    const agent = bytes > 2 ** 16 ? { agent: false } : {};
    const request = httpRequest(
      { host: "127.0.0.1", port, path, method, headers: { ...length, ...headers }, ...agent },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}
