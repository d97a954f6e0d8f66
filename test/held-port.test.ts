import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { holdPorts } from "../site-example/start/held-port.js";
import { freePort } from "./helpers/ports.js";

/** Listens as `serve` does, and stops. */
async function listen(port: number): Promise<void> {
  const server = createServer().listen(port, "localhost");
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

describe("the ports of npm start", () => {
  it("stay taken until a server needs them, and answer nothing meanwhile", async () => {
    const first = await freePort();
    const [held] = await holdPorts(1, first, first + 50);
    const port = held?.port ?? 0;
    await expect(listen(port)).rejects.toMatchObject({ code: "EADDRINUSE" });
    const visitor = connect(port, "localhost").resume();
    visitor.on("error", () => {});
    await once(visitor, "close");
    await held?.release();
    await listen(port);
  });

  it("that are all taken end it, with what to do", async () => {
    const port = await freePort();
    const [held] = await holdPorts(1, port, port + 50);
    const taken = held?.port ?? 0;
    await expect(holdPorts(1, taken, taken)).rejects.toThrow(
      `Not enough free ports from ${taken} to ${taken}. Stop another server and try again.`,
    );
    await held?.release();
  });
});
