import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { settingsOf } from "../helpers/receiver.js";
import { ALICE } from "../messages/inbox/alices-inbox.js";
import { serveProcess, site } from "./server.js";

const MAX_FILES = 200;
const INBOX = { users: ["alice"], messages: 100, megabytes: 4, retentionDays: 0, subscribe: null, guests: null };

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Opens connections until the server closes one immediately, because it has no file descriptor left. */
async function takeAllDescriptors(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  let isFull = false;
  while (!isFull && sockets.length < 2 * MAX_FILES) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      isFull = true;
    });
    await Promise.race([once(socket, "connect"), once(socket, "close")]);
    await new Promise(setImmediate);
  }
  await expect.poll(() => isFull).toBe(true);
}

function ask(url: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { agent }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject).end();
  });
}

describe.skipIf(process.platform === "win32")("serve at its limit of file descriptors", () => {
  it("answers the first and later requests for an inbox and for blobs", async () => {
    const blobs = { owners: [ALICE.publicKey], count: 10, bytes: 2 ** 20, maxBytes: 2 ** 20 };
    const alice = site({ ...settingsOf({ key: ALICE.publicKey }), inbox: INBOX, blobs });
    const server = await serveProcess(alice, [], { maxFiles: MAX_FILES });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await ask(`${server.url}/`, agent)).toBe(200);
    await takeAllDescriptors(server.url);

    const paths = ["/inbox/alice", "/api/v1/blob/hello", "/api/v1/mentions"];
    for (const path of paths) expect([path, await ask(server.url + path, agent)]).toEqual([path, 401]);
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const path of paths) expect([path, await ask(server.url + path, agent)]).toEqual([path, 401]);
    agent.destroy();
  });
});
