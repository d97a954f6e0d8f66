// test/helpers/closing-server.ts: a server that sends large responses at once and closes each connection.
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
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
  gzip: (body) => gzipSync(body),
  deflate: (body) => deflateSync(body),
  // A body of a few bytes, after members that expand to nothing.
  members: (body) =>
    Buffer.concat([
      ...Array.from({ length: Math.floor(body.length / EMPTY_MEMBER.length) }, () => EMPTY_MEMBER),
      gzipSync(body.subarray(0, 1000)),
    ]),
};

const bodies = new Map<string, Buffer>();

/** The end of a body, which does not compress well: more of it if it is sent at once. */
const TAIL_BYTES = 130_000;
const LONGER_TAIL_BYTES = 200_000;
const LINE_BYTES = 12_000;
/**
 * The last writes, in bytes of the encoded body. Together they are more than undici buffers (64 KiB), and the last one alone
 * is less: it stops a reader that is still busy with the start of the body, and nothing but the end of the connection follows.
 */
const LAST_WRITES = [40_000, 30_000];

/** A feed or a page of this size. Its start is small when it is compressed, so that its reader is busy when the end arrives. */
function bodyFor(kind: string, encoding: string, megabytes: number, tailBytes: number): Buffer {
  const name = `${kind} ${encoding} ${megabytes} ${tailBytes}`;
  const known = bodies.get(name);
  if (known) return known;
  const bytes = megabytes * MEGABYTE;
  const toLine = (text: string, index: number) =>
    kind === "feed" ? `${new Date(1.7e12 + index * 1000).toISOString().slice(0, 19)}Z\t${text}` : `<p>${text}</p>`;
  const randomText = () => Buffer.from(crypto.getRandomValues(new Uint8Array(LINE_BYTES * 0.75))).toString("base64");
  const lines = Array.from({ length: Math.ceil(bytes / LINE_BYTES) }, (_, index) =>
    toLine(bytes - index * LINE_BYTES > tailBytes ? "quince".repeat(LINE_BYTES / 6) : randomText(), index),
  );
  const start = kind === "feed" ? "# nick = bob\n\n" : "<!doctype html><title>Bob</title>\n";
  const encoded = ENCODERS[encoding]?.(Buffer.from(start + lines.join("\n")).subarray(0, bytes));
  bodies.set(name, encoded ?? Buffer.alloc(0));
  return bodyFor(kind, encoding, megabytes, tailBytes);
}

export interface ClosingServer {
  /** `host:port` */
  host: string;
  /**
   * The URLs of all kinds of responses, each as often as the rounds say and with sizes from 1 to 8 MB.
   *
   * @param kinds - default: feeds and pages
   */
  urls(rounds: number, kinds?: readonly ("feed" | "page")[]): string[];
}

/** Sends a body whose last parts arrive one by one, and closes the connection. */
async function sendInParts(socket: Socket, body: Buffer): Promise<void> {
  let end = body.length - LAST_WRITES.reduce((sum, bytes) => sum + bytes);
  socket.setNoDelay(true).write(body.subarray(0, end));
  for (const bytes of LAST_WRITES) {
    await sleep(5);
    socket.write(body.subarray(end, end + bytes));
    end += bytes;
  }
  socket.end();
}

/** The path is `/kind/encoding/framing/megabytes/round`. */
export async function closingServer(): Promise<ClosingServer> {
  const server = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => {}));
    socket.once("data", (head) => {
      const [, kind = "", encoding = "", framing = "", megabytes = "", round = ""] =
        String(head).split(" ")[1]?.split("/") ?? [];
      const isAtOnce = (Number(round) + Number(framing === "none")) % 2 === 1;
      const body = bodyFor(kind, encoding, Number(megabytes), isAtOnce ? LONGER_TAIL_BYTES : TAIL_BYTES);
      socket.write(
        [
          "HTTP/1.1 200 OK",
          `Content-Type: text/${kind === "feed" ? "plain" : "html"}; charset=utf-8`,
          ...(encoding === "identity" ? [] : [`Content-Encoding: ${encoding === "deflate" ? "deflate" : "gzip"}`]),
          ...(framing === "length" ? [`Content-Length: ${body.length}`] : []),
          "Connection: close\r\n\r\n",
        ].join("\r\n"),
      );
      if (isAtOnce) socket.end(body);
      else void sendInParts(socket, body);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const urls: ClosingServer["urls"] = (rounds, kinds = ["feed", "page"]) =>
    Array.from({ length: rounds }, (_, round) =>
      kinds.flatMap((kind) =>
        Object.keys(ENCODERS).flatMap((encoding, index) =>
          ["length", "none"].map((framing, which) => {
            const megabytes = [7, 8, 1, 3][(round + index + 2 * which) % 4];
            return `http://${host}/${kind}/${encoding}/${framing}/${megabytes}/${round}`;
          }),
        ),
      ),
    ).flat();
  return { host, urls };
}
