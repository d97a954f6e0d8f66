import { constants, createHash, createHmac, createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { Point, utils, verifyAsync } from "@noble/ed25519";
import fc from "fast-check";
import { type InnerList, type Parameters, parseDictionary, serializeInnerList } from "structured-headers";
import { describe, expect, it } from "vitest";
import { sweepNonces } from "../../plugin/http/nonces.js";
import { readBody } from "../../plugin/http/respond.js";
import {
  formatSignature,
  signatureBase,
  signatureParams,
  signRequest,
  type UnsignedRequest,
} from "../../plugin/http/sign-request.js";
import { type SignaturePolicy, verifyRequest } from "../../plugin/http/signature.js";
import { formatKey } from "../../plugin/keys/key.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { identityOf } from "../helpers/identity.js";
import { loopbackServer } from "../helpers/loopback.js";
import { runs } from "../helpers/runs.js";

interface BaseVector {
  name: string;
  method: string;
  url: string;
  headers: [string, string][];
  input: string;
  base: string[];
  algorithm?: "ed25519" | "hmac-sha256" | "rsa-pss-sha512";
  signature?: string;
}
const vectors = JSON.parse(readFileSync(new URL("../vectors/http-signatures.json", import.meta.url), "utf8")) as {
  keys: {
    ed25519: { seed: string; public: string };
    "hmac-sha256": { secret: string };
    "rsa-pss-sha512": { public: JsonWebKey };
  };
  rfc9421: BaseVector[];
  whole_request: {
    method: string;
    url: string;
    authority: string;
    body: string;
    seed: string;
    key: string;
    created: number;
    headers: Record<string, string>;
  };
};

/** Whether a signature was made with the RFC's key. Ed25519 is deterministic: its signature is made again and compared. */
const isBy = {
  "hmac-sha256": (base: string, signature: Buffer) => {
    const secret = Buffer.from(vectors.keys["hmac-sha256"].secret, "base64");
    return createHmac("sha256", secret).update(base).digest().equals(signature);
  },
  "rsa-pss-sha512": (base: string, signature: Buffer) => {
    const key = createPublicKey({ key: vectors.keys["rsa-pss-sha512"].public, format: "jwk" });
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return verify("sha512", Buffer.from(base), { key, padding, saltLength: 64 }, signature);
  },
  ed25519: (base: string, signature: Buffer) => {
    const { seed, public: publicKey } = vectors.keys.ed25519;
    const signer = identityOf(Buffer.from(seed, "base64"));
    expect(signer.publicKey).toBe(formatKey(Buffer.from(publicKey, "base64")));
    return signature.equals(signer.sign(Buffer.from(base)));
  },
};

const NOW = Date.parse("2026-11-20T10:00:00Z");
const CREATED = NOW / 1000;
const alice = identityOf(1);
const mallory = identityOf(3);
const wrongClock = expect.objectContaining({ code: "wrong-clock" });
const notSigned = expect.objectContaining({ code: "not-signed" });

function terms(more: Partial<SignaturePolicy> = {}): SignaturePolicy {
  const allowed = new Set([alice.publicKey]);
  return { authority: "alice.example", allowed, store: memoryStore(), now: () => NOW, ...more };
}

interface Sent {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array | undefined;
}

/** The request as a handler receives it. */
function received({ method, url, headers, body }: Sent): Request {
  return new Request(url, { method, headers, ...(body && { body: Buffer.from(body) }) });
}

function verified(sent: Sent, at = terms()) {
  return verifiedRequest(received(sent), at);
}

function verifiedRequest(request: Request, at = terms()) {
  return verifyRequest(request, () => readBody(request, 1000), at);
}

const PUT = {
  method: "PUT",
  url: "https://alice.example/api/v1/blob/a%2Fb?x=1&y",
  headers: {
    "content-type": "text/plain",
    "content-disposition": "attachment; filename*=UTF-8''%e2%82%ac.txt",
    "blob-public": "?1",
    "blob-properties": ":e30=:",
    "if-match": '"a", "b"',
    "if-none-match": "*",
    range: "bytes=0-1",
  },
  body: Buffer.from("hello"),
};
const GET = { method: "GET", url: "https://alice.example/api/v1/blob", headers: {} };

function signed(request: UnsignedRequest = PUT, now = NOW): Sent {
  return { ...request, headers: signRequest(request, alice, now) };
}

const REQUIRED = ["@method", "@authority", "@path", "@query"];
const PARAMETERS: [string, string | number][] = [
  ["created", CREATED],
  ["expires", CREATED + 300],
  ["nonce", Buffer.alloc(16, 7).toString("base64")],
  ["keyid", alice.publicKey],
  ["alg", "ed25519"],
];

/** Signs with Alice's key, with any components and parameters. */
function signedAs(request: Sent, components: string[], parameters: Parameters): Sent {
  const { method, url } = request;
  const parts = { method, url, authority: new URL(url).host, headers: new Headers(request.headers) };
  const params = serializeInnerList([components.map((name) => [name, new Map()]), parameters]);
  const signature = alice.sign(Buffer.from(signatureBase(parts, components, params)));
  return { ...request, headers: { ...request.headers, ...formatSignature(params, signature) } };
}

/** A GET request signed with changed parameters; `undefined` omits one. */
function signedWith(changes: Record<string, string | number | boolean | undefined>): Sent {
  const parameters: Parameters = new Map(PARAMETERS);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, value);
  }
  return signedAs(GET, REQUIRED, parameters);
}

describe("the signature base", () => {
  it.each(vectors.rfc9421)("matches RFC 9421: $name", ({ method, url, headers, input, base, algorithm, signature }) => {
    const [items, parameters] = parseDictionary(`sig=${input}`).get("sig") as InnerList;
    const parts = { method, url, authority: new URL(url).host, headers: new Headers(headers) };
    const components = items.map(([component]) => String(component));
    const text = signatureBase(parts, components, signatureParams(components, parameters));

    expect(text).toBe(base.join("\n"));
    if (algorithm && signature) expect(isBy[algorithm](text, Buffer.from(signature, "base64"))).toBe(true);
  });
});

describe("a signed request", () => {
  it("is accepted from another implementation", async () => {
    const { method, url, headers, body, key, created } = vectors.whole_request;
    const at = terms({ allowed: new Set([key]), now: () => created * 1000 });
    const sent = { method, url, headers, body: Buffer.from(body) };
    expect(await verified(sent, at)).toEqual({ owner: key, body: Buffer.from(body) });
  });

  it("covers its method, URL, body and all headers that must be signed", async () => {
    const { headers } = signed();
    expect(headers["signature-input"]).toMatch(
      /^sig=\("@method" "@authority" "@path" "@query" "content-digest" "content-type" "content-disposition" "blob-public" "blob-properties" "if-match" "if-none-match" "range"\);created=1795168800;expires=1795169100;nonce="[A-Za-z0-9+/]{22}==";keyid="kex1\w{58}";alg="ed25519"$/,
    );
    expect(headers["content-digest"]).toBe("sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:");
    expect(await verified(signed())).toEqual({ owner: alice.publicKey, body: PUT.body });
  });

  it("has a new nonce each time", () => {
    const nonces = [1, 2, 3].map(() => /nonce="(.*?)"/.exec(signed().headers["signature-input"] ?? "")?.[1]);
    expect(new Set(nonces).size).toBe(3);
  });

  it.each(["GET", "HEAD", "DELETE"])("may be a %s without a body", async (method) => {
    expect(await verified(signed({ ...GET, method }))).toEqual({ owner: alice.publicKey, body: Buffer.alloc(0) });
  });

  it("may have an empty body", async () => {
    const { owner } = await verified(signed({ ...PUT, body: Buffer.alloc(0) }));
    expect(owner).toBe(alice.publicKey);
  });

  it("is checked against the configured authority, not its Host header", async () => {
    const sent = { ...signed(), url: PUT.url.replace("https://alice.example", "http://10.0.0.1:3000") };
    expect(await verified(sent)).toMatchObject({ owner: alice.publicKey });
  });

  it("is valid when fetch sends it to a real server", async () => {
    const outcomes: unknown[] = [];
    const server = await loopbackServer(async (incoming, response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const);
      const request = new Request(`http://localhost${incoming.url}`, {
        method: incoming.method ?? "",
        headers: Object.fromEntries(headers),
      });
      const at = terms({ authority: server.host });
      outcomes.push(await verifyRequest(request, async () => Buffer.concat(chunks), at).catch((error) => error.code));
      response.end();
    });
    const request = { ...PUT, url: `${server.url}/a%2fb/%C3%A9?q=%20` };
    const headers = signRequest(request, alice, NOW);
    await fetch(request.url, { method: "PUT", headers, body: request.body });
    await fetch(request.url, { method: "PUT", headers, body: "hullo" });
    expect(outcomes).toEqual([{ owner: alice.publicKey, body: PUT.body }, "not-signed"]);
  });
});

describe("401 not-signed", () => {
  it("one bit was changed", async () => {
    const sent = signed();
    const parts = ["method", "url", "body", ...Object.keys(sent.headers)];
    const written = (part: string) =>
      Buffer.from(
        part === "url"
          ? PUT.url.slice("https://alice.example".length)
          : String(Object({ ...sent, ...sent.headers })[part]),
      );
    const flips = parts.flatMap((part) => [...written(part).keys()].map((at) => ({ part, at })));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...flips), fc.nat(7), async ({ part, at }, bit) => {
        const bytes = written(part);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        const request = requestWith(sent, part, bytes);
        // Skips URLs and headers that cannot be sent, and methods that Request converts back to uppercase.
        fc.pre(request !== null && !(part === "method" && request.method === PUT.method));
        await expect(verifiedRequest(request as Request)).rejects.toEqual(notSigned);
      }),
      { numRuns: runs(100), seed: 9421 },
    );
  });

  it.each([...REQUIRED, "content-digest", ...Object.keys(PUT.headers)])("%s is not covered", async (omitted) => {
    const whole = signed();
    const components = [...REQUIRED, "content-digest", ...Object.keys(PUT.headers)];
    const sent = {
      ...whole,
      headers: Object.fromEntries(Object.entries(whole.headers).filter(([n]) => !n.startsWith("sig"))),
    };
    const parameters = new Map(PARAMETERS);

    expect(await verified(signedAs(sent, components, parameters))).toMatchObject({ owner: alice.publicKey });
    const less = signedAs(
      sent,
      components.filter((name) => name !== omitted),
      parameters,
    );
    await expect(verified(less)).rejects.toEqual(notSigned);
  });

  it.each(PARAMETERS)("the parameter %s is missing", async (name) => {
    await expect(verified(signedWith({ [name]: undefined }))).rejects.toMatchObject({
      code: "not-signed",
      message: `The request has no valid signature: its parameter "${name}" is missing or wrong.`,
    });
  });

  it.each([
    ["an unknown parameter", { tag: "app" }],
    ["another algorithm", { alg: "hmac-sha256" }],
    ["created as a string", { created: String(CREATED) }],
    ["created with a fraction", { created: CREATED + 0.5 }],
    ["expires as a boolean", { expires: true }],
    ["a nonce of 15 bytes", { nonce: Buffer.alloc(15).toString("base64") }],
    ["a nonce of 17 bytes", { nonce: Buffer.alloc(17).toString("base64") }],
    ["a nonce in base64 with spare bits", { nonce: "AAAAAAAAAAAAAAAAAAAAAB==" }],
    ["a nonce in base64url", { nonce: Buffer.alloc(16, 0xff).toString("base64url") }],
    ["a key in uppercase", { keyid: alice.publicKey.toUpperCase() }],
    ["an invalid key", { keyid: "alice" }],
    ["a key of small order", { keyid: formatKey(new Uint8Array(32).fill(0).fill(1, 0, 1)) }],
    ["another person's key", { keyid: mallory.publicKey }],
    ["a lifetime of 301 s", { expires: CREATED + 301 }],
    ["expires before created", { created: CREATED + 2, expires: CREATED + 1 }],
  ])("%s", async (_, changes) => {
    const allowed = new Set([alice.publicKey, mallory.publicKey]);
    await expect(verified(signedWith(changes), terms({ allowed }))).rejects.toEqual(notSigned);
  });

  it.each([
    [-61, wrongClock],
    [-60, null],
    [0, null],
    [360, null],
    [361, wrongClock],
  ])("%d s after created, except within 300 s and a clock skew of 60 s", async (age, error) => {
    const outcome = verified(signed(GET), terms({ now: () => NOW + age * 1000 }));
    if (error === null) expect(await outcome).toMatchObject({ owner: alice.publicKey });
    else await expect(outcome).rejects.toEqual(error);
  });

  it.each<[string, string, Record<string, string>]>([
    ["a field that is not sent", "range", {}],
    ["an unknown field", "date", { date: "Fri, 20 Nov 2026 10:00:00 GMT" }],
    ["an unknown derived component", "@scheme", {}],
    ["a component twice", "@path", {}],
  ])("it covers %s", async (_, component, headers) => {
    const values: Record<string, string> = {
      "@method": "GET",
      "@authority": "alice.example",
      "@path": "/api/v1/blob",
      "@query": "?",
      "@scheme": "https",
      range: "bytes=0-1",
      ...headers,
    };
    const parameters = new Map(PARAMETERS);
    const signedBy = (components: string[]) => {
      const lines = components.map((name) => `"${name}": ${values[name]}`);
      const params = signatureParams(components, parameters);
      const signature = alice.sign(Buffer.from([...lines, `"@signature-params": ${params}`].join("\n")));
      return { ...GET, headers: { ...headers, ...formatSignature(params, signature) } };
    };
    expect(await verified(signedBy(REQUIRED))).toMatchObject({ owner: alice.publicKey });
    await expect(verified(signedBy([...REQUIRED, component]))).rejects.toEqual(notSigned);
  });

  it.each<[string, (input: string, signature: string) => Record<string, string>]>([
    ["neither header", () => ({})],
    ["no Signature header", (input) => ({ "signature-input": input })],
    ["no Signature-Input header", (_, signature) => ({ signature })],
    [
      "another label",
      (input, signature) => ({
        "signature-input": input.replace("sig", "sig1"),
        signature: signature.replace("sig", "sig1"),
      }),
    ],
    [
      "a second label",
      (input, signature) => ({ "signature-input": `${input}, b${input}`, signature: `${signature}, b${signature}` }),
    ],
    [
      "a second signature without its input",
      (input, signature) => ({ "signature-input": input, signature: `${signature}, b${signature}` }),
    ],
    ["the label twice", (input, signature) => ({ "signature-input": `${input}, ${input}`, signature })],
    [
      "a parameter twice",
      (input, signature) => ({ "signature-input": input.replace(";created", ";created=1;created"), signature }),
    ],
    [
      "a parameter of a component",
      (input, signature) => ({ "signature-input": input.replace('"@path"', '"@path";req'), signature }),
    ],
    [
      "a component as a token",
      (input, signature) => ({ "signature-input": input.replace('"@path"', "path"), signature }),
    ],
    [
      "whitespace that RFC 8941 serialization does not produce",
      (input, signature) => ({ "signature-input": input.replace(" ", "  "), signature }),
    ],
    ["leading zeros", (input, signature) => ({ "signature-input": input.replace("created=", "created=0"), signature })],
    ["an invalid dictionary", (_, signature) => ({ "signature-input": "sig=(((", signature })],
    ["an item instead of a list", (_, signature) => ({ "signature-input": 'sig="@path"', signature })],
    ["a boolean instead of a list", (_, signature) => ({ "signature-input": "sig", signature })],
    ["a list instead of a signature", (input) => ({ "signature-input": input, signature: "sig=()" })],
    ["a string instead of a signature", (input) => ({ "signature-input": input, signature: 'sig="abc"' })],
    ["a parameter of the signature", (input, signature) => ({ "signature-input": input, signature: `${signature};a` })],
    [
      "a signature of 63 bytes",
      (input) => ({ "signature-input": input, signature: `sig=:${Buffer.alloc(63).toString("base64")}:` }),
    ],
    [
      "base64 without padding",
      (input, signature) => ({ "signature-input": input, signature: signature.replace("==:", ":") }),
    ],
    [
      "base64 with spare bits",
      (input, signature) => ({
        "signature-input": input,
        signature: signature.replace(/.==:$/, (end) => `${nextLetter(end)}==:`),
      }),
    ],
  ])("%s", async (_, change) => {
    const { headers } = signed(GET);
    const changed = change(headers["signature-input"] ?? "", headers.signature ?? "");
    expect(await verified({ ...GET, headers })).toMatchObject({ owner: alice.publicKey });
    await expect(verified({ ...GET, headers: changed })).rejects.toEqual(notSigned);
  });

  it("a signature with the group order added to its second half", async () => {
    const { headers } = signed(GET);
    const bytes = Buffer.from(String(headers.signature).slice("sig=:".length, -1), "base64");
    const order = Point.CURVE().n;
    bytes.set(fromNumber(fromBytes(bytes.subarray(32)) + order), 32);
    const malleable = { ...headers, signature: `sig=:${bytes.toString("base64")}:` };
    await expect(verified({ ...GET, headers: malleable })).rejects.toEqual(notSigned);
  });

  it("a signature that is valid only by the lenient rules of ZIP-215", async () => {
    // The first half is the neutral element in a non-canonical form: its coordinate exceeds the prime of the field.
    const first = Buffer.from("ee".padEnd(62, "f").concat("7f"), "hex");
    const { scalar, pointBytes } = await utils.getExtendedPublicKeyAsync(Buffer.alloc(32, 1));
    const params = signatureParams(REQUIRED, new Map(PARAMETERS));
    const parts = { method: GET.method, url: GET.url, authority: "alice.example", headers: new Headers() };
    const base = Buffer.from(signatureBase(parts, REQUIRED, params));
    const challenge = createHash("sha512").update(first).update(pointBytes).update(base).digest();
    const order = Point.CURVE().n;
    const second = fromNumber(((fromBytes(challenge) % order) * scalar) % order);
    const signature = Buffer.concat([first, second]);

    expect(await verifyAsync(signature, base, pointBytes, { zip215: true })).toBe(true);
    const headers = formatSignature(params, signature);
    await expect(verified({ ...GET, headers })).rejects.toEqual(notSigned);
  });

  it("a header that is not ASCII", () => {
    const headers = { "content-disposition": 'attachment; filename="\u00e9.txt"' };
    expect(() => signRequest({ ...PUT, headers }, alice, NOW)).toThrow('its "content-disposition" is not ASCII');
  });

  it.each([
    ["replaced", { body: Buffer.from("hullo") }],
    ["truncated", { body: Buffer.from("hell") }],
    ["removed", { body: undefined }],
  ])("the body was %s", async (_, change) => {
    await expect(verified({ ...signed(), ...change })).rejects.toEqual(notSigned);
  });

  it("a body was added to a request without one", async () => {
    const sent = { ...signed({ ...GET, method: "DELETE" }), body: Buffer.from("hello") };
    await expect(verified(sent)).rejects.toEqual(notSigned);
  });

  it.each(["sha-512=:AAAA:", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:, sha-512=:AAAA:"])(
    "Content-Digest has another algorithm than SHA-256: %s",
    async (digest) => {
      const sent = { ...PUT, headers: { "content-digest": digest } };
      const whole = signedAs(sent, [...REQUIRED, "content-digest"], new Map(PARAMETERS));
      await expect(verified(whole)).rejects.toEqual(notSigned);
    },
  );

  it("a header that must be signed was added without a signature", async () => {
    const { headers } = signed(GET);
    for (const name of ["content-digest", ...Object.keys(PUT.headers)]) {
      await expect(verified({ ...GET, headers: { ...headers, [name]: "?0" } })).rejects.toEqual(notSigned);
    }
  });

  it.each(["bob.example", "alice.example:8443", "www.alice.example"])(
    "signed for alice.example, received at %s",
    async (authority) => {
      await expect(verified(signed(), terms({ authority }))).rejects.toEqual(notSigned);
    },
  );
});

describe("a write", () => {
  it.each(["PUT", "POST", "DELETE"])("%s is accepted once: the same request again is 401", async (method) => {
    const at = terms();
    const sent = signed({ ...PUT, method });
    expect(await verified(sent, at)).toMatchObject({ owner: alice.publicKey });
    await expect(verified(sent, at)).rejects.toMatchObject({
      code: "not-signed",
      message: "The request has no valid signature: its nonce was used before.",
    });
    expect(await at.store.keys("nonces/")).toHaveLength(1);
  });

  it("is accepted once if identical requests arrive at the same time", async () => {
    const at = terms();
    const sent = signed();
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => verified(sent, at)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("is accepted with a nonce that another key has used", async () => {
    const at = terms({ allowed: new Set([alice.publicKey, mallory.publicKey]) });
    const request = { ...GET, method: "DELETE" };
    const parameters = new Map(PARAMETERS);
    const byAlice = signedAs(request, REQUIRED, parameters);
    const parts = { ...request, authority: "alice.example", headers: new Headers() };
    const others = signatureParams(REQUIRED, new Map([...parameters, ["keyid", mallory.publicKey]]));
    const signature = mallory.sign(Buffer.from(signatureBase(parts, REQUIRED, others)));
    const byMallory = { ...request, headers: formatSignature(others, signature) };

    expect(await verified(byMallory, at)).toMatchObject({ owner: mallory.publicKey });
    expect(await verified(byAlice, at)).toMatchObject({ owner: alice.publicKey });
  });

  it.each([
    ["a read", signed(GET)],
    ["a write with an altered body", { ...signed(), body: Buffer.from("hullo") }],
  ])("%s leaves nothing in the store", async (_, sent) => {
    const at = terms();
    await verified(sent, at).catch(() => {});
    expect(await at.store.keys("")).toEqual([]);
  });
});

describe("403 not-allowed", () => {
  it("a valid signature of a key that is not allowed, before body and store are read", async () => {
    const { store } = terms();
    const sent = { ...signed(), body: Buffer.from("another body") };
    const untouched = () => Promise.reject(new Error("The body was read."));
    const outcome = verifyRequest(received(sent), untouched, terms({ allowed: new Set(), store }));
    await expect(outcome).rejects.toMatchObject({
      code: "not-allowed",
      message: "This key is not allowed to do this.",
    });
    expect(await store.keys("")).toEqual([]);
  });

  it("a valid signature of a key that was allowed for an earlier request", async () => {
    await verified(signed());
    await expect(verified(signed(), terms({ allowed: new Set() }))).rejects.toMatchObject({ code: "not-allowed" });
  });

  it("401 for a forged signature of a key that was allowed before, and for that key in uppercase", async () => {
    await verified(signed());
    await expect(verified({ ...signed(), url: `${PUT.url}&more` })).rejects.toEqual(notSigned);
    const capitals = new Map(PARAMETERS).set("keyid", alice.publicKey.toUpperCase());
    await expect(verified(signedAs(GET, REQUIRED, capitals))).rejects.toEqual(notSigned);
  });

  it("401 for an invalid signature of a key that is not allowed", async () => {
    const sent = { ...signed(), url: `${PUT.url}&more` };
    await expect(verified(sent, terms({ allowed: new Set() }))).rejects.toEqual(notSigned);
  });
});

describe("used nonces", () => {
  it("are stored while their request is valid and for a day, and removed afterwards", async () => {
    const at = terms();
    const sent = signed();
    await verified(sent, at);

    const lastMoment = NOW + 360_000;
    await sweepNonces(at.store, lastMoment, () => false);
    await expect(verified(sent, { ...at, now: () => lastMoment })).rejects.toThrow("its nonce was used before");

    const kept = 25 * 3600_000;
    await sweepNonces(at.store, NOW + kept, () => false);
    expect(await at.store.keys("nonces/")).toHaveLength(1);
    await sweepNonces(at.store, NOW + kept + 60_000, () => true);
    expect(await at.store.keys("nonces/")).toHaveLength(1);
    await sweepNonces(at.store, NOW + kept + 60_000, () => false);
    expect(await at.store.keys("nonces/")).toEqual([]);
  });
});

function requestWith(sent: Sent, part: string, bytes: Buffer): Request | null {
  const value = bytes.toString("latin1");
  try {
    if (part === "method") return received({ ...sent, method: value });
    if (part === "url") return received({ ...sent, url: `https://alice.example${value}` });
    if (part === "body") return received({ ...sent, body: bytes });
    return received({ ...sent, headers: { ...sent.headers, [part]: value } });
  } catch {
    return null;
  }
}

/** Decodes a little-endian number, as Ed25519 encodes it. */
function fromBytes(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
}

function fromNumber(number: bigint): Buffer {
  return Buffer.from(number.toString(16).padStart(64, "0"), "hex").reverse();
}

/** Sets a spare bit: the last letter of 64 bytes in base64 has four bits that must be zero. */
function nextLetter(end: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return letters[letters.indexOf(end.charAt(0)) + 1] ?? "";
}
