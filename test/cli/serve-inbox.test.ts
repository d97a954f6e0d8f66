import { describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { builtHostSettings } from "../helpers/built-site.js";
import { identityOf } from "../helpers/identity.js";
import { settingsOf } from "../helpers/receiver.js";
import { telephone } from "../helpers/telephone.js";
import { ALICE, ARMORED, EVE, idOf, sealed } from "../messages/inbox/alices-inbox.js";
import { rebuild, type Server, serve, site } from "./server.js";

const INBOX = "https://alice.example/inbox/alice";

/** Alice's site with her inbox. */
function alicesSite(inbox: { messages?: number; subscribe?: boolean } = {}) {
  const limits = {
    messages: 1000,
    megabytes: 64,
    retentionDays: 0,
    subscribe: null,
    guests: { messages: 100, days: 90 },
  };
  return site({
    ...settingsOf({ key: ALICE.publicKey }),
    inbox: { users: ["alice"], ...limits, ...inbox },
  });
}

const deliver = ({ url }: Server, body: Uint8Array, headers: Record<string, string> = {}) =>
  fetch(`${url}/inbox/alice`, { method: "POST", body: Buffer.from(body), headers });

/** Sends a request that is signed for the public URL of the inbox. */
function ask({ url }: Server, { path = "", method = "GET", signer = ALICE, headers = {}, signal }: Asked = {}) {
  const signed = signRequest({ method, url: INBOX + path, headers }, signer, Date.now());
  return fetch(`${url}/inbox/alice${path}`, { method, headers: signed, ...(signal && { signal }) });
}

interface Asked {
  path?: string;
  method?: string;
  signer?: typeof ALICE;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

const idsIn = async (server: Server) =>
  Object(await (await ask(server)).json()).map(({ id }: { id: string }) => id) as string[];

describe("an inbox of eleventy-twtxt serve", () => {
  it("accepts messages, shows them only to their owner, and deletes them on request", async () => {
    const server = await serve(alicesSite());
    expect((await deliver(server, ARMORED)).status).toBe(202);
    expect((await deliver(server, sealed(1))).status).toBe(202);
    expect((await deliver(server, Buffer.from("hello"))).status).toBe(400);
    expect((await fetch(`${server.url}/inbox/bob`, { method: "POST", body: ARMORED })).status).toBe(404);
    expect((await fetch(`${server.url}/inbox/alice/`, { method: "POST", body: ARMORED })).status).toBe(404);
    expect((await fetch(`${server.url}/inbox/alice`)).status).toBe(401);
    expect((await ask(server, { signer: EVE })).status).toBe(403);

    const [first, second] = await idsIn(server);
    expect(second).toBe(idOf(sealed(1)));
    expect((await ask(server, { method: "DELETE", path: `/${first}` })).status).toBe(200);
    expect(await idsIn(server)).toEqual([second]);
    expect(await server.end()).toBe(0);
  });

  it("notifies its owner of a message at once, and finishes this before it ends", async () => {
    const phone = await telephone();
    const server = await serve(alicesSite(), [], { TWTXT_WEBHOOK_URL: phone.url });
    const release = phone.hold();
    expect((await deliver(server, ARMORED)).status).toBe(202);
    await expect.poll(() => phone.notes).toEqual([expect.stringMatching(/^1 new sealed message\./)]);
    const ended = server.end();
    release();
    expect(await ended).toBe(0);
    expect(server.output()).not.toContain("notified");
  });

  it("logs a line for each new message, without its content, and none for a duplicate", async () => {
    const server = await serve(alicesSite());
    for (const body of [sealed(1, 1234), sealed(1, 1234), sealed(2)]) await deliver(server, body);
    await expect.poll(() => server.output()).toContain("A new message for alice, 0.3 kB.");
    expect(server.output().match(/A new message .*/g)).toEqual([
      "A new message for alice, 1.2 kB.",
      "A new message for alice, 0.3 kB.",
    ]);
  });

  it("serves the documents and inboxes of guests, to which only Alice can deliver", async () => {
    const dana = identityOf(9, "dana");
    const path = `/inbox/${dana.publicKey}`;
    const url = `https://alice.example${path}`;
    const server = await serve(alicesSite());
    const document = await fetch(`${server.url}/.well-known/msg/${dana.publicKey}.json`);
    expect(await document.json()).toEqual({ endpoint: url, key: dana.publicKey });
    expect((await fetch(`${server.url}/.well-known/msg/bob.json`)).status).toBe(404);

    const body = Uint8Array.from(ARMORED);
    expect((await fetch(server.url + path, { method: "POST", body })).status).toBe(401);
    const headers = signRequest({ method: "POST", url, body }, ALICE, Date.now());
    expect((await fetch(server.url + path, { method: "POST", body, headers })).status).toBe(202);
    const signed = signRequest({ method: "GET", url }, dana, Date.now());
    expect(await (await fetch(server.url + path, { headers: signed })).json()).toHaveLength(1);
    expect(server.output()).toMatch(/A new message for guest kex1\w{3}…\w\w, \d\.\d kB\./);
  });

  it("serves the documents of authors and guests at the root of the domain, also if the site has a path prefix", async () => {
    const settings = builtHostSettings("https://alice.example/blog", { key: ALICE.publicKey });
    const alice = site(settings);
    alice.write(".eleventy-twtxt/published/.well-known/msg/alice.json", "{}");
    const server = await serve(alice);
    const dana = identityOf(9, "dana").publicKey;
    const at = async (path: string) => {
      const answer = await fetch(server.url + path);
      return answer.headers.get("content-type") === "application/json" ? answer.json() : answer.status;
    };
    const endpoint = `https://alice.example/blog/inbox/${dana}`;
    for (const prefix of ["", "/blog"]) {
      expect(await at(`${prefix}/.well-known/msg/${dana}.json`)).toEqual({ endpoint, key: dana });
      expect(await at(`${prefix}/.well-known/msg/alice.json`)).toEqual({});
      expect(await at(`${prefix}/.well-known/msg/bob.json`)).toBe(404);
      expect(await at(`${prefix}/.well-known/msg/../../../package.json`)).toBe(404);
    }
    expect(await at("/.well-known/other/alice.json")).toBe(404);
  });

  it("sends a new message to a subscriber at once, and closes the connection when it ends", async () => {
    const server = await serve(alicesSite());
    const stream = await ask(server, { headers: { accept: "text/event-stream" } });
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = "";
    const readUntil = async (text: string) => {
      while (!seen.includes(text)) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`The stream ended after ${seen}`);
        seen += value;
      }
    };
    await readUntil("retry:");
    await deliver(server, ARMORED);
    await readUntil("event: message");

    const ended = server.end();
    while (!(await reader?.read())?.done);
    expect(await ended).toBe(0);
  });

  it("ends the streams of a key that a new build has removed", async () => {
    const alice = alicesSite();
    const server = await serve(alice);
    const stream = await ask(server, { headers: { accept: "text/event-stream" } });
    const reader = stream.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);

    rebuild(alice, ({ settings, pages }) => {
      const authors = settings.authors.map((author) => ({ ...author, key: EVE.publicKey }));
      return { settings: { ...settings, authors }, pages };
    });
    while (!(await reader?.read())?.done);
    expect([(await ask(server)).status, (await ask(server, { signer: EVE })).status]).toEqual([403, 200]);
  });

  it("406: no subscription if the site's options turn it off", async () => {
    const server = await serve(alicesSite({ subscribe: false }));
    const answer = await ask(server, { headers: { accept: "text/event-stream" } });
    expect([answer.status, Object(await answer.json()).code]).toEqual([406, "not-acceptable"]);
  });

  it("429: an IP address cannot use more than its share; another one can still deliver", async () => {
    const server = await serve(alicesSite({ messages: 20 }), ["--trust-proxy", "1"]);
    const from = async (address: string, number: number) =>
      (await deliver(server, sealed(number), { "x-forwarded-for": address })).status;
    expect([await from("192.0.2.1", 1), await from("192.0.2.1", 2), await from("192.0.2.1", 3)]).toEqual([
      202, 202, 429,
    ]);
    expect(await from("192.0.2.2", 3)).toBe(202);
    expect(await idsIn(server)).toHaveLength(3);
  });

  it("429: deliveries are limited per minute, the owner's requests are not", async () => {
    const server = await serve(alicesSite(), ["--rate-limit", "2"]);
    const statuses: number[] = [];
    for (const number of [1, 2, 3]) statuses.push((await deliver(server, sealed(number))).status);
    expect(statuses).toEqual([202, 202, 429]);
    for (let times = 0; times < 5; times += 1) expect((await ask(server)).status).toBe(200);
  });

  it("429: an author's signed deliveries to guests count like all others", async () => {
    const server = await serve(alicesSite(), ["--rate-limit", "2"]);
    const path = `/inbox/${EVE.publicKey}`;
    const answerGuest = async (number: number) => {
      const [method, body] = ["POST", Buffer.from(sealed(number))];
      const headers = signRequest(
        { method, url: `https://alice.example${path}`, headers: {}, body },
        ALICE,
        Date.now(),
      );
      return fetch(server.url + path, { method, headers, body });
    };
    expect((await deliver(server, sealed(1))).status).toBe(202);
    expect((await answerGuest(2)).status).toBe(202);
    const refused = await answerGuest(3);
    expect([refused.status, Number(refused.headers.get("retry-after")) <= 60]).toEqual([429, true]);
  });
});
