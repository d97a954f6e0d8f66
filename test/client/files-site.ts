// test/client/files-site.ts: Alice's site with blobs as `serve` runs it, behind a connection that can be held, and her client.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { filesRoom } from "../../plugin/client/files/files-room.js";
import { formatIdentity } from "../../plugin/keys/identity-text.js";
import { blobSite } from "../cli/blob-server.js";
import { type Blog, ownData } from "../cli/helpers.js";
import { freePort, serve } from "../cli/server.js";
import { afterEach } from "../helpers/hooks.js";
import { type ClientUnderTest, startedClient } from "./client.js";

const lines: HeldLine[] = [];

afterEach(() => {
  for (const line of lines.splice(0)) line.close();
});

export interface FilesSite {
  blog: Blog;
  client: ClientUnderTest;
  /** The connection between the client and the site. */
  line: Pick<HeldLine, "hold" | "release">;
  /** Changes a byte in the file of the site's store that contains this text. */
  tamper(text: string): void;
}

export async function filesSite(): Promise<FilesSite> {
  const blog = blobSite();
  const { folder } = blog;
  const address = "alice@alice.example";
  const key = formatIdentity(new Uint8Array(32).fill(1), { address, created: null });
  const file = `data/eleventy-twtxt/keys/${address}.key`;
  blog.write(file, key);
  chmodSync(join(folder, file), 0o600);
  const environment = { ...ownData(folder), DBUS_SESSION_BUS_ADDRESS: "unix:path=/dev/null" };
  const line = new HeldLine();
  const url = `http://127.0.0.1:${await line.open(await freePort())}`;
  const port = new URL((await serve({ folder }, ["--url", url, "--rate-limit", "0"], ownData(folder))).url).port;
  line.target = Number(port);
  lines.push(line);
  return {
    blog,
    client: await startedClient({ rooms: [filesRoom], folder, environment, url }),
    line,
    tamper: (text) => tamper(join(folder, "data/eleventy-twtxt/sites"), text),
  };
}

/** Passes bytes on to a port of this machine, and stops when it is held. */
class HeldLine {
  target = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isHeld = false;

  constructor() {
    this.#server = createServer((socket) => {
      const onward = connect(this.target, "127.0.0.1");
      this.#sockets.add(socket);
      for (const [one, other] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
      }
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("data", (chunk) => {
        onward.write(chunk);
        if (this.#isHeld) socket.pause();
      });
      onward.pipe(socket);
    });
  }

  async open(port: number): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    return port;
  }

  /** Of each connection, at most one more chunk is passed on. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function tamper(folder: string, text: string): void {
  for (const name of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const path = join(name.parentPath, name.name);
    const bytes = readFileSync(path);
    const at = bytes.indexOf(text);
    if (at < 0) continue;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  }
}
