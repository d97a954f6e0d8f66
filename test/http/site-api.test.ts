import { createHash } from "node:crypto";
import type { RequestListener } from "node:http";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../plugin/errors.js";
import { json, withProblemResponses as withProblems } from "../../plugin/http/respond.js";
import { verifyRequest } from "../../plugin/http/signature.js";
import { type SiteApiOptions, siteApi } from "../../plugin/http/site-api.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { identityOf } from "../helpers/identity.js";
import { loopbackServer } from "../helpers/loopback.js";
import { deadUrl } from "../helpers/ports.js";

const ALICE = identityOf(1);
const NOW = Date.parse("2026-11-20T09:00:00Z");
const MISSING = "Is it there?";

async function siteThat(answers: RequestListener, options: Partial<SiteApiOptions> = {}) {
  const server = await loopbackServer(answers);
  const ask = siteApi({ root: `${server.url}/api`, signer: ALICE, now: () => NOW, missing: MISSING, ...options });
  return { ...server, ask };
}

function withProblemResponses(status: number, type: string, body: string): RequestListener {
  return (_, response) => void response.writeHead(status, { "content-type": type }).end(body);
}

async function* inParts(...parts: string[]) {
  for (const part of parts) yield Buffer.from(part);
}

describe("a request to the author's site", () => {
  it("streams a signed body with its Content-Length", async () => {
    const received: unknown[] = [];
    const { ask, host } = await siteThat(async (incoming, response) => {
      const body = await buffer(incoming);
      const request = new Request(`http://${host}${incoming.url}`, {
        method: "PUT",
        headers: incoming.headers as Record<string, string>,
        body: Uint8Array.from(body),
      });
      const terms = { authority: host, allowed: new Set([ALICE.publicKey]), store: memoryStore(), now: () => NOW };
      const { owner } = await verifyRequest(request, async () => body, terms);
      const { "content-length": length, "accept-encoding": encodings } = incoming.headers;
      received.push({ length, encodings, body: String(body), owner });
      response.end('{"ok":true}');
    });
    const sha256 = createHash("sha256").update("hello world").digest();
    const body = { size: 11, sha256, chunks: () => inParts("hello", " world") };
    const headers = { "content-type": "text/plain", "if-match": '"a"' };
    expect(await (await ask({ method: "PUT", path: "/a", headers, body })).json()).toEqual({ ok: true });
    expect(received).toEqual([{ length: "11", encodings: "identity", body: "hello world", owner: ALICE.publicKey }]);
  });

  describe("from a machine whose clock differs", () => {
    /** A site whose clock is ahead, or says so in `Date`. */
    async function siteAhead(seconds: number, { date = NOW + seconds * 1000 } = {}) {
      const [accepted, warnings]: [string[], string[]] = [[], []];
      const now = () => NOW + seconds * 1000;
      const terms = { allowed: new Set([ALICE.publicKey]), store: memoryStore(), now };
      const listener: RequestListener = async (incoming, response) => {
        const body = await buffer(incoming);
        const { url: path, method = "", headers } = incoming;
        const withBody = body.length > 0 && { body: Uint8Array.from(body) };
        const init = { method, headers: headers as Record<string, string>, ...withBody };
        const request = new Request(`http://${headers.host}${path}`, init);
        const handler = async () => {
          await verifyRequest(request, async () => body, { ...terms, authority: headers.host ?? "" });
          accepted.push(`${method} ${body}`);
          return json({});
        };
        const answer = await withProblems(handler, () => {})(request, { address: "", params: {} });
        const sent = { ...answer.headers, date: new Date(date).toUTCString() };
        response.writeHead(answer.status, sent).end(answer.body);
      };
      const site = await siteThat(listener, { warn: (sentence) => void warnings.push(sentence) });
      return { ...site, accepted, warnings };
    }

    it.each([-3600, -600, 600, 3600])("signs once more with the time of a site that is %d s ahead", async (seconds) => {
      const { ask, accepted, requests, warnings } = await siteAhead(seconds);
      const sha256 = createHash("sha256").update("hello world").digest();
      await ask({ method: "PUT", path: "/a", body: { size: 11, sha256, chunks: () => inParts("hello", " world") } });
      expect(accepted).toEqual(["PUT hello world"]);
      await ask({ method: "GET", path: "/a" });
      expect(requests).toHaveLength(3);
      expect(warnings).toEqual([expect.stringMatching(/^The clock of this machine says .*: set the wrong one\.$/)]);
    });

    it("signs once more for HEAD, whose refusal has no code", async () => {
      const { ask, accepted } = await siteAhead(600);
      await ask({ method: "HEAD", path: "/a" });
      expect(accepted).toEqual(["HEAD "]);
    });

    it("signs nothing for a time that is more than an hour away, and names both clocks", async () => {
      for (const seconds of [-3900, 3900]) {
        const { ask, requests } = await siteAhead(seconds);
        const time = new Date(NOW + seconds * 1000).toISOString().replace(".000", "");
        const clocks = `The clock of this machine says 2026-11-20T09:00:00Z, that of the site ${time}: set the wrong one.`;
        const error = await ask({ method: "GET", path: "/a" }).catch((error) => error);
        expect(error).toMatchObject({ code: "not-signed", message: expect.stringContaining(clocks) });
        expect(requests).toHaveLength(1);
      }
    });

    it("signs only once more for a site that refuses each time, and not again for the same time", async () => {
      const { ask, requests } = await siteAhead(3000, { date: NOW + 1000_000 });
      await expect(ask({ method: "GET", path: "/a" })).rejects.toMatchObject({ code: "not-signed" });
      expect(requests).toHaveLength(2);
      await expect(ask({ method: "GET", path: "/a" })).rejects.toMatchObject({ code: "not-signed" });
      expect(requests).toHaveLength(3);
    });

    it("signs only once more for a site that names another time each time", async () => {
      const site = await siteThat((_, response) => {
        const date = new Date(NOW + site.requests.length * 600_000).toUTCString();
        const headers = { date, "content-type": "application/problem+json" };
        response.writeHead(401, headers).end('{"code":"wrong-clock"}');
      });
      await expect(site.ask({ method: "GET", path: "/a" })).rejects.toMatchObject({ code: "not-signed" });
      expect(site.requests).toHaveLength(2);
    });

    it("signs nothing more if the site refuses for another reason", async () => {
      const date = new Date(NOW + 600_000).toUTCString();
      const { ask, requests } = await siteThat((_, response) =>
        response.writeHead(401, { date, "content-type": "application/problem+json" }).end('{"code":"not-signed"}'),
      );
      await expect(ask({ method: "GET", path: "/a" })).rejects.toMatchObject({ code: "not-signed" });
      expect(requests).toHaveLength(1);
    });
  });

  it("returns the whole body even if it is read after a garbage collection", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const { ask } = await siteThat((_, response) => void response.end(Buffer.alloc(2 ** 20)));
    const answer = await ask({ method: "GET", path: "/a" });
    for (let turns = 0; turns < 2; turns += 1) {
      collectGarbage();
      await setImmediate();
    }
    expect(await buffer(answer.chunks())).toHaveLength(2 ** 20);
  });

  it("throws the error of a streamed body", async () => {
    const { ask } = await siteThat((request) => void request.resume());
    const chunks = async function* () {
      yield Buffer.from("hello");
      throw new TwtxtError("bad-file", "It was changed.");
    };
    const body = { size: 11, sha256: Buffer.alloc(32), chunks };
    await expect(ask({ method: "PUT", path: "/a", body })).rejects.toMatchObject({ code: "bad-file" });
  });

  it.each([
    [401, "not-signed", "With --url, check that `serve` was started with the same URL."],
    [403, "not-allowed", 'check its option "key"'],
    [404, "not-found", "It is so."],
    [412, "precondition-failed", "It is so."],
    [413, "body-too-large", "It is so."],
    [507, "quota-exceeded", "It is so."],
    [400, "bad-request", "It is so."],
    [429, "unreachable", "It is so."],
    [503, "unreachable", "It is so."],
  ])("%d is %s, with the detail of the response in one line", async (status, code, text) => {
    const problem = JSON.stringify({ detail: "It\nis so.\u001b[2J" });
    const { ask } = await siteThat(withProblemResponses(status, "application/problem+json", problem));
    const error = await ask({ method: "GET", path: "/a" }).catch((error) => error);
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(` answers ${status}: It is so. [2J`);
    expect(error.message).toContain(text.replace("It is so.", "It is so. [2J"));
  });

  it("distinguishes a site without the API from a 404 of the API", async () => {
    const { ask } = await siteThat(withProblemResponses(404, "text/html", "<p>Nothing here"));
    const text = "answers 404, but not in JSON. Is it there?";
    for (const method of ["GET", "HEAD"] as const) {
      const error = await ask({ method, path: "/a" }).catch((error) => error);
      expect(error).toMatchObject({ code: "unreachable", message: expect.stringContaining(text) });
    }
    const other = await siteThat(withProblemResponses(404, "application/problem+json", ""));
    await expect(other.ask({ method: "HEAD", path: "/a" })).rejects.toMatchObject({ code: "not-found" });
  });

  it("follows no redirect with a signed request", async () => {
    const { ask, requests: asked } = await siteThat(
      (_, response) => void response.writeHead(307, { location: "/b" }).end(),
    );
    await expect(ask({ method: "GET", path: "/a" })).rejects.toMatchObject({ code: "unreachable" });
    expect(asked).toEqual(["/api/a"]);
  });

  it.each([
    ["is no JSON", "text/html", "unreachable"],
    [" ".repeat(8 * 2 ** 20 + 1), "application/json", "too-large"],
  ])("refuses a response that is not JSON, or larger than 8 MiB", async (body, type, code) => {
    const { ask } = await siteThat(withProblemResponses(200, type, body));
    const answer = await ask({ method: "GET", path: "/a" });
    await expect(answer.json()).rejects.toMatchObject({ code });
  });

  it.each([
    ["before the response", () => {}],
    ["during the response", ((_, response) => void response.writeHead(200).write("{")) satisfies RequestListener],
  ])("times out if no data arrives %s", async (_, listener: RequestListener) => {
    const { ask } = await siteThat(listener, { idleTimeoutMs: 100 });
    const reading = (async () => (await ask({ method: "GET", path: "/a" })).json())();
    await expect(reading).rejects.toMatchObject({ code: "unreachable", message: expect.stringContaining("0.1 s") });
  });

  it("rejects with the reason when it is aborted", async () => {
    const ending = new AbortController();
    const { ask } = await siteThat(() => ending.abort(new TwtxtError("unreachable", "Canceled.")), {
      signal: ending.signal,
    });
    await expect(ask({ method: "GET", path: "/a" })).rejects.toMatchObject({ message: "Canceled." });
  });

  it("rejects with the reason why the site cannot be reached", async () => {
    const ask = siteApi({
      root: await deadUrl(),
      signer: ALICE,
      now: () => NOW,
      missing: MISSING,
    });
    await expect(ask({ method: "GET", path: "/a" })).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});
