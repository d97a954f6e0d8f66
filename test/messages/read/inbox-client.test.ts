import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type SiteApiOptions, siteApi } from "../../../plugin/http/site-api.js";
import { InboxClient, toCursor } from "../../../plugin/messages/read/inbox-client.js";
import { PATIENT_MS } from "../../helpers/longest.js";
import { type LoopbackServer, loopbackServer } from "../../helpers/loopback.js";
import { ALICE, alicesInbox, CAROL, INBOX, idOf, SECOND, sealed, steppedClock } from "../inbox/alices-inbox.js";
import { NOW } from "../neighbourhood.js";

const CREATED = "2026-11-20T09:00:00.000Z";

const failsWith = (code: string, message = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

/** A `sleep` that records durations and returns immediately. */
function recordingSleep() {
  const delays: number[] = [];
  return {
    delays,
    sleep: async (milliseconds: number) => {
      delays.push(milliseconds);
      await new Promise(setImmediate);
    },
  };
}

function createClient({
  endpoint,
  sleep,
  ...options
}: Pick<ConstructorParameters<typeof InboxClient>[0], "endpoint" | "sleep"> & Omit<SiteApiOptions, "root">) {
  return new InboxClient({ endpoint, sleep, ask: siteApi({ root: endpoint, ...options }) });
}

/** Alice's inbox and a client for it. */
function alice({ signer = ALICE, ahead = 0, endpoint = INBOX } = {}) {
  const inbox = alicesInbox();
  const asked: string[] = [];
  const client = createClient({
    endpoint,
    signer,
    fetch: async (url, init) => {
      const request = new Request(String(url).replace("mallory.example", "alice.example"), init);
      asked.push(`${request.method} ${new URL(request.url).search}`);
      return inbox.answer(request);
    },
    now: () => inbox.clock.time + ahead,
    sleep: recordingSleep().sleep,
  });
  return { inbox, client, asked };
}

/** An inbox of a different implementation, on loopback, and a client for it. */
async function hostOf(answer: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const host: LoopbackServer = await loopbackServer((request, response) => void answer(request, response));
  const { delays, sleep } = recordingSleep();
  const endpoint = `${host.url}/inbox/alice`;
  const client = createClient({ endpoint, signer: ALICE, fetch, now: () => NOW, sleep, idleTimeoutMs: PATIENT_MS });
  return { ...host, endpoint, client, delays };
}

/** Fakes timers. @returns a function that advances the clock past the client's timeout */
function fakeTimeout(): () => void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return () => void vi.advanceTimersByTime(PATIENT_MS);
}

const json = (response: ServerResponse, value: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));

const item = (digit: string) => ({ id: digit.repeat(64), created: CREATED, payload: "AAEC" });
const message = (digit: string) => ({ id: digit.repeat(64), created: CREATED, payload: Uint8Array.of(0, 1, 2) });

describe("listing an inbox", () => {
  it("returns messages as received, oldest first", async () => {
    const { inbox, client } = alice();
    await inbox.receive(sealed(1), sealed(2));
    const list = await client.list();
    expect(list?.messages).toEqual([
      { id: idOf(sealed(1)), created: CREATED, payload: Uint8Array.from(sealed(1)) },
      { id: idOf(sealed(2)), created: "2026-11-20T09:00:00.001Z", payload: Uint8Array.from(sealed(2)) },
    ]);
  });

  it("follows all pages, each requested once", async () => {
    const { inbox, client, asked } = alice();
    const bodies = Array.from({ length: 201 }, (_, number) => sealed(number));
    for (const body of bodies) {
      inbox.clock.step(24 * 3600 * SECOND);
      await inbox.receive(body);
    }
    const list = await client.list();
    expect(list?.messages.map(({ id }) => id)).toEqual(bodies.map(idOf));
    expect([asked.length, list?.etag]).toEqual([3, null]);
  });

  it("returns messages after a cursor, and null if there is no change", async () => {
    const { inbox, client } = alice();
    await inbox.receive(sealed(1), sealed(2));
    const [first] = (await client.list())?.messages ?? [];
    const after = first && toCursor(first);
    const list = await client.list({ ...(after && { after }) });
    expect(list?.messages.map(({ id }) => id)).toEqual([idOf(sealed(2))]);
    const again = { after: after ?? "", etag: list?.etag ?? "" };
    expect(await client.list(again)).toBeNull();
    await inbox.receive(sealed(3));
    expect((await client.list(again))?.messages).toHaveLength(2);
  });

  it.each([
    ["not-signed", "The time of the signature is wrong by the clock of this site", { ahead: 3600 * SECOND }],
    [
      "not-signed",
      "check that `serve` was started with the same URL.",
      { endpoint: "https://mallory.example/inbox/alice" },
    ],
    ["not-allowed", 'check its option "key", and deploy.', { signer: CAROL }],
    ["not-found", "answers 404", { endpoint: "https://alice.example/inbox/nobody" }],
  ])("%s: %s %j", async (code, advice, options) => {
    await expect(alice(options).client.list()).rejects.toThrow(failsWith(code, advice));
  });

  it("unreachable: the site has no functions", async () => {
    const { client, endpoint } = await hostOf((_request, response) => response.writeHead(404).end("<p>no"));
    await expect(client.list()).rejects.toThrow(
      failsWith(
        "unreachable",
        `${endpoint} answers 404, but not in JSON. Build and deploy the site: on Netlify with its functions`,
      ),
    );
  });

  it.each([
    ["bad-message", "HTML", "<p>hello"],
    ["bad-message", "an object", "{}"],
    ["bad-message", "an invalid id", JSON.stringify([{ ...item("1"), id: "\u001b[31m" }])],
    ["bad-message", "an invalid time", JSON.stringify([{ ...item("1"), created: "yesterday\u001b" }])],
    ["bad-message", "a payload that is not base64", JSON.stringify([{ ...item("1"), payload: "?" }])],
    [
      "bad-message",
      "megabytes that are not base64",
      JSON.stringify([{ ...item("1"), payload: `${"A".repeat(2e6)}?` }]),
    ],
  ])("%s: %s", async (code, _name, body) => {
    const { client } = await hostOf((_request, response) => response.end(body));
    await expect(client.list()).rejects.toThrow(failsWith(code));
  });

  it.each([
    ["unreachable", "429", (response: ServerResponse) => response.writeHead(429).end()],
    ["unreachable", "500", (response: ServerResponse) => response.writeHead(500).end("\u001b[31m")],
    ["unreachable", "a closed connection", (response: ServerResponse) => response.destroy()],
    [
      "unreachable",
      "an unfinished response",
      (response: ServerResponse, pass) => response.writeHead(200).write("[", pass),
    ],
    ["unreachable", "no response", (_response, pass) => pass()],
    ["unreachable", "a redirect", (response: ServerResponse) => response.writeHead(302, { location: "/x" }).end()],
    ["bad-request", "400", (response: ServerResponse) => response.writeHead(400).end()],
  ] satisfies [string, string, (response: ServerResponse, pass: () => void) => unknown][])(
    "%s: %s",
    async (code, _name, answer) => {
      const pass = fakeTimeout();
      const { client, requests: asked } = await hostOf((_request, response) => answer(response, pass));
      await expect(client.list()).rejects.toThrow(failsWith(code));
      expect(asked).toHaveLength(1);
    },
  );

  it.each([
    ["another path", "/inbox/bob?after=1"],
    ["another host", "http://mallory.example/inbox/alice?after=1"],
    ["another protocol", "javascript:alert(1)"],
    ["itself", "/inbox/alice"],
  ])("address-refused: the next page is at %s, and is not requested", async (_name, next) => {
    const { client, requests: asked } = await hostOf((_request, response) =>
      json(response, [item("1")], { link: `<${next}>; rel="next"` }),
    );
    await expect(client.list()).rejects.toThrow(failsWith("address-refused"));
    expect(asked).toEqual(["/inbox/alice"]);
  });

  it("address-refused: an endless list", async () => {
    const page = JSON.stringify(Array.from({ length: 51_000 }, () => item("1")));
    const { client, requests: asked } = await hostOf((_request, response) =>
      response.writeHead(200, { link: `</inbox/alice?after=${asked.length}>; rel="next"` }).end(page),
    );
    await expect(client.list()).rejects.toThrow(failsWith("address-refused", "more messages than an inbox can have"));
    expect(asked).toHaveLength(2);
  });

  it("follows Link headers in any order, only with rel=next", async () => {
    const { client } = await hostOf((request, response) =>
      request.url?.includes("after")
        ? json(response, [item("2")], { link: '</inbox/alice?after=0>; rel="prev"' })
        : json(response, [item("1")], { link: '</a>; rel="self", </inbox/alice?after=1>; title="x"; rel=next' }),
    );
    expect((await client.list())?.messages).toEqual([message("1"), message("2")]);
  });
});

describe("deleting from an inbox", () => {
  it("deletes a message, once", async () => {
    const { inbox, client } = alice();
    await inbox.receive(sealed(1), sealed(2));
    expect(await client.delete(idOf(sealed(1)))).toBe(true);
    expect(await inbox.ids()).toEqual([idOf(sealed(2))]);
    expect(await client.delete(idOf(sealed(1)))).toBe(false);
  });

  it("not-found: the message is unknown; the error has no advice on deploying", async () => {
    await expect(alice().client.delete("0".repeat(64))).rejects.toThrow(failsWith("not-found"));
    await expect(alice().client.delete("0".repeat(64))).rejects.not.toThrow(failsWith("not-found", "deployed"));
    await expect(alice().client.delete("../carol")).rejects.toThrow(failsWith("not-found"));
  });

  it("not-allowed: the request is signed with another key, and the message stays", async () => {
    const { inbox, client } = alice({ signer: CAROL });
    await inbox.receive(sealed(1));
    await expect(client.delete(idOf(sealed(1)))).rejects.toThrow(failsWith("not-allowed"));
    expect(await inbox.ids()).toEqual([idOf(sealed(1))]);
  });
});

/** Follows an inbox. A list is read once. */
async function* follow(
  client: InboxClient,
  { after, signal = new AbortController().signal }: { after?: string; signal?: AbortSignal } = {},
) {
  for await (const messages of client.follow({ after: () => after, signal, wait: async () => false })) yield* messages;
}

async function readAll(client: InboxClient) {
  const all = [];
  for await (const one of follow(client)) all.push(one);
  return all;
}

describe("following an inbox", () => {
  const start = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });
  const event = (digit: string) => `id: ${digit}\ndata: ${JSON.stringify(item(digit))}\n\n`;

  it("returns stored and new messages across several connections", async () => {
    const clock = steppedClock();
    const inbox = alicesInbox({ clock });
    await inbox.receive(sealed(1), sealed(2));
    let connections = 0;
    const client = createClient({
      endpoint: INBOX,
      signer: ALICE,
      fetch: async (url, init) => {
        connections += 1;
        return inbox.answer(new Request(String(url), init));
      },
      now: () => clock.time,
      sleep: async () => {
        // A message arrives between two connections.
        if (connections === 1) await inbox.receive(sealed(3));
      },
    });
    const ids = new Set<string>();
    for await (const { id } of follow(client)) {
      ids.add(id);
      if (ids.size === 2 && connections === 1) setImmediate(() => clock.step(60 * SECOND));
      if (ids.size === 3) break;
    }
    expect([...ids]).toEqual([sealed(1), sealed(2), sealed(3)].map(idOf));
    expect(connections).toBe(2);
  });

  it("resumes after the last event, after the `retry` delay, or longer while the host is down", async () => {
    const seen: unknown[] = [];
    const answers = [
      (response: ServerResponse) => start(response).end(`retry: 3000\n\n${event("1")}${event("2")}`),
      (response: ServerResponse) => response.destroy(),
      (response: ServerResponse) => response.writeHead(503).end(),
      (response: ServerResponse) => start(response).end(event("3")),
      (response: ServerResponse) => start(response).write(`: x\n\nevent: other\ndata: x\n\n${event("4")}`),
    ];
    const { client, delays } = await hostOf((request, response) => {
      seen.push([request.url, request.headers["last-event-id"]]);
      return answers[seen.length - 1]?.(response);
    });
    const end = new AbortController();
    const ids: string[] = [];
    for await (const { id } of follow(client, { after: "0", signal: end.signal })) {
      ids.push(id[0] ?? "");
      if (id.startsWith("4")) end.abort();
    }
    expect(ids).toEqual(["1", "2", "3", "4"]);
    const url = "/inbox/alice?after=0";
    expect(seen).toEqual([
      [url, undefined],
      [url, "2"],
      [url, "2"],
      [url, "2"],
      [url, "3"],
    ]);
    expect(delays).toEqual([3000, 6000, 12_000, 3000]);
  });

  it("waits at least a second before it reconnects", async () => {
    let connections = 0;
    const { client, delays } = await hostOf((_request, response) => {
      connections += 1;
      start(response).end(connections < 3 ? "retry: 0\n\n" : event("1"));
    });
    for await (const { id } of follow(client)) {
      expect(id).toBe("1".repeat(64));
      break;
    }
    expect(delays).toEqual([1000, 1000]);
  });

  it("reconnects if no data arrives", async () => {
    let connections = 0;
    const { client } = await hostOf((_request, response) => {
      connections += 1;
      start(response).write(event(String(connections)));
    });
    const pass = fakeTimeout();
    const messages = follow(client);
    expect((await messages.next()).value).toEqual(message("1"));
    const next = messages.next();
    await new Promise(setImmediate);
    pass();
    expect((await next).value).toEqual(message("2"));
    expect(connections).toBe(2);
    await messages.return();
  });

  it.each([
    ["406", (response: ServerResponse) => response.writeHead(406).end()],
    ["a JSON list", (response: ServerResponse) => json(response, [])],
  ])("reads the list if the host does not support event streams: %s", async (_name, answer) => {
    const { client } = await hostOf(({ headers }, response) =>
      headers.accept === "text/event-stream" ? answer(response) : json(response, [item("1")]),
    );
    expect(await readAll(client)).toEqual([message("1")]);
  });

  it("reads the list if the host no longer supports event streams", async () => {
    const { client, requests: asked } = await hostOf(({ headers }, response) => {
      if (asked.length === 1) start(response).end(event("1"));
      else if (headers.accept === "text/event-stream") response.writeHead(406).end();
      else json(response, [item("2")]);
    });
    expect(await readAll(client)).toEqual([message("1"), message("2")]);
  });

  it("reads the list again after an outage, with the ETag of the same cursor", async () => {
    const asked: unknown[] = [];
    const { client, delays } = await hostOf(({ url, headers }, response) => {
      if (headers.accept === "text/event-stream") return response.writeHead(406).end();
      asked.push([url, headers["if-none-match"]]);
      if (asked.length === 2) return response.writeHead(503).end();
      return json(response, [item("1")], { etag: '"one"' });
    });
    let after: string | undefined;
    const { signal } = new AbortController();
    const wait = async () => asked.length < 4;
    for await (const _ of client.follow({ after: () => after, signal, wait })) if (asked.length > 2) after = "1";
    const url = "/inbox/alice";
    expect(asked).toEqual([
      [url, undefined],
      [url, '"one"'],
      [url, '"one"'],
      [`${url}?after=1`, undefined],
    ]);
    expect(delays).toEqual([2000]);
  });

  it.each([
    ["not-signed", 401],
    ["not-allowed", 403],
    ["not-found", 404],
  ])("%s: %i, at the start and after a reconnect", async (code, status) => {
    let isFirst = false;
    const { client } = await hostOf((_request, response) => {
      if (isFirst) start(response).end(event("1"));
      else response.writeHead(status, { "content-type": "application/problem+json" }).end("{}");
      isFirst = false;
    });
    await expect(readAll(client)).rejects.toThrow(failsWith(code));
    isFirst = true;
    await expect(readAll(client)).rejects.toThrow(failsWith(code));
  });

  it("bad-message: an event that is not a message", async () => {
    const { client } = await hostOf((_request, response) => start(response).end("data: hello\n\n"));
    await expect(readAll(client)).rejects.toThrow(failsWith("bad-message"));
  });

  it("closes the connection when its consumer stops", async () => {
    let gone = () => {};
    const closed = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const { client } = await hostOf((_request, response) => {
      response.on("close", gone);
      start(response).write(event("1"));
    });
    for await (const _ of follow(client)) break;
    await closed;
  });
});
