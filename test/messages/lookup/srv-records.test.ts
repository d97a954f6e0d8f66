import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { lookup, systemSrv } from "../../../plugin/messages/lookup/lookup.js";
import { BOB, hostWith, neighbourhood } from "../neighbourhood.js";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

const NO_ERROR = 0;
const SERVER_FAILED = 2;
const NO_SUCH_NAME = 3;

type Srv = [priority: number, weight: number, target: string];

function labels(name: string): Buffer {
  return Buffer.concat([
    ...name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.of(0),
  ]);
}

/** An SRV record for the requested name. */
function recordOf([priority, weight, target]: Srv): Buffer {
  const name = labels(target);
  const head = Buffer.alloc(18);
  for (const [at, value] of [0xc00c, 33, 1, 0, 60, 6 + name.length, priority, weight, 4242].entries()) {
    head.writeUInt16BE(value, 2 * at);
  }
  return Buffer.concat([head, name]);
}

/** A DNS server on loopback that records queries and answers all of them alike. */
async function nameServer(code: number, records: Srv[]) {
  const socket = createSocket("udp4");
  sockets.push(socket);
  const queries: string[] = [];
  socket.on("message", (query, from) => {
    let end = 12;
    while (query[end]) end += (query[end] ?? 0) + 1;
    queries.push(
      query
        .subarray(12, end)
        .toString("latin1")
        .replace(/[\x00-\x1f]/g, "."),
    );
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | code, 2);
    for (const [at, count] of [1, records.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * at);
    const answer = [head, query.subarray(12, end + 5), ...records.map(recordOf)];
    socket.send(Buffer.concat(answer), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { servers: [`127.0.0.1:${socket.address().port}`], queries };
}

describe("hosts from DNS", () => {
  it("are sorted by priority, then by weight", async () => {
    const { servers, queries } = await nameServer(NO_ERROR, [
      [20, 0, "c.example"],
      [10, 1, "b.example"],
      [10, 5, "a.example"],
    ]);
    const targets = await systemSrv("_salty._tcp.bob.example", servers);
    expect(targets.map(({ name }) => name)).toEqual(["a.example", "b.example", "c.example"]);
    expect(queries).toEqual(["._salty._tcp.bob.example"]);
  });

  it.each<[string, number, string]>([
    ["no such name", NO_SUCH_NAME, "DNS names no other host."],
    ["no such record", NO_ERROR, "DNS names no other host."],
    ["a server failure", SERVER_FAILED, "the DNS lookup for another host failed (ESERVFAIL)."],
  ])("are an empty list: %s", async (_name, code, remark) => {
    const { servers } = await nameServer(code, []);
    const network = neighbourhood({ "bob.example": await hostWith({}) });
    const found = lookup(BOB.address, { ...network, resolveSrv: (name) => systemSrv(name, servers) });
    await expect(found).rejects.toThrow(expect.objectContaining({ message: expect.stringContaining(remark) }));
  });
});
