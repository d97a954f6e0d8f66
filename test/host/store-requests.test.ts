import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StreamingStore } from "../../plugin/store/store.js";
import { blobsSite } from "../helpers/blobs-server.js";
import { identityOf } from "../helpers/identity.js";
import { FEED, feedServer, type ReceiverOptions, receiver } from "../helpers/receiver.js";
import { s3Service } from "../helpers/s3-service.js";
import { BUILD_MS, startVersitygw, type Versitygw, versitygwLack } from "../helpers/versitygw.js";
import { sealed } from "../messages/inbox/alices-inbox.js";

const lack = await versitygwLack();
const INBOX = "https://alice.example/inbox/alice";
const MENTION = [
  "GET ?prefix=mentions/events/",
  expect.stringMatching("PUT mentions/events/"),
  expect.stringMatching(/GET \?prefix=mentions\/pending\//),
];

interface Service {
  store(): StreamingStore;
  /** The requests since the last call: `PUT a/b`, `GET ?prefix=a/`. */
  take(): string[];
}

let server: Versitygw;
beforeAll(async () => {
  if (lack === null) server = await startVersitygw();
}, BUILD_MS);
afterAll(() => server?.end());

async function bucket(): Promise<Service> {
  const service = await s3Service(server);
  return { store: () => service.store(), take: () => service.requests.splice(0).map(toListing) };
}

async function netlifyBlobs(): Promise<Service> {
  const site = await blobsSite(true, 1000);
  const take = () => site.requests.splice(0).map((request) => toListing(request.replace(/ twtxt\/?/, " ")));
  return { store: () => site.store("twtxt"), take };
}

function toListing(request: string): string {
  const [, prefix] = /^GET (?:.*prefix=(.*))?$/.exec(request) ?? [];
  return /^GET (?:\?.*)?$/.test(request) ? `GET ?prefix=${decodeURIComponent(prefix ?? "")}` : request;
}

/** A process of Alice's site. */
function aliceAt({ store }: Service, options: Partial<ReceiverOptions> = {}) {
  const guests = { messages: 100, days: 90 };
  const inbox = { users: ["alice"], messages: 1000, megabytes: 10, retentionDays: 90, subscribe: null, guests };
  const feedUrl = "http://127.0.0.1:9/twtxt.txt";
  const alice = receiver({ store: store(), feedUrl, key: identityOf(1).publicKey, inbox, ...options });
  const send = async (number: number) => {
    const body = Uint8Array.from(sealed(number));
    expect((await alice.answer(new Request(INBOX, { method: "POST", body }))).status).toBe(202);
  };
  return { ...alice, send };
}

/** A feed that mentions Alice once a minute. */
async function bobsFeed() {
  const times = Array.from({ length: 60 }, (_, at) => `2026-11-20T08:${String(at).padStart(2, "0")}:00Z`);
  const bob = await feedServer(Object.fromEntries(times.map((time) => [time, `@<alice ${FEED}> at ${time}`])));
  return { bob, sourceOf: (at: number) => bob.twt(times[at] ?? "") };
}

const services: [string, () => Promise<Service>, string | null][] = [
  ["a bucket", bucket, lack],
  ["Netlify Blobs", netlifyBlobs, null],
];

describe.each(services)("requests to %s", (_name, open, why) => {
  it.skipIf(why !== null)(
    "are three for a mention, six for the first one of a process, however many there are",
    async () => {
      const service = await open();
      const { bob, sourceOf } = await bobsFeed();
      const processes = [1, 2, 3].map(() => aliceAt(service, { neighbours: [bob] }));
      const mention = async (at: number) => {
        const sent = await processes[at % 3]?.mentioned({ source: sourceOf(at), target: FEED });
        expect(sent?.status).toBe(200);
        return service.take();
      };
      for (let at = 0; at < 3; at += 1) expect(await mention(at)).toHaveLength(6);
      for (let at = 3; at < 6; at += 1) expect(await mention(at)).toEqual(MENTION);
    },
  );

  it.skipIf(why !== null)("are one for mentions.json, and one for each mention of another process", async () => {
    const service = await open();
    const { bob, sourceOf } = await bobsFeed();
    const [alice, other] = [1, 2].map(() => aliceAt(service, { neighbours: [bob] }));
    await alice?.mentioned({ source: sourceOf(0), target: FEED });
    await other?.mentioned({ source: sourceOf(1), target: FEED });
    service.take();
    expect(await alice?.mentions()).toHaveLength(2);
    expect(service.take()).toEqual(["GET ?prefix=mentions/events/", expect.stringMatching("GET mentions/events/")]);
    await alice?.mentions();
    expect(service.take()).toEqual(["GET ?prefix=mentions/events/"]);
  });

  it.skipIf(why !== null)("are two for a message, and one listing in two seconds", async () => {
    const service = await open();
    const alice = aliceAt(service);
    await alice.send(0);
    service.take();
    for (let n = 1; n <= 8; n += 1) await alice.send(n);
    const requests = service.take();
    const others = requests.filter((request) => request !== "GET ?prefix=inbox/alice/");
    expect(others).toHaveLength(16);
    expect(others.every((request) => request.startsWith("PUT inbox/alice/"))).toBe(true);
  });

  it.skipIf(why !== null)(
    "are five in an hour without news, in which the live feed is compared with what was sent",
    async () => {
      const service = await open();
      const { bob, sourceOf } = await bobsFeed();
      const own = await feedServer({ "2026-11-20T08:00:00Z": "I like @<bob http://127.0.0.1:9/twtxt.txt>" });
      const alice = aliceAt(service, { neighbours: [bob, own], feedUrl: own.feedUrl });
      await alice.send(0);
      expect((await alice.mentioned({ source: sourceOf(0), target: FEED })).status).toBe(200);
      for (let hours = 0; hours < 4; hours += 1) {
        alice.clock.time += 3600_000;
        service.take();
        await alice.services.runScheduled();
      }
      // The lease is taken and released; it is renewed if the run takes more than five seconds.
      const [lease, requests] = ["PUT sent/lease", service.take()];
      expect(requests.filter((request) => request === lease).length).toBeGreaterThanOrEqual(2);
      expect(requests.filter((request) => request !== lease)).toEqual([
        "GET ?prefix=",
        expect.stringMatching(/^GET sent\/[0-9a-f]+\/\w+$/),
        "PUT jobs/last-run",
      ]);
    },
  );
});
