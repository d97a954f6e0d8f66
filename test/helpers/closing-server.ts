// test/helpers/closing-server.ts: a server that sends large responses at once and closes each connection.
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { afterAll } from "./hooks.js";

const MEGABYTE = 2 ** 20;
const EMPTY_MEMBER = gzipSync("", { level: 1 });

const servers: Server[] = [];
const sockets = new Set<Socket>();

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** How each kind of response is encoded. */
const ENCODERS: Record<string, (body: Buffer) => Buffer> = {
  identity: (body) => body,
  gzip: (body) => gzipSync(body, { level: 1 }),
  deflate: (body) => deflateSync(body, { level: 1 }),
  // A body of a few bytes, after members that expand to nothing.
  members: (body) =>
    Buffer.concat([
      ...Array.from({ length: Math.floor(body.length / EMPTY_MEMBER.length) }, () => EMPTY_MEMBER),
      gzipSync(body.subarray(0, 1000)),
    ]),
};

const bodies = new Map<string, Buffer>();

/** A feed or a page of this size that hardly compresses, so that its reader has work. */
function bodyFor(kind: string, encoding: string, megabytes: number): Buffer {
  const name = `${kind} ${encoding} ${megabytes}`;
  const known = bodies.get(name);
  if (known) return known;
  const line = () => Buffer.from(crypto.getRandomValues(new Uint8Array(750))).toString("base64");
  const lines = Array.from({ length: Math.ceil((megabytes * MEGABYTE) / 1000) }, (_, index) =>
    kind === "feed" ? `${new Date(1.7e12 + index * 1000).toISOString().slice(0, 19)}Z\t${line()}` : `<p>${line()}</p>`,
  );
  const start = kind === "feed" ? "# nick = bob\n\n" : "<!doctype html><title>Bob</title>\n";
  const encoded = ENCODERS[encoding]?.(Buffer.from(start + lines.join("\n")).subarray(0, megabytes * MEGABYTE));
  bodies.set(name, encoded ?? Buffer.alloc(0));
  return bodyFor(kind, encoding, megabytes);
}

export interface ClosingServer {
  /** `host:port` */
  host: string;
  /**
   * The URLs of all kinds of responses, each as often as the rounds say and with sizes from 1 to 6 MB.
   *
   * @param kinds - default: feeds and pages
   */
  urls(rounds: number, kinds?: readonly ("feed" | "page")[]): string[];
}

/** The path is `/kind/encoding/framing/megabytes/round`. */
export async function closingServer(): Promise<ClosingServer> {
  const server = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => {}));
    socket.once("data", (head) => {
      const [, kind = "", encoding = "", framing = "", megabytes = ""] = String(head).split(" ")[1]?.split("/") ?? [];
      const body = bodyFor(kind, encoding, Number(megabytes));
      socket.write(
        [
          "HTTP/1.1 200 OK",
          `Content-Type: text/${kind === "feed" ? "plain" : "html"}; charset=utf-8`,
          ...(encoding === "identity" ? [] : [`Content-Encoding: ${encoding === "deflate" ? "deflate" : "gzip"}`]),
          ...(framing === "length" ? [`Content-Length: ${body.length}`] : []),
          "Connection: close\r\n\r\n",
        ].join("\r\n"),
      );
      socket.end(body);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const urls: ClosingServer["urls"] = (rounds, kinds = ["feed", "page"]) =>
    Array.from({ length: rounds }, (_, round) =>
      kinds.flatMap((kind) =>
        Object.keys(ENCODERS).flatMap((encoding, index) =>
          ["length", "none"].map(
            (framing) => `http://${host}/${kind}/${encoding}/${framing}/${[5, 1, 6, 2][(round + index) % 4]}/${round}`,
          ),
        ),
      ),
    ).flat();
  return { host, urls };
}
