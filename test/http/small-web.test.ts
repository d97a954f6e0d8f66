import { describe, expect, it } from "vitest";
import { certificatePins } from "../../plugin/http/certificate-pins.js";
import { createGuard, type GuardedRequest, type GuardOptions } from "../../plugin/http/guard.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { PATIENT_MS } from "../helpers/longest.js";
import { loopbackRoute, loopbackServer } from "../helpers/loopback.js";
import { geminiServer, gopherServer, selfSigned } from "../helpers/small-web.js";

const FEED = "# nick = bob\n\n2026-11-19T08:00:00Z\thello\n";
const failsWith = (code: string) => expect.objectContaining({ code });

async function ask(url: string, options: Partial<GuardOptions> = {}, request: Partial<GuardedRequest> = {}) {
  const limits = { totalMs: PATIENT_MS, firstByteMs: PATIENT_MS };
  const guard = createGuard({ userAgent: "test/1", route: loopbackRoute, ...limits, ...options });
  const answer = await guard(url, { maxBytes: 1000, isFeed: true, ...request });
  return { ...answer, text: String(await answer.bytes()) };
}

describe("a feed over gemini", () => {
  it("is read with its media type, after redirects", async () => {
    const bob = await geminiServer((line) =>
      line.endsWith("/old") ? "31 /new\r\n" : `20 text/plain; charset=utf-8\r\n${FEED}`,
    );
    const answer = await ask(`${bob.url}/old#:~:text=x`, { allowPrivateHosts: [bob.host] });
    expect(answer).toMatchObject({ status: 200, text: FEED, url: `${bob.url}/new` });
    expect(answer.headers).toEqual({ "content-type": "text/plain; charset=utf-8" });
    expect(bob.requests).toEqual([`${bob.url}/old`, `${bob.url}/new`]);
  });

  it.each([
    ["51 not here\r\n", 404],
    ["52 gone\r\n", 410],
    ["44 60\r\n", 429],
    ["41 busy\r\n", 503],
    ["59 bad\r\n", 400],
    ["10 your name?\r\n", 400],
    ["60 certificate\r\n", 403],
  ])("that is answered with %j has the status %i", async (head, status) => {
    const bob = await geminiServer(() => head);
    expect(await ask(bob.url, { allowPrivateHosts: [bob.host] })).toMatchObject({ status, text: "" });
  });

  it.each(["", "hello\r\n", `20 ${"x".repeat(2000)}`, "99 x\r\n"])("unreachable: the answer is %.12j", async (text) => {
    const bob = await geminiServer(() => text);
    await expect(ask(bob.url, { allowPrivateHosts: [bob.host] })).rejects.toThrow(failsWith("unreachable"));
  });

  it("too-large: only the limit is read", async () => {
    const bob = await geminiServer(() => `20 text/plain\r\n${"x".repeat(500_000)}`);
    await expect(ask(bob.url, { allowPrivateHosts: [bob.host] })).rejects.toThrow(failsWith("too-large"));
  });

  it("is read from the first certificate of its server, and from another one only when the first is over", async () => {
    const bob = await geminiServer(() => `20 text/plain\r\n${FEED}`);
    const clock = { time: Date.now() };
    const store = memoryStore();
    const options = { allowPrivateHosts: [bob.host], checkCertificate: certificatePins(store, () => clock.time) };
    expect((await ask(bob.url, options)).text).toBe(FEED);
    expect((await ask(bob.url, options)).text).toBe(FEED);

    const [key = ""] = await store.keys("gemini/");
    const pin = JSON.parse(String(Buffer.from((await store.get(key))?.bytes ?? [])));
    await store.put(key, Buffer.from(JSON.stringify({ ...pin, fingerprint: "another" })));
    const requests = bob.requests.length;
    await expect(ask(bob.url, options)).rejects.toThrow("has another certificate than before");
    expect(bob.requests).toHaveLength(requests);
    clock.time += 31 * 24 * 3600_000;
    expect((await ask(bob.url, options)).text).toBe(FEED);
    expect(selfSigned().cert).toContain("BEGIN CERTIFICATE");
  });
});

describe("a feed over gemini whose server does not end TLS", () => {
  const PART = FEED.slice(0, -3);

  it("is whole if it ends with a line feed, and cut off if not", async () => {
    const bob = await geminiServer((line) => ({
      text: `20 text/plain\r\n${line.endsWith("/a") ? FEED : PART}`,
      end: "FIN",
    }));
    const options = { allowPrivateHosts: [bob.host] };
    expect(await ask(`${bob.url}/a`, options)).toMatchObject({ status: 200, text: FEED });
    await expect(ask(`${bob.url}/b`, options)).rejects.toThrow(failsWith("unreachable"));
  });

  it("is cut off by a reset, and whole without a line feed if TLS ends", async () => {
    const bob = await geminiServer((line) =>
      line.endsWith("/a") ? `20 text/plain\r\n${PART}` : { text: `20 text/plain\r\n${FEED}`, end: "RST" },
    );
    const options = { allowPrivateHosts: [bob.host] };
    expect((await ask(`${bob.url}/a`, options)).text).toBe(PART);
    await expect(ask(`${bob.url}/b`, options)).rejects.toThrow(failsWith("unreachable"));
  });
});

describe("a feed over gopher", () => {
  it("is cut off without a line feed at its end, and by a reset", async () => {
    const bob = await gopherServer((line) => (line.endsWith("/a") ? FEED.slice(0, -3) : { text: FEED, end: "RST" }));
    for (const path of ["/0/a", "/0/b"]) {
      const cut = ask(`${bob.url}${path}`, { allowPrivateHosts: [bob.host] });
      await expect(cut).rejects.toThrow(failsWith("unreachable"));
    }
  });

  it("is read by its selector", async () => {
    const bob = await gopherServer(() => FEED);
    expect(await ask(`${bob.url}/0/~bob/tw%20txt.txt`, { allowPrivateHosts: [bob.host] })).toMatchObject({
      status: 200,
      text: FEED,
    });
    expect(bob.requests).toEqual(["/~bob/tw txt.txt"]);
  });

  it("404: the answer is the error of a menu", async () => {
    const bob = await gopherServer(() => "3'/x' does not exist!\tfake\t(NULL)\t0\r\n.\r\n");
    expect((await ask(`${bob.url}/0/x`, { allowPrivateHosts: [bob.host] })).status).toBe(404);
  });

  it("unreachable: the path has a second line, which is not sent", async () => {
    const bob = await gopherServer(() => FEED);
    const url = `${bob.url}/0/a%0d%0aSET%20b`;
    await expect(ask(url, { allowPrivateHosts: [bob.host] })).rejects.toThrow(failsWith("unreachable"));
    expect(bob.requests).toEqual([]);
  });
});

describe("unreachable", () => {
  it.each([
    ["gemini", "", "no response within 0.1 s"],
    ["gemini", `20 text/plain\r\n${FEED}`, "This operation was aborted"],
    ["gopher", "", "no response within 0.1 s"],
    ["gopher", FEED, "This operation was aborted"],
  ])("a server of %s that sends %j, and no end", async (kind, text, why) => {
    const bob = await (kind === "gemini" ? geminiServer : gopherServer)(() => ({ text, end: null }));
    const limits = { allowPrivateHosts: [bob.host], firstByteMs: text === "" ? 100 : PATIENT_MS, totalMs: 400 };
    await expect(ask(`${bob.url}/0/a`, limits)).rejects.toThrow(
      expect.objectContaining({ code: "unreachable", message: expect.stringContaining(why) }),
    );
  });
});

describe("address-refused", () => {
  it.each([
    "gemini://127.0.0.1/",
    "gopher://[::1]/0/",
    "gemini://169.254.169.254/",
    "gemini://bob.example:25/",
    "gopher://bob.example:80/0/",
    "http://bob.example:70/",
    "gemini://user@bob.example/",
  ])("%s", async (url) => {
    await expect(ask(url)).rejects.toThrow(failsWith("address-refused"));
  });

  it("what is not a feed, a POST, and https where it is needed", async () => {
    const bob = await gopherServer(() => FEED);
    const options = { allowPrivateHosts: [bob.host] };
    for (const request of [{ isFeed: false }, { method: "POST" as const }, { isHttpsNeeded: true }]) {
      await expect(ask(bob.url, options, request)).rejects.toThrow(failsWith("address-refused"));
    }
    expect(bob.requests).toEqual([]);
  });

  it("a redirect from one kind of server to another", async () => {
    const bob = await gopherServer(() => FEED);
    const web = await loopbackServer((_request, response) =>
      response.writeHead(302, { location: `${bob.url}/0/a` }).end(),
    );
    const gemini = await geminiServer(() => `30 ${web.url}/\r\n`);
    const allowPrivateHosts = [bob.host, web.host, gemini.host];
    for (const { url } of [web, gemini]) {
      await expect(ask(url, { allowPrivateHosts })).rejects.toThrow(failsWith("address-refused"));
    }
    expect(bob.requests).toEqual([]);
  });
});
