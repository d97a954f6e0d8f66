import type { LookupAddress } from "node:dns";
import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { GuardOptions } from "../../../plugin/http/guard.js";
import { TimeSlices } from "../../../plugin/http/time-slices.js";
import { SiteIndex } from "../../../plugin/mentions/receive/site-index.js";
import { loopbackServer, strayed } from "../../helpers/loopback.js";
import { freePort } from "../../helpers/ports.js";
import { passTimeLimits } from "../../helpers/time-limits.js";
import { FEED, feedOf, PAGE, verifier } from "../../helpers/verifier.js";
import { feed, page, siteWith } from "../send/bobs-site.js";

const AT = "2026-01-02T03:04:05Z";
const MENTION = `@<alice ${FEED}>`;
const BEFORE = feedOf(["2026-01-01T00:00:00Z hello"]);
const TWT = `${AT}\t${MENTION}\n`;

const proven = { outcome: "proven" };
const unreachable = (isTimeout: boolean) => ({ outcome: "unreachable", isTimeout });
const refused = (code: string) => ({ outcome: "disproven", code, isGone: false });

afterEach(() => expect(strayed).toEqual([]));

/** Lets the time limits pass during the next long computation. */
function passLimitsDuringComputation(): void {
  const { next } = TimeSlices.prototype;
  vi.spyOn(TimeSlices.prototype, "next").mockImplementationOnce(function (this: TimeSlices) {
    passTimeLimits();
    return next.call(this);
  });
  onTestFinished(() => void vi.restoreAllMocks());
}

/** A server whose response a test writes. */
async function bobServer(write: (response: ServerResponse) => void, headers: Record<string, string> = {}) {
  const server = await loopbackServer((_, response) => {
    response.writeHead(200, { "content-type": "text/plain", ...headers });
    write(response);
  });
  return { ...server, twt: `${server.url}/tw.txt#:~:text=${AT}` };
}

describe("a source that redirects", () => {
  it("bad-source: to a URL of more than 2048 characters", async () => {
    const bob = await loopbackServer(({ url }, response) => {
      if (url === "/tw.txt") response.writeHead(302, { location: `/${"a".repeat(2048)}.txt` }).end();
      else response.writeHead(200, { "content-type": "text/plain" }).end(TWT);
    });
    expect(await verifier([bob])(`${bob.url}/tw.txt#:~:text=${AT}`)).toMatchObject(refused("bad-source"));
  });

  it("unreachable, but not by its own timeout: to another host that is slow, which anyone can name in an open redirect", async () => {
    const eve = await loopbackServer(() => passTimeLimits());
    const bob = await loopbackServer((_, response) => void response.writeHead(302, { location: eve.url }).end());
    expect(await verifier([bob, eve])(`${bob.url}/to?${eve.url}#:~:text=${AT}`)).toMatchObject(unreachable(false));
  });
});

describe("a source that redirects to this site", () => {
  it.each(["/posts/hens/", "/tags/hens/", "/"])(
    "bad-source: to %s, because a site does not mention itself",
    async (path) => {
      const own = await loopbackServer((_, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end(`<a href="${PAGE}">quinces</a>`);
      });
      const short = await loopbackServer((_, response) => response.writeHead(302, { location: own.url + path }).end());
      const siteIndex = new SiteIndex({ feeds: [FEED], pages: [PAGE], twts: [] }, own.url);
      expect(await verifier([own, short], { siteIndex })(`${short.url}/x`, PAGE)).toMatchObject(refused("bad-source"));
    },
  );
});

describe("a copy of this site on another host", () => {
  const siteIndex = new SiteIndex({ feeds: [FEED], pages: [PAGE], twts: [] }, "https://alice.example");

  it("bad-source: its feed, which names the URL of this site's feed", async () => {
    const copy = await bobServer((response) =>
      response.end(feedOf([`${AT} Quinces: ${PAGE}`], `# nick = alice\n# url = ${FEED}\n`)),
    );
    expect(await verifier([copy], { siteIndex })(copy.twt, PAGE)).toMatchObject(refused("bad-source"));
  });

  it.each([
    ["canonical", "https://alice.example/posts/hens/"],
    ["webmention", "https://alice.example/webmention"],
  ])("bad-source: a page whose rel=%s is a URL of this site", async (rel, url) => {
    const html = `<html><head><link rel="${rel}" href="${url}"></head><a href="${PAGE}">quinces</a>`;
    const copy = await bobServer((response) => response.end(html), { "content-type": "text/html" });
    expect(await verifier([copy], { siteIndex })(`${copy.url}/`, PAGE)).toMatchObject(refused("bad-source"));
  });
});

describe("a source that cannot be verified", () => {
  it.each([
    ["silent", () => passTimeLimits()],
    [
      "slow",
      (response: ServerResponse) => {
        setInterval(() => response.write("2026-01"), 20).unref();
        setTimeout(passTimeLimits, 50);
      },
    ],
    [
      "silent after its first line",
      (response: ServerResponse) => void response.write("# nick = bob\n", passTimeLimits),
    ],
  ])("unreachable by timeout: %s", async (_, write) => {
    const bob = await bobServer(write);
    expect(await verifier([bob])(bob.twt)).toMatchObject(unreachable(true));
    expect(await verifier([bob])(`${bob.url}/p`, PAGE)).toMatchObject(unreachable(true));
    expect(bob.requests).toEqual(["/tw.txt", "/p"]);
  });

  it("unreachable by timeout: no first byte", async () => {
    const bob = await loopbackServer(() => {});
    const verify = verifier([bob], { firstByteMs: 100 });
    expect(await verify(`${bob.url}/#:~:text=${AT}`)).toMatchObject(unreachable(true));
  });

  it("unreachable by timeout: archives that take too long in total", async () => {
    let part = 0;
    const bob = await bobServer((response) => {
      part += 1;
      if (part === 3) passTimeLimits();
      response.end(feedOf([`2026-02-0${part}T00:00:00Z x`], `# nick = bob\n# prev = abcdefg ${part}.txt\n`));
    });
    expect(await verifier([bob])(bob.twt)).toMatchObject(unreachable(true));
    expect(bob.requests).toHaveLength(3);
  });

  it.each([
    ["own URL", "?1", ""],
    ["feed", "", '<link rel="alternate" type="text/plain" href="/slow">'],
  ])("unreachable by timeout: a page whose %s did not respond in time", async (_, query, head) => {
    const bob = await loopbackServer((request, response) => {
      if (request.url === (query ? "/p" : "/slow")) return passTimeLimits();
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<title>p</title>${head}<a href="${PAGE}">x</a>`);
    });
    const proof = await verifier([bob])(`${bob.url}/p${query}`, PAGE);
    expect(proof).toMatchObject(unreachable(true));
    expect(bob.requests).toHaveLength(2);
  });

  const gzip = { "content-encoding": "gzip" };
  const MEGABYTE = 1 << 20;

  it("unreachable by timeout: a complete feed that takes too long to search", async () => {
    const lines = Buffer.alloc(8 * MEGABYTE, `${AT}\t@<bob http://bob.example/>${"@<http://a>".repeat(50)}\n`);
    const body = gzipSync(lines);
    const bob = await bobServer((response) => response.end(body), gzip);
    passLimitsDuringComputation();
    expect(await verifier([bob])(bob.twt)).toMatchObject(unreachable(true));
  });

  it.each([
    ["a page", "text/html", '<a href="http://bob.example/">'],
    ["a text", "text/plain", "http://a "],
  ])("unreachable by timeout: %s that arrives in time but takes too long to search", async (_, type, unit) => {
    const body = gzipSync(Buffer.alloc(MEGABYTE, unit));
    const bob = await bobServer((response) => response.end(body), { ...gzip, "content-type": type });
    passLimitsDuringComputation();
    expect(await verifier([bob])(`${bob.url}/p`, PAGE)).toMatchObject(unreachable(true));
  });

  it("unreachable: pages that wait for each other until the deadline", async () => {
    const body = gzipSync(Buffer.alloc(MEGABYTE, '<a href="http://bob.example/">'));
    const bob = await bobServer((response) => response.end(body), { ...gzip, "content-type": "text/html" });
    const verify = verifier([bob]);
    passLimitsDuringComputation();
    const proofs = await Promise.all([1, 2, 3].map((n) => verify(`${bob.url}/${n}`, PAGE)));
    expect(proofs).toMatchObject([1, 2, 3].map(() => ({ outcome: "unreachable" })));
  });

  it("unreachable: no server, no TLS, or an unknown host name", async () => {
    const plain = createServer((socket) => socket.end("not TLS", () => socket.destroy()));
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    const { port } = plain.address() as { port: number };
    const closed = `127.0.0.1:${await freePort()}`;
    const verify = verifier([{ host: `127.0.0.1:${port}` }, { host: closed }], { lookup: names({}) });
    expect(await verify(`https://127.0.0.1:${port}/#:~:text=${AT}`)).toMatchObject(unreachable(false));
    await new Promise((resolve) => plain.close(resolve));
    expect(await verify(`http://${closed}/#:~:text=${AT}`)).toMatchObject(unreachable(false));
    expect(await verify("https://nobody.example/p", PAGE)).toMatchObject(unreachable(false));
  });
});

describe("a feed that is cut off", () => {
  const cutOff = (text: string) => (response: ServerResponse) => {
    response.write(text);
    setTimeout(() => response.destroy(), 20);
  };

  it("proven: after the twt", async () => {
    const bob = await bobServer(cutOff(`${BEFORE}${TWT}2026-01-03T00`));
    expect(await verifier([bob])(bob.twt)).toMatchObject(proven);
  });

  it.each([
    ["before the twt", BEFORE],
    ["in the middle of the twt, which may continue differently", `${BEFORE}${AT}\t${PAGE}`],
    ["after a twt of the same second, before one with the exact time", `${BEFORE}${TWT.replace("Z", ".5Z")}`],
  ])("unreachable: %s", async (_, text) => {
    const bob = await bobServer(cutOff(text));
    expect(await verifier([bob])(bob.twt, text.includes(PAGE) ? PAGE : FEED)).toMatchObject(unreachable(false));
  });

  it("unreachable: shorter than its Content-Length", async () => {
    const bob = await rawServer(`HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n${BEFORE}`);
    expect(await verifier([bob])(`${bob.url}/#:~:text=${AT}`)).toMatchObject(unreachable(false));
  });

  it("proven: longer than its Content-Length, with the twt before that", async () => {
    const text = `${BEFORE}${TWT}`;
    const bob = await rawServer(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}${"x".repeat(5000)}`);
    expect(await verifier([bob])(`${bob.url}/#:~:text=${AT}`)).toMatchObject(proven);
  });
});

describe("a page that is cut off", () => {
  const type = { "content-type": "text/html" };
  const half = (text: string) => (response: ServerResponse) => {
    response.write(text);
    setTimeout(() => response.destroy(), 20);
  };

  it("proven: after the link", async () => {
    const bob = await bobServer(half(`<p><a href="${PAGE}">x</a><p>and`), type);
    expect(await verifier([bob])(`${bob.url}/p`, PAGE)).toMatchObject(proven);
  });

  it.each([
    ["in the middle of the link", `<p>hello <a href="${PAGE}`, type],
    ["at the end of a URL in plain text, which may continue", `hello ${PAGE}`, { "content-type": "text/plain" }],
  ])("unreachable: %s", async (_, text, headers) => {
    const bob = await bobServer(half(text), headers);
    expect(await verifier([bob])(`${bob.url}/p`, PAGE)).toMatchObject(unreachable(false));
  });
});

describe("a source that is too large", () => {
  /** A hundred gigabytes, as a hundred megabytes of gzip: ten thousand times the same ten megabytes of zeros. */
  const zeros = gzipSync(Buffer.alloc(10 << 20));
  let poured = 0;
  const pour = (response: ServerResponse, chunk: Buffer, left = 10_000): void => {
    poured += 1;
    if (left > 0 && !response.destroyed) response.write(chunk, () => pour(response, chunk, left - 1));
  };

  it("too-large: only reads the start of a hundred gigabytes of zeros in gzip", async () => {
    const bob = await bobServer((response) => pour(response, zeros), { "content-encoding": "gzip" });
    const verify = verifier([bob]);
    expect(await verify(bob.twt)).toMatchObject(refused("too-large"));
    expect(await verify(`${bob.url}/p`, PAGE)).toMatchObject(refused("too-large"));
    expect(poured).toBeLessThan(10_000);
  });

  it("proven: a twt before the limit, after decompression", async () => {
    const start = gzipSync(`${BEFORE}${TWT}`);
    const bob = await bobServer((response) => pour(response, Buffer.concat([start, zeros])), {
      "content-encoding": "gzip",
    });
    expect(await verifier([bob])(bob.twt)).toMatchObject(proven);
  });

  it("too-large: an endless feed without a line end", async () => {
    const bob = await bobServer((response) => pour(response, Buffer.alloc(1 << 16, "x")));
    expect(await verifier([bob])(bob.twt)).toMatchObject(refused("too-large"));
  });

  it.each([
    ["line ends", "\n"],
    ["comments", "#\n"],
    ["fields", "# a = b\n"],
    ["lines that are not twts", "2\n"],
  ])(
    "too-large: eight megabytes of %s in a few kilobytes of gzip: reading ends after 200,000 lines",
    async (_, line) => {
      const body = gzipSync(Buffer.alloc(8 << 20, line));
      expect(body.length).toBeLessThan(100_000);
      const bob = await bobServer((response) => response.end(body), { "content-encoding": "gzip" });
      expect(await verifier([bob])(bob.twt)).toMatchObject(refused("too-large"));
    },
  );

  it("proven: a twt before the line limit", async () => {
    const bob = await bobServer((response) => response.end(`${BEFORE}${TWT}${"\n".repeat(300_000)}`));
    expect(await verifier([bob])(bob.twt)).toMatchObject(proven);
  });

  it("proven: a twt of the same second before the limit, without an exact match", async () => {
    const bob = await bobServer((response) => {
      response.write(`${BEFORE}${TWT.replace("Z", ".5Z")}`);
      pour(response, Buffer.from("2027-01-01T00:00:00Z\tx\n".repeat(3000)));
    });
    expect(await verifier([bob])(bob.twt)).toMatchObject(proven);
  });
});

describe("an error of the sender", () => {
  it("bad-compression: damaged, or an unknown encoding", async () => {
    const answer = feed(`${BEFORE}${TWT}`);
    for (const encoding of ["gzip", "br", "zstd"]) {
      const bob = await siteWith(() => ({
        "/tw.txt": { ...answer, headers: { ...answer.headers, "content-encoding": encoding } },
      }));
      expect(await verifier([bob])(`${bob.url}/tw.txt#:~:text=${AT}`)).toMatchObject(refused("bad-compression"));
      expect(await verifier([bob])(`${bob.url}/tw.txt`, PAGE)).toMatchObject(refused("bad-compression"));
    }
  });

  it("too-many-redirects: a loop, and a sixth redirect", async () => {
    const bob = await siteWith(() => ({
      "/a": { status: 302, headers: { location: "/b" } },
      "/b": { status: 302, headers: { location: "/a" } },
      ...Object.fromEntries(
        [...Array(9).keys()].map((n) => [`/${n}`, { status: 301, headers: { location: `/${n + 1}` } }]),
      ),
    }));
    expect(await verifier([bob])(`${bob.url}/a#:~:text=${AT}`)).toMatchObject(refused("too-many-redirects"));
    expect(await verifier([bob])(`${bob.url}/0`, PAGE)).toMatchObject(refused("too-many-redirects"));
    expect(bob.requests).toEqual(["/a", "/b", "/0", "/1", "/2", "/3", "/4", "/5"]);
  });

  it("too-many-redirects: 30 requests, with at most five redirects for each part", async () => {
    const eve = await loopbackServer((request, response) => {
      const [, part = 0, left = 0] = (request.url ?? "").split(/[/?]/).map(Number);
      if (left > 0) response.writeHead(302, { location: `/${part}/${left - 1}` }).end();
      else if (part < 9)
        response.end(feedOf(["2026-02-01T00:00:00Z x"], `# url = /0/5\n# prev = abcdefg /${part + 1}/5\n`));
      else response.end(feedOf([`${AT} ${MENTION}`]));
    });
    expect(await verifier([eve])(`${eve.url}/0/5?x#:~:text=${AT}`)).toMatchObject(refused("too-many-redirects"));
    expect(eve.requests).toHaveLength(30);
  });

  it("address-refused: a private address, direct, after a redirect or mapped to IPv6", async () => {
    const secret = await siteWith(() => ({ "/tw.txt": feed(`${BEFORE}${TWT}`) }));
    const bob = await siteWith(() => ({ "/tw.txt": { status: 302, headers: { location: `${secret.url}/tw.txt` } } }));
    for (const url of [
      `${secret.url}/tw.txt`,
      `${bob.url}/tw.txt`,
      `http://[::ffff:127.0.0.1]:${secret.port}/tw.txt`,
    ]) {
      expect(await verifier([bob])(`${url}#:~:text=${AT}`)).toMatchObject(refused("address-refused"));
      expect(await verifier([bob])(url, PAGE)).toMatchObject(refused("address-refused"));
    }
    expect(secret.requests).toEqual([]);
  });

  it("address-refused: a name with a private address, alone or among several", async () => {
    const lookup = names({ "bob.example": ["127.0.0.1"], "carol.example": ["93.184.215.14", "::ffff:10.0.0.1"] });
    for (const name of ["bob.example", "carol.example"]) {
      const url = `http://${name}:8080/#:~:text=${AT}`;
      expect(await verifier([], { lookup })(url)).toMatchObject(refused("address-refused"));
    }
  });
});

describe("a blocked source", () => {
  it("blocked: not requested directly, after a redirect or as an archive", async () => {
    const mallory = await siteWith(() => ({ "/tw.txt": feed(`${BEFORE}${TWT}`), "/p": page(`<a href="${PAGE}">`) }));
    const bob = await siteWith(() => ({
      "/tw.txt": { status: 302, headers: { location: `${mallory.url}/tw.txt` } },
      "/p": { status: 302, headers: { location: `${mallory.url}/p` } },
      "/feed.txt": feed(feedOf(["2026-02-01T00:00:00Z x"], "# nick = bob\n# prev = abcdefg archive.txt\n")),
      "/archive.txt": feed(`${BEFORE}${TWT}`),
    }));
    const block = [mallory.host, `${bob.url}/archive.txt`];
    const verify = verifier([bob, mallory], { block });
    for (const url of [`${mallory.url}/tw.txt`, `${bob.url}/tw.txt`, `${bob.url}/feed.txt`]) {
      expect(await verify(`${url}#:~:text=${AT}`)).toMatchObject(refused("blocked"));
    }
    expect(await verify(`${bob.url}/p`, PAGE)).toMatchObject(refused("blocked"));
    expect(mallory.requests).toEqual([]);
    expect(bob.requests).toEqual(["/tw.txt", "/feed.txt", "/p"]);
  });

  it("blocked: a feed behind a redirect from a blocked URL", async () => {
    const bob = await siteWith(() => ({
      "/a": { status: 302, headers: { location: "/b" } },
      "/b": { status: 302, headers: { location: "/tw.txt" } },
      "/tw.txt": feed(`${BEFORE}${TWT}`),
    }));
    expect(await verifier([bob])(`${bob.url}/a#:~:text=${AT}`)).toMatchObject(proven);
    expect(await verifier([bob], { block: [`${bob.url}/b`] })(`${bob.url}/a#:~:text=${AT}`)).toMatchObject(
      refused("blocked"),
    );
  });
});

/** A server that responds to every request with these bytes. */
async function rawServer(answer: string) {
  const server = createServer((socket) => socket.once("data", () => socket.end(answer)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  return { host, url: `http://${host}` };
}

/** Resolves these host names; all others are unknown. */
function names(addresses: Record<string, string[]>): NonNullable<GuardOptions["lookup"]> {
  const resolve = (name: string, _: unknown, callback: (error: Error | null, found: LookupAddress[]) => void) => {
    const found = (addresses[name] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const error = found.length > 0 ? null : Object.assign(new Error(`ENOTFOUND ${name}`), { code: "ENOTFOUND" });
    callback(error, found);
  };
  return resolve as never;
}
