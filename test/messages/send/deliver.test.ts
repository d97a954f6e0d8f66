import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import type { PostResult } from "../../../plugin/http/post.js";
import { deliver } from "../../../plugin/messages/send/outbox.js";
import { type LoopbackServer, loopbackServer, strayed } from "../../helpers/loopback.js";
import { freePort } from "../../helpers/ports.js";
import { type Answer, hostWith, MINUTE, NOW, neighbourhood, silentHost } from "../neighbourhood.js";

const SEALED = "BEGIN SALTPACK ENCRYPTED MESSAGE. x. END SALTPACK ENCRYPTED MESSAGE.\n";
const PROBLEM = { "content-type": "application/problem+json" };

afterEach(() => expect(strayed).toEqual([]));

function deliverTo(host: Pick<LoopbackServer, "port">, totalMs?: number): Promise<PostResult> {
  const { ask } = neighbourhood({ "bob.example": host }, totalMs);
  return deliver("http://bob.example/inbox", SEALED, { ask, now: () => NOW });
}

/** The result of a delivery to a host with this response. */
async function resultOf(answer: Answer): Promise<PostResult> {
  return deliverTo(await hostWith({ "/inbox": answer }));
}

describe("a message", () => {
  it.each([200, 201, 202, 204])("is delivered: %i, with any body", async (status) => {
    const seen: unknown[] = [];
    const bob = await loopbackServer(async (request, response) => {
      seen.push([request.method, request.headers["content-type"], await text(request)]);
      response.writeHead(status);
      // This response body never ends, so it must not be read.
      if (status === 204) response.end();
      else response.write("x");
    });
    expect(await deliverTo(bob)).toEqual({ outcome: "accepted", status });
    expect(seen).toEqual([["POST", "text/plain; charset=utf-8", SEALED]]);
  });

  it("is delivered, and an endless response is closed", async () => {
    let onClose = () => {};
    const gone = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    const bob = await loopbackServer((_request, response) => {
      response.on("close", onClose);
      response.writeHead(202).write("x");
    });
    expect(await deliverTo(bob, 600_000)).toEqual({ outcome: "accepted", status: 202 });
    await gone;
  });

  it.each([307, 308])("is delivered after a redirect with %i", async (status) => {
    const seen: string[] = [];
    const bob = await loopbackServer(async (request, response) => {
      if (request.url === "/inbox") return response.writeHead(status, { location: "/new" }).end();
      seen.push(await text(request));
      return response.writeHead(202).end();
    });
    expect(await deliverTo(bob)).toEqual({ outcome: "accepted", status: 202 });
    expect(seen).toEqual([SEALED]);
  });

  it.each([301, 302, 303, 304, 400, 401, 403, 404, 405, 408, 410, 413, 422])("is refused: %i", async (status) => {
    const location = { location: "/other" };
    expect(await resultOf({ status, headers: location })).toEqual({
      outcome: "refused",
      status,
      why: `it answers ${status}`,
    });
  });

  it("is refused, with a reason that is one line and safe to show", async () => {
    const detail = "This is\n no \u001b[31mmessage\u202e.";
    const answer = { status: 400, headers: PROBLEM, body: JSON.stringify({ code: "bad-message", detail }) };
    expect(await resultOf(answer)).toEqual({
      outcome: "refused",
      status: 400,
      why: 'it answers 400, "This is no [31mmessage ."',
    });
    const blank = { ...answer, body: JSON.stringify({ detail: "a\u2800\u3164\u115fb\u{e0041}" }) };
    expect(await resultOf(blank)).toMatchObject({ why: 'it answers 400, "a b"' });
    const long = { status: 400, headers: PROBLEM, body: JSON.stringify({ detail: "a".repeat(1000) }) };
    expect(await resultOf(long)).toMatchObject({ why: `it answers 400, "${"a".repeat(200)}…"` });
  });

  it.each([
    ["not JSON", "<p>no"],
    ["without a detail", "{}"],
    ["with a detail that is not text", '{"detail": {"a": 1}}'],
    ["with an empty detail", '{"detail": "\\n"}'],
    ["larger than the limit", JSON.stringify({ detail: "a", more: "a".repeat(70_000) })],
  ])("is refused, and the response body is %s", async (_name, body) => {
    expect(await resultOf({ status: 413, headers: PROBLEM, body })).toMatchObject({ why: "it answers 413" });
  });

  it.each([
    [429, "120", NOW + 2 * MINUTE],
    [503, "Fri, 20 Nov 2026 10:00:00 GMT", NOW + 60 * MINUTE],
    [503, "soon", null],
    [429, undefined, null],
    [500, "120", null],
    [502, undefined, null],
  ])("is retried later: %i with Retry-After %j", async (status, retryAfter, notBefore) => {
    const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
    expect(await resultOf({ status, headers })).toEqual({
      outcome: "unavailable",
      status,
      why: `it answers ${status}`,
      notBefore,
    });
  });

  it("is retried later: no response, a closed connection or no server", async () => {
    const why = expect.stringContaining("could not be reached");
    const later = { outcome: "unavailable", status: null, why, notBefore: null };
    expect(await deliverTo(await silentHost(), 150)).toEqual(later);
    expect(await deliverTo(await loopbackServer((_request, response) => response.destroy()))).toEqual(later);
    expect(await deliverTo({ port: await freePort() })).toEqual(later);
  });

  it("is refused: the response is incomplete", async () => {
    const bob = await loopbackServer((_request, response) => {
      response.writeHead(400, { ...PROBLEM, "content-length": "100" }).write('{"detail":');
      setImmediate(() => response.destroy());
    });
    expect(await deliverTo(bob)).toMatchObject({ outcome: "refused", status: 400, why: "it answers 400" });
  });

  it("is not sent: a redirect to this machine", async () => {
    const secret = await hostWith({});
    const refused = { outcome: "not-asked", status: null, why: expect.stringContaining("is not requested") };
    expect(await resultOf({ status: 307, headers: { location: secret.url } })).toEqual(refused);
    const { ask } = neighbourhood({});
    expect(await deliver(secret.url, SEALED, { ask, now: () => NOW })).toEqual(refused);
    expect(secret.requests).toEqual([]);
  });

  it("is not sent: the endpoint uses plain http", async () => {
    const { ask } = neighbourhood({});
    expect(await deliver("http://carol.example/inbox", SEALED, { ask, now: () => NOW })).toMatchObject({
      outcome: "not-asked",
      status: null,
    });
  });

  it("is refused: a redirect loop", async () => {
    expect(await resultOf({ status: 307, headers: { location: "/inbox" } })).toEqual({
      outcome: "refused",
      status: null,
      why: expect.stringContaining("redirects more than 5 times, or in a loop"),
    });
  });
});
