import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { identityOf } from "../helpers/identity.js";
import { receiver } from "../helpers/receiver.js";
import { type S3Service, s3Service } from "../helpers/s3-service.js";
import { BUILD_MS, startVersitygw, type Versitygw, versitygwLack } from "../helpers/versitygw.js";
import { sealed } from "../messages/inbox/alices-inbox.js";

const lack = await versitygwLack();
const INBOX = "https://alice.example/inbox/alice";

/** Alice's site with its data in a bucket. */
function siteIn(service: S3Service) {
  const guests = { messages: 100, days: 90 };
  const inbox = { users: ["alice"], messages: 1000, megabytes: 10, retentionDays: 90, subscribe: null, guests };
  const feedUrl = "http://127.0.0.1:9/twtxt.txt";
  return receiver({ store: service.store(), feedUrl, key: identityOf(1).publicKey, inbox });
}

describe.skipIf(lack !== null)("requests to a bucket", () => {
  let server: Versitygw;
  beforeAll(async () => {
    server = await startVersitygw();
  }, BUILD_MS);
  afterAll(() => server.end());

  it("are two for a message, and one listing in two seconds", async () => {
    const service = await s3Service(server);
    const alice = siteIn(service);
    const send = async (number: number) => {
      const body = Uint8Array.from(sealed(number));
      expect((await alice.answer(new Request(INBOX, { method: "POST", body }))).status).toBe(202);
    };
    await send(0);
    service.requests.length = 0;
    for (let n = 1; n <= 20; n += 1) await send(n);
    const listings = service.requests.filter((request) => request.startsWith("GET ?"));
    expect(service.requests.length - listings.length).toBe(40);
    expect(listings.every((request) => request.endsWith("prefix=inbox%2Falice%2F"))).toBe(true);
  });

  it("are one listing, one write and those of mentions in an hour without news", async () => {
    const service = await s3Service(server);
    const alice = siteIn(service);
    const body = Uint8Array.from(sealed(0));
    expect((await alice.answer(new Request(INBOX, { method: "POST", body }))).status).toBe(202);
    for (let hours = 0; hours < 3; hours += 1) {
      alice.clock.time += 3600_000;
      service.requests.length = 0;
      await alice.services.runScheduled();
    }
    // The lease is taken and released; it is renewed if the run takes more than five seconds.
    const lease = "PUT sent/lease";
    expect(service.requests.slice(0, 2)).toEqual([lease, lease]);
    expect(service.requests.filter((request) => request !== lease)).toEqual([
      "GET ?list-type=2&encoding-type=url&prefix=",
      "GET mentions/snapshot",
      "PUT jobs/last-run",
    ]);
  });
});
