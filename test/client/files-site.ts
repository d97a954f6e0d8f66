// test/client/files-site.ts: Alice's client, and her site with blobs as `serve` runs it, behind a connection that can be paused.
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { filesRoom } from "../../plugin/client/files/files-room.js";
import { formatIdentity } from "../../plugin/keys/identity.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { blobSite } from "../cli/blob-server.js";
import { ALICES_DATA, type Blog, dataEnvironment } from "../cli/helpers.js";
import { freePort, serve } from "../cli/server.js";
import { type HeldLine, heldLine } from "../helpers/held-line.js";
import { type ClientUnderTest, startedClient } from "./client.js";

export interface FilesSite {
  blog: Blog;
  client: ClientUnderTest;
  /** The connection between the client and the site. */
  line: HeldLine;
  /** Changes a byte of the stored blob that contains this text. */
  tamper(text: string): Promise<void>;
}

export async function filesSite(): Promise<FilesSite> {
  const blog = blobSite();
  const { folder } = blog;
  const address = "alice@alice.example";
  const key = formatIdentity(new Uint8Array(32).fill(1), { address, created: null });
  const file = `data/eleventy-twtxt/keys/${address}.key`;
  blog.write(file, key);
  chmodSync(join(folder, file), 0o600);
  const environment = { ...dataEnvironment(folder), DBUS_SESSION_BUS_ADDRESS: "unix:path=/dev/null" };
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await serve({ folder }, ["--url", url, "--rate-limit", "0"], dataEnvironment(folder));
  const line = await heldLine(port, Number(new URL(server.url).port));
  return {
    blog,
    client: await startedClient({ rooms: [filesRoom], folder, environment, url }),
    line,
    tamper: (text) => tamper(join(folder, ALICES_DATA), text),
  };
}

async function tamper(folder: string, text: string): Promise<void> {
  const store = new SqliteStore(folder);
  for (const key of await store.keys("blobs/contents/")) {
    const bytes = Buffer.from((await store.get(key))?.bytes ?? []);
    const at = bytes.indexOf(text);
    if (at < 0) continue;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await store.put(key, bytes);
  }
  store.close();
}
