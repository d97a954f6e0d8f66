import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { TwtxtError } from "../../../plugin/errors.js";
import { discoveryPaths } from "../../../plugin/keys/address.js";
import { lookup as publicLookup } from "../../../plugin/messages/index.js";
import { Contacts } from "../../../plugin/messages/lookup/contacts.js";
import { type Found, type LookupNetwork, lookup } from "../../../plugin/messages/lookup/lookup.js";
import { resolveRecipients } from "../../../plugin/messages/lookup/recipients.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { PATIENT_MS } from "../../helpers/longest.js";
import { type LoopbackServer, loopbackServer, strayed } from "../../helpers/loopback.js";
import { passTimeLimits } from "../../helpers/time-limits.js";
import { type Answer, BOB, CAROL, foundFor, hostWith, neighbourhood } from "../neighbourhood.js";

const PATHS = discoveryPaths(BOB.address);
const [PLAIN = "", HASHED = "", SALTY_HASHED = "", SALTY = ""] = PATHS;
const ENDPOINT = "http://bob.example/inbox/bob";

const failsWith = (code: string, message?: string) =>
  expect.objectContaining({ code, ...(message !== undefined && { message: expect.stringContaining(message) }) });

afterEach(() => expect(strayed).toEqual([]));

function documentOf(fields: Record<string, unknown> = {}): Answer {
  return {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ endpoint: ENDPOINT, key: BOB.kex, ...fields }),
  };
}

/** Looks up Bob on these hosts. DNS returns these targets, or fails with this code. */
function lookupBob(
  hosts: Record<string, LoopbackServer>,
  { srv }: { srv?: readonly string[] | string } = {},
): Promise<Found> {
  const network: LookupNetwork = neighbourhood(hosts);
  if (srv === undefined) return lookup("Bob@bob.example", network);
  const resolveSrv = async (name: string) => {
    if (name !== "_salty._tcp.bob.example" || typeof srv === "string") throw Object.assign(new Error(), { code: srv });
    return srv.map((target) => ({ name: target, port: 4242 }));
  };
  return lookup("Bob@bob.example", { ...network, resolveSrv });
}

describe("looking up a guest", () => {
  const address = `${CAROL.kex}@alice.example`;
  const lookUp = async (fields: Record<string, unknown>) => {
    const alice = await hostWith({
      [`/.well-known/msg/${CAROL.kex}.json`]: documentOf({ endpoint: "http://alice.example/inbox", ...fields }),
    });
    return lookup(address, neighbourhood({ "alice.example": alice }));
  };

  it("finds the document whose key is the address", async () => {
    expect(await lookUp({ key: CAROL.kex })).toMatchObject({ address, key: CAROL.kex });
  });

  it("not-authentic: the document has another key", async () => {
    await expect(lookUp({ key: BOB.kex })).rejects.toThrow(
      failsWith("not-authentic", `is forged: it names the key ${BOB.kex}, but the address of a guest is its key.`),
    );
  });
});

describe("looking up an address", () => {
  it.each([
    ["plain", PLAIN, 1],
    ["hashed", HASHED, 2],
    ["hashed, at the path of Salty", SALTY_HASHED, 3],
    ["plain, at the path of Salty", SALTY, 4],
  ])("finds the document at its path, and stops: %s", async (_name, path, count) => {
    const bob = await hostWith({ [path]: documentOf() });
    expect(await lookupBob({ "bob.example": bob })).toEqual({
      address: BOB.address,
      endpoint: ENDPOINT,
      key: BOB.kex,
      url: `http://bob.example${path}`,
      byDns: false,
    });
    expect(bob.requests).toEqual(PATHS.slice(0, count));
  });

  it("uses the first document of several", async () => {
    const other = documentOf({ key: CAROL.kex });
    const bob = await hostWith({ [PLAIN]: documentOf(), [HASHED]: other, [SALTY]: other, [SALTY_HASHED]: other });
    expect(await lookupBob({ "bob.example": bob })).toMatchObject({ key: BOB.kex });
  });

  it("follows a redirect and returns the final URL", async () => {
    const host = await hostWith({ "/bob.json": documentOf({ topic: "x" }) });
    const bob = await hostWith({ [PLAIN]: { status: 302, headers: { location: "http://host.example/bob.json" } } });
    const found = await lookupBob({ "bob.example": bob, "host.example": host });
    expect(found).toMatchObject({ url: "http://host.example/bob.json", byDns: false });
  });

  it("accepts a key in upper case", async () => {
    const bob = await hostWith({ [PLAIN]: documentOf({ key: BOB.kex.toUpperCase() }) });
    expect(await lookupBob({ "bob.example": bob })).toMatchObject({ key: BOB.kex });
  });

  it.each<[string, Answer, string]>([
    ["404 with a document", { ...documentOf(), status: 404 }, "answers 404"],
    ["another 2xx", { ...documentOf(), status: 203 }, "answers 203"],
    ["HTML", { headers: { "content-type": "text/html" }, body: "<!doctype html><p>Hello" }, "is not JSON"],
    ["an empty body", {}, "is not JSON"],
    ["a list", { body: "[]" }, 'lacks an "endpoint" or a "key"'],
    ["null", { body: "null" }, 'lacks an "endpoint" or a "key"'],
    ["no key", documentOf({ key: undefined }), 'lacks an "endpoint" or a "key"'],
    ["an endpoint that is a number", documentOf({ endpoint: 1 }), 'lacks an "endpoint" or a "key"'],
    ["a key with a wrong checksum", documentOf({ key: `${BOB.kex.slice(0, -1)}q` }), "has a malformed key"],
    ["a key of another kind", documentOf({ key: BOB.kex.replace("kex", "kbx") }), "has a malformed key"],
    ["an endpoint over http", documentOf({ endpoint: "http://else.example/" }), "endpoint that is not an https URL"],
    ["an endpoint over http on another port", documentOf({ endpoint: "http://bob.example:8080/" }), "not an https URL"],
    ["an endpoint of another protocol", documentOf({ endpoint: "ftp://bob.example/" }), "not an https URL"],
    ["a relative endpoint", documentOf({ endpoint: "/inbox" }), "not an https URL"],
    ["an endpoint with credentials", documentOf({ endpoint: "https://a:b@bob.example/" }), "not an https URL"],
    ["an endpoint with only a user", documentOf({ endpoint: "https://a@bob.example/" }), "not an https URL"],
    ["an endpoint with a fragment", documentOf({ endpoint: "https://bob.example/#a" }), "not an https URL"],
    ["an endless endpoint", documentOf({ endpoint: `https://bob.example/${"a".repeat(2048)}` }), "not an https URL"],
    ["an endless document", documentOf({ more: " ".repeat(64 * 1024) }), "is larger than 64 KiB"],
    ["broken compression", { ...documentOf(), headers: { "content-encoding": "gzip" } }, "cannot be decompressed"],
    ["a redirect loop", { status: 302, headers: { location: PLAIN } }, "has too many redirects"],
    ["a redirect to this machine", { status: 302, headers: { location: "http://127.0.0.1:1/" } }, "is refused"],
    [
      "a redirect to a cloud metadata address",
      { status: 302, headers: { location: "http://169.254.169.254/" } },
      "is refused",
    ],
    ["a redirect to plain http", { status: 302, headers: { location: "http://else.example/" } }, "is refused"],
  ])("no-such-address: %s, after trying the other paths", async (_name, answer, why) => {
    const wrong = await hostWith({ [PLAIN]: answer });
    await expect(lookupBob({ "bob.example": wrong })).rejects.toThrow(failsWith("no-such-address", why));
    expect(wrong.requests).toEqual(PATHS);

    const right = await hostWith({ [PLAIN]: answer, [HASHED]: documentOf() });
    expect(await lookupBob({ "bob.example": right })).toMatchObject({ url: `http://bob.example${HASHED}` });
  });

  it("sends no request to this machine after a redirect", async () => {
    const secret = await hostWith({ "/": documentOf() });
    const bob = await hostWith({ [PLAIN]: { status: 302, headers: { location: secret.url } } });
    await expect(lookupBob({ "bob.example": bob })).rejects.toThrow(failsWith("no-such-address"));
    expect(secret.requests).toEqual([]);
  });

  it("uses https by default", async () => {
    const bob = await hostWith({ [PLAIN]: documentOf() });
    const { ask } = neighbourhood({ "bob.example": bob });
    await expect(lookup(BOB.address, { ask })).rejects.toThrow(failsWith("unreachable"));
    expect(bob.requests).toEqual([]);
  });

  it.each(["bob@127.0.0.1:8080", "bob@10.0.0.1", "bob@[::1]:8080", "bob@localhost:8080", "bob@169.254.169.254"])(
    "address-refused: %s, without a request",
    async (address) => {
      const requests: string[] = [];
      const ask = async (url: string) => {
        requests.push(url);
        throw new TwtxtError("unreachable", "");
      };
      await expect(lookup(address, { ask, plainHosts: ["127.0.0.1:9"] })).rejects.toThrow(
        failsWith("address-refused", "its address is not public"),
      );
      expect(requests).toEqual([]);
    },
  );

  it.each(["", "bob", "bob@", "b@o@b", "bob@bob.example/x"])("bad-address: %j, without a request", async (address) => {
    const requests: string[] = [];
    const ask = async (url: string) => {
      requests.push(url);
      throw new TwtxtError("unreachable", "");
    };
    await expect(lookup(address, { ask })).rejects.toThrow(failsWith("bad-address"));
    await expect(publicLookup(address)).rejects.toThrow(failsWith("bad-address"));
    expect(requests).toEqual([]);
  });
});

describe("a host without a document", () => {
  it("no-such-address: describes each path in one line", async () => {
    const bob = await hostWith({ [HASHED]: { body: "<p>\u001b[31mno\n" } });
    await expect(lookupBob({ "bob.example": bob })).rejects.toThrow(
      failsWith(
        "no-such-address",
        "bob@bob.example publishes no key for messages: on bob.example /.well-known/msg/bob.json answers 404, " +
          "/.well-known/msg/<hash>.json is not JSON, /.well-known/salty/<hash>.json answers 404, " +
          "/.well-known/salty/bob.json answers 404; DNS was not asked for another host.",
      ),
    );
  });

  it("no-such-address: describes equal results once", async () => {
    const bob = await hostWith({});
    await expect(lookupBob({ "bob.example": bob }, { srv: "ENOTFOUND" })).rejects.toThrow(
      failsWith(
        "no-such-address",
        "bob@bob.example publishes no key for messages: each of the 4 places on bob.example answers 404; DNS names no other host.",
      ),
    );
  });

  it.each([429, 500, 503])("unreachable: the host responds with %i at all paths", async (status) => {
    const bob = await hostWith(Object.fromEntries(PATHS.map((path) => [path, { status }])));
    await expect(lookupBob({ "bob.example": bob })).rejects.toThrow(failsWith("unreachable", `answers ${status}`));
    expect(bob.requests).toEqual(PATHS);
  });

  it("unreachable: the host does not exist", async () => {
    await expect(lookupBob({})).rejects.toThrow(
      failsWith("unreachable", "could not be looked up: bob.example did not answer (no such host)"),
    );
  });

  it("unreachable: the host is down, after one request", async () => {
    const bob = await loopbackServer((_request, response) => response.destroy());
    await expect(lookupBob({ "bob.example": bob })).rejects.toThrow(
      failsWith("unreachable", "bob.example did not answer (the connection failed: ECONNRESET)"),
    );
    expect(bob.requests).toHaveLength(1);
  });

  it("unreachable: the host is slow, after one request", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const pass = () => void vi.advanceTimersByTime(PATIENT_MS);
    const silent = await loopbackServer(pass);
    await expect(lookupBob({ "bob.example": silent })).rejects.toThrow(
      failsWith("unreachable", "bob.example did not answer (it took too long)"),
    );
    const slow = await loopbackServer((_request, response) => void response.writeHead(200).write("{", pass));
    await expect(lookupBob({ "bob.example": slow })).rejects.toThrow(
      failsWith("unreachable", "bob.example did not answer (it took too long)"),
    );
    expect([silent.requests.length, slow.requests.length]).toEqual([1, 1]);
  });

  it("unreachable: the requests exceed the total time limit, so that some are not sent", async () => {
    const late = await loopbackServer((_request, response) => {
      if (late.requests.length === 1) passTimeLimits();
      response.writeHead(404).end();
    });
    const hosts = neighbourhood({ "bob.example": late, "host.example": late });
    const network = { ...hosts, resolveSrv: async () => [{ name: "host.example" }] };
    await expect(lookup(BOB.address, network)).rejects.toThrow(failsWith("unreachable", "it took too long"));
    expect(late.requests).toHaveLength(1);
    await expect(lookup(BOB.address, network)).rejects.toThrow(failsWith("no-such-address"));
  });
});

describe("looking up an address by DNS", () => {
  it.each([
    ["the domain has none", () => hostWith({})],
    ["the domain is down", () => loopbackServer((_request, response) => response.destroy())],
  ])("finds the document of the domain on another host if %s", async (_name, domain) => {
    const host = await hostWith({ [HASHED]: documentOf() });
    const found = await lookupBob({ "bob.example": await domain(), "host.example": host }, { srv: ["Host.Example."] });
    expect(found).toEqual({
      address: BOB.address,
      endpoint: ENDPOINT,
      key: BOB.kex,
      url: `http://host.example${HASHED}`,
      byDns: true,
    });
    expect(host.requests).toEqual([PLAIN, HASHED]);
  });

  it("is not done if the domain has a document", async () => {
    const bob = await hostWith({ [SALTY]: documentOf() });
    const host = await hostWith({ [PLAIN]: documentOf({ key: CAROL.kex }) });
    const found = await lookupBob({ "bob.example": bob, "host.example": host }, { srv: ["host.example"] });
    expect(found).toMatchObject({ key: BOB.kex, byDns: false });
    expect(host.requests).toEqual([]);
  });

  it("tries at most three hosts in order, each once", async () => {
    const bob = await hostWith({});
    const none = await hostWith({});
    const late = await hostWith({ [PLAIN]: documentOf() });
    const hosts = { "bob.example": bob, "a.example": none, "b.example": none, "c.example": none, "d.example": late };
    const names = ["bob.example", "a.example", "a.example.", "b.example", "c.example", "d.example"];
    await expect(lookupBob(hosts, { srv: names })).rejects.toThrow(failsWith("no-such-address"));
    expect([bob.requests.length, none.requests.length, late.requests.length]).toEqual([4, 12, 0]);
    expect(await lookupBob(hosts, { srv: ["a.example", "d.example"] })).toMatchObject({ byDns: true });
  });

  it("unreachable: the host from DNS is down, even if the domain responds", async () => {
    const down = await loopbackServer((_request, response) => response.destroy());
    const hosts = { "bob.example": await hostWith({}), "host.example": down };
    await expect(lookupBob(hosts, { srv: ["host.example"] })).rejects.toThrow(
      failsWith("unreachable", "on bob.example answers 404; host.example did not answer"),
    );
  });

  it("no-such-address: the host from DNS has no document, and the domain is down", async () => {
    const down = await loopbackServer((_request, response) => response.destroy());
    const hosts = { "bob.example": down, "host.example": await hostWith({}) };
    await expect(lookupBob(hosts, { srv: ["host.example"] })).rejects.toThrow(failsWith("no-such-address"));
  });

  it.each([
    ["no record", "ENODATA", "DNS names no other host"],
    ["a record that says there is none", ["."], "DNS names no other host"],
    ["an invalid target", ["a b", "a/b", "x.example:22", "\u001b[31m"], "DNS names no other host"],
    ["a failed DNS lookup", "ESERVFAIL", "the DNS lookup for another host failed (ESERVFAIL)"],
    ["an unknown error", "\u001b[31m", "the DNS lookup for another host failed."],
  ])("no-such-address: %s", async (_name, srv, why) => {
    const bob = await hostWith({});
    await expect(lookupBob({ "bob.example": bob }, { srv })).rejects.toThrow(failsWith("no-such-address", why));
  });
});

describe("looking up an address at an IP address", () => {
  it.each(["127.0.0.1", "[::1]"])("does not query DNS: %s", async (host) => {
    const requests: string[] = [];
    const resolveSrv = async (name: string) => {
      requests.push(name);
      return [];
    };
    const { ask } = neighbourhood({});
    const found = lookup(`bob@${host}:8080`, { ask, plainHosts: [`${host}:8080`], resolveSrv });
    await expect(found).rejects.toThrow(failsWith("no-such-address", "DNS has no records for a bare IP address"));
    expect(requests).toEqual([]);
  });
});

describe("looking up many addresses", () => {
  it("looks up each once, at most eight concurrently", async () => {
    const requests: string[] = [];
    let running = 0;
    let maxRunning = 0;
    const look = async (address: string) => {
      requests.push(address);
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await new Promise(setImmediate);
      running -= 1;
      return foundFor(BOB);
    };
    const many = Array.from({ length: 20 }, (_, number) => `${number}@bob.example`);
    await resolveRecipients([...many, ...many], { lookup: look, contacts: new Contacts(memoryStore(), () => 0) });
    expect(requests).toEqual(many);
    expect(maxRunning).toBe(8);
  });
});
