import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { alicesBlobs } from "../blobs/alices-blobs.js";
import { loopbackServer } from "../helpers/loopback.js";
import { FEED, type Receiver, receiver } from "../helpers/receiver.js";
import { runs } from "../helpers/runs.js";
import { refusal, s3Service } from "../helpers/s3-service.js";
import { shortenPauses } from "../helpers/time-limits.js";
import { BUILD_MS, startVersitygw, type Versitygw, versitygwLack } from "../helpers/versitygw.js";
import { alicesInbox, sealed } from "../messages/inbox/alices-inbox.js";

const lack = await versitygwLack();
const COUNT = runs(20);
const AT_ONCE = 5;

/** A service of which one request in ten is refused, the same ones in each run as far as the order of requests is the same. */
async function overloadedService(server: Versitygw) {
  const service = await s3Service(server);
  let state = 20_261_123;
  service.faultOf = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 10 === 0 ? refusal(503, "SlowDown", "Please reduce your request rate.") : null;
  };
  return service;
}

/** Calls `send` for each number. @returns how often each status was answered */
async function countStatuses(send: (number: number) => Promise<{ status: number }>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  const numbers = Array.from({ length: COUNT }, (_, n) => n);
  const sendAll = async () => {
    for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) {
      const { status } = await send(n);
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendAll));
  return counts;
}

/** The texts of all mentions of a site. */
async function listTexts({ answer }: Pick<Receiver, "answer">): Promise<string[]> {
  const texts: string[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const request: Request = new Request(`https://alice.example/mentions.json?limit=100${after}`);
    const { mentions, next } = Object(await (await answer(request)).json());
    texts.push(...mentions.map(({ text }: { text: string }) => text));
    after = next && `&after=${encodeURIComponent(next)}`;
  }
  return texts;
}

describe.skipIf(lack !== null)("a bucket that refuses every tenth request", () => {
  let server: Versitygw;
  beforeAll(async () => {
    server = await startVersitygw();
  }, BUILD_MS);
  beforeEach(shortenPauses);
  afterAll(() => server.end());

  it("stores all blobs", async () => {
    const service = await overloadedService(server);
    const alice = alicesBlobs({ store: service.store() });
    expect(await countStatuses((n) => alice.put(`file-${n}`, `contents ${n}`))).toEqual({ 201: COUNT });
    expect(await countStatuses((n) => alice.put(`file-${n}`, `new contents ${n}`))).toEqual({ 200: COUNT });
  });

  it("stores all messages, each once", async () => {
    const service = await overloadedService(server);
    const alice = alicesInbox({ store: service.store() });
    const send = (n: number) => alice.send(sealed(n), { from: `192.0.2.${n}` });
    expect(await countStatuses(send)).toEqual({ 202: COUNT });
    expect(await service.behind().keys("inbox/alice/messages/")).toHaveLength(COUNT);
  });

  it("stores all mentions, each once", async () => {
    const service = await overloadedService(server);
    const stampOf = (n: number) =>
      new Date(Date.parse("2026-01-02T03:04:05Z") + n * 1000).toISOString().replace(".000", "");
    const twts = Array.from({ length: COUNT }, (_, n) => `${stampOf(n)}\t@<alice ${FEED}> hello ${n}\n`);
    const bob = await loopbackServer((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).end(`# nick = bob\n\n${twts.join("")}`);
    });
    const alice = receiver({
      store: service.store(),
      neighbours: [bob],
      isMetered: false,
      mentions: { allow: [bob.host] },
    });
    const send = (n: number) =>
      alice.mentioned({ source: `${bob.url}/twtxt.txt#:~:text=${stampOf(n)}`, target: FEED }, `192.0.2.${n}`);
    expect(await countStatuses(send)).toEqual({ 200: COUNT });
    const texts = await listTexts(receiver({ store: service.behind() }));
    expect([texts.length, new Set(texts).size]).toEqual([COUNT, COUNT]);
  });
});
