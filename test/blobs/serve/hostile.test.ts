import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../helpers/any-character.js";
import { runs } from "../../helpers/runs.js";
import {
  ALICE,
  API,
  alicesBlobs,
  dump,
  expectRefusal,
  jsonOf,
  outcomeOf,
  propertiesHeader,
  SHARED,
} from "../alices-blobs.js";

const JSON_TYPE = { "content-type": "application/json" };

async function withBlob() {
  const alice = alicesBlobs();
  await alice.put("a", "one", { "content-type": "text/plain" });
  return alice;
}

/** For requests that are refused. */
const alice = await withBlob();

const refused = (send: () => Promise<Response>, status: number, code: string) =>
  expectRefusal(alice, send, status, code);

describe("400 bad-blob-key", () => {
  it.each([
    ["nothing", ""],
    ["a dot", "."],
    ["an encoded dot", "%2e"],
    ["an encoded path upwards", "%2e%2e%2f"],
    ["a path upwards, encoded twice", "%252e%252e%252f"],
    ["a folder", "a/b"],
    ["an encoded folder", "a%2fb"],
    ["a backslash", "a%5cb"],
    ["a slash at the end", "a/"],
    ["a slash at the start", "/a"],
    ["NUL", "a%00"],
    ["a line end", "a%0a"],
    ["an encoded letter", "%61"],
    ["a space", "a%20b"],
    ["Unicode", "\u00e9"],
    ["Unicode digits", "\u0661"],
    ["a colon", "a:b"],
    ["129 bytes", "a".repeat(129)],
    ["600 bytes", "a".repeat(600)],
  ])("%s", async (_, key) => {
    await refused(() => alice.put(key, "two"), 400, "bad-blob-key");
    await refused(() => alice.post(key, {}), 400, "bad-blob-key");
    await refused(() => alice.delete(key), 400, "bad-blob-key");
    await refused(() => alice.get(key), 400, "bad-blob-key");
  });

  it.each([
    ["two dots", ".."],
    ["two encoded dots", "%2E%2e"],
    ["a path upwards", "../x"],
    ["a path that leaves the API and returns", "x/../../xxxxx/a"],
  ])("is not the response to %s, a path outside the API: 404 without a problem", async (_, key) => {
    const before = await dump(alice.store);
    for (const send of [
      () => alice.put(key, "two"),
      () => alice.post(key, {}),
      () => alice.delete(key),
      () => alice.get(key),
    ]) {
      expect(await outcomeOf(await send())).toEqual({ status: 404, code: null });
    }
    expect(await dump(alice.store)).toEqual(before);
  });

  it.each(["a", "A", "0", "...", ".a", "-", "_", "a".repeat(128), "constructor", "__proto__"])(
    "is not the response to %s, a valid key",
    async (key) => {
      const alice = alicesBlobs();
      expect((await alice.put(key, "two")).status).toBe(201);
      expect(await (await alice.get(key)).text()).toBe("two");
    },
  );
});

const EVIL_FILENAMES: [string, string][] = [
  ["a line end", "a\r\nX-Evil: 1"],
  ["a line feed", "a\nb"],
  ["NUL", "a\0"],
  ["a tab", "a\tb"],
  ["DEL", "a\x7f"],
  ["a C1 control character", "a\x85b"],
  ["a line separator", "a\u2028b"],
  ["a bidirectional override", "photo\u202egpj.exe"],
  ["a bidirectional isolate", "photo\u2066gpj.exe"],
  ["a path", "../../etc/passwd"],
  ["a backslash", "C:\\a"],
  ["a dot", "."],
  ["two dots", ".."],
  ["256 characters", "a".repeat(256)],
];

describe("400 bad-metadata", () => {
  it.each(EVIL_FILENAMES)("a file name with %s", async (_, filename) => {
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`;
    await refused(() => alice.post("a", { Filename: filename }), 400, "bad-metadata");
    await refused(() => alice.put("a", "two", { "content-disposition": disposition }), 400, "bad-metadata");
  });

  it.each([
    ["with a lone surrogate in JSON", () => alice.post("a", { Filename: "a\ud800" })],
    ["in invalid UTF-8", () => alice.put("a", "two", { "content-disposition": "a; filename*=UTF-8''%FF" })],
    [
      "with an encoded surrogate",
      () => alice.put("a", "two", { "content-disposition": "a; filename*=UTF-8''%ED%A0%80" }),
    ],
    [
      "with an incomplete percent-encoding",
      () => alice.put("a", "two", { "content-disposition": "a; filename*=UTF-8''%4" }),
    ],
    ["in an unknown character set", () => alice.put("a", "two", { "content-disposition": "a; filename*=x''a" })],
    ["without a character set", () => alice.put("a", "two", { "content-disposition": "a; filename*=a" })],
  ] satisfies [string, () => Promise<Response>][])("an invalid file name, %s", async (_, send) => {
    await refused(send, 400, "bad-metadata");
  });

  it.each([
    ["nothing", ""],
    ["no subtype", "text"],
    ["an empty subtype", "text/"],
    ["two slashes", "text/html/x"],
    ["a space", "text/ html"],
    ["a bracket", "text/html><script>"],
    ["a URL", "javascript:alert(1)"],
    ["two types", "image/png, text/html"],
    ["a parameter without a value", "text/html; charset"],
    ["an unclosed quote", 'text/html; a="b'],
    ["an escape", 'text/html; a="\\""'],
    ["not ASCII", "text/h\u0442ml"],
    ["a line end", "text/html\r\nX-Evil: 1"],
    ["a line end at the end", "text/html\n"],
    ["256 characters", `text/${"a".repeat(251)}`],
  ])("a type with %s", async (_, type) => {
    await refused(() => alice.post("a", { Type: type }), 400, "bad-metadata");
    if (/^[\x20-\x7e]*$/.test(type)) {
      await refused(() => alice.put("a", "two", { "content-type": type }), 400, "bad-metadata");
    }
  });

  it.each([
    ["65 properties", Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`p${at}`, ""]))],
    ["1,000 properties", Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`p${at}`, ""]))],
    ["8 KiB and one byte", { a: "x".repeat(8185) }],
    ["8 KiB and one byte of two-byte letters", { ab: "\u00e9".repeat(4092) }],
    ["an empty name", { "": "x" }],
    ["a name of 65 characters", { ["a".repeat(65)]: "x" }],
    ["a name that starts with a dot", { ".a": "x" }],
    ["a line end in a name", { "a\n": "x" }],
    ["a colon in a name", { "a:b": "x" }],
    ["a non-ASCII letter in a name", { \u00e9: "x" }],
    ["a number as value", { a: 1 }],
    ["null as value", { a: null }],
    ["an object as value", { a: { b: "c" } }],
    ["a lone surrogate in a value", { a: "\udc00" }],
    ["a list", ["a"]],
    ["a string", "a"],
    ["null", null],
  ])("properties: %s", async (_, properties) => {
    const header = propertiesHeader(properties);
    await refused(() => alice.post("a", { Properties: properties }), 400, "bad-metadata");
    await refused(() => alice.put("a", "two", { "blob-properties": header }), 400, "bad-metadata");
  });

  it.each([
    ["a property named __proto__", '{"__proto__":"x"}'],
    ["an object named __proto__", '{"__proto__":{"colour":"red"}}'],
    ["a list nested 100,000 deep", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    ["unclosed objects nested 100,000 deep", '{"a":'.repeat(100_000)],
    ["invalid JSON", "{'a':1}"],
    ["nothing", ""],
    ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
    ["an encoded surrogate", Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d])],
  ])("properties in a header: %s", async (_, text) => {
    const header = `:${Buffer.from(text).toString("base64")}:`;
    await refused(() => alice.put("a", "two", { "blob-properties": header }), 400, "bad-metadata");
    expect(Object({}).colour).toBeUndefined();
  });

  it.each(["{}", '"e30="', "e30=", ":e30=", "e30=:", ":e30=:;a=1", ":e30=:, :e30=:", ":e3-_:", "?1", "()", ""])(
    "properties in a header that is not a byte sequence: %j",
    async (header) => {
      await refused(() => alice.put("a", "two", { "blob-properties": header }), 400, "bad-metadata");
    },
  );

  it.each(["1", "?2", "true", "?1;a", "?1, ?0", "?1, ?1", "? 1", ""])("Blob-Public: %j", async (header) => {
    await refused(() => alice.put("a", "two", { "blob-public": header }), 400, "bad-metadata");
  });

  it.each([
    ["an object named __proto__", '{"__proto__":{"Public":true}}'],
    ["a field named constructor", '{"constructor":"x"}'],
    ["a field named toString", '{"toString":"x"}'],
    ["a name of 60,000 letters", `{"${"x".repeat(60_000)}":1}`],
    ["a line end in a name", '{"a\\nb\\u2028":1}'],
    ["names that differ in case", '{"type":"a/b","Type":"c/d"}'],
    ["10,000 names", `{${Array.from({ length: 10_000 }, (_, at) => `"${at}":1`).join()}}`.slice(0, 65_536)],
    ["properties nested 30,000 deep", `{"Properties":{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}}`],
    ["a property named __proto__", '{"Properties":{"__proto__":"x"}}'],
  ])("JSON with %s", async (_, body) => {
    const send = () => alice.send("POST", `${API}/a`, { body, headers: JSON_TYPE });
    const code = body.endsWith("}") ? "bad-metadata" : "bad-request";
    await refused(send, 400, code);
    expect(Object({}).Public).toBeUndefined();
  });
});

describe("an invalid JSON body", () => {
  it.each([
    ["nothing", "", 400, "bad-request"],
    ["an unclosed list nested 65,536 deep", "[".repeat(65_536), 400, "bad-request"],
    ["unclosed objects", '{"Properties":'.repeat(4000), 400, "bad-request"],
    ["a body over the limit, nested 100,000 deep", "[".repeat(100_000), 413, "body-too-large"],
    ["a megabyte", `{"Filename":"${"x".repeat(2 ** 20)}"}`, 413, "body-too-large"],
    ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), 400, "bad-request"],
    ["UTF-16", Buffer.from('{"Public":true}', "utf16le"), 400, "bad-request"],
    ["two objects", "{}{}", 400, "bad-request"],
    ["NaN", '{"Public":NaN}', 400, "bad-request"],
  ])("%s", async (_, body, status, code) => {
    await refused(() => alice.send("POST", `${API}/a`, { body, headers: JSON_TYPE }), status, code);
  });
});

describe("metadata just within the limits", () => {
  it.each([
    ["64 properties", Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`p${at}`, "x"]))],
    ["8 KiB", { a: "x".repeat(8184) }],
    ["8 KiB of two-byte letters", { a: "\u00e9".repeat(4092) }],
    ["a name of 64 characters", { ["a".repeat(64)]: "x" }],
    [
      "names of properties of JavaScript objects",
      { constructor: "a", prototype: "b", toString: "c", hasOwnProperty: "d" },
    ],
    ["control characters", { a: "\r\n\0\u2028" }],
  ])("is stored and returned unchanged: %s", async (_, properties) => {
    const alice = await withBlob();
    const header = propertiesHeader(properties);
    const headers = { "blob-public": "?1", "blob-properties": header };
    for (const response of [await alice.put("a", "two", headers), await alice.post("a", { Properties: properties })]) {
      expect(response.status).toBe(200);
      expect((await jsonOf(response)).Properties).toEqual(properties);
      expect((await jsonOf(await alice.list())).blobs[0].Properties).toEqual(properties);
      for (const read of [await alice.get("a"), await alice.head("a"), await alice.getShared("a")]) {
        expect(read.headers.get("blob-properties")).toBe(header);
      }
    }
  });
});

/** Texts, some of them valid as metadata and some almost valid. */
const texts = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const metadata = fc.record({
  type: fc.oneof(
    fc.constantFrom("text/plain", "image/svg+xml", 'text/html; charset="utf 8"', "a/b ; c=d;e=f", "X/Y;Z=%'*"),
    fc.string({ maxLength: 10 }).map((text) => `a/b; c="${text}"`),
  ),
  filename: texts,
  isPublic: fc.boolean(),
  properties: fc.dictionary(
    fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,9}$/),
      fc.constantFrom("constructor", "prototype", "valueOf", "1", "01"),
    ),
    texts,
    { maxKeys: 5 },
  ),
});

/** Encodes as in RFC 8187, which escapes more characters than `encodeURIComponent`. */
function extended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

/** The metadata in the headers of a response. */
function read({ headers }: Response) {
  const [, filename = ""] = /; filename\*=UTF-8''([^;]*)$/.exec(headers.get("content-disposition") ?? "") ?? [];
  return {
    type: headers.get("content-type"),
    filename: decodeURIComponent(filename),
    isPublic: headers.get("blob-public") === "?1",
    properties: JSON.parse(Buffer.from(headers.get("blob-properties") ?? "", "base64").toString()),
  };
}

describe("any metadata", () => {
  it("is returned unchanged in headers and in JSON if it is accepted, and changes nothing if not", async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(metadata, fc.boolean(), async (sent, byJson) => {
        const alice = await withBlob();
        const before = await dump(alice.store);
        const { type, filename, isPublic, properties } = sent;
        const response = byJson
          ? await alice.post("a", { Type: type, Filename: filename, Public: isPublic, Properties: properties })
          : await alice.put("a", "two", {
              "content-type": type,
              "content-disposition": `attachment; filename*=UTF-8''${extended(filename)}`,
              "blob-public": isPublic ? "?1" : "?0",
              "blob-properties": propertiesHeader(properties),
            });
        if (response.status === 400) {
          expect(await dump(alice.store)).toEqual(before);
          return;
        }
        accepted += 1;
        expect(response.status).toBe(200);
        for (const current of [await alice.get("a"), await alice.head("a")]) expect(read(current)).toEqual(sent);
        const json = { Type: type, Filename: filename, Public: isPublic, Properties: properties };
        expect(await response.json()).toMatchObject(json);
        const [listed] = (await jsonOf(await alice.list())).blobs;
        expect(listed).toMatchObject(json);
        expect(listed.Properties).toEqual(properties);
        if (isPublic) expect(read(await alice.getShared("a"))).toEqual(sent);
      }),
      { seed: 4, numRuns: runs(24) },
    );
    expect(accepted).toBeGreaterThan(runs(10));
  });
});

describe("any header", () => {
  const part = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom(
      ...['"', ":", ";", ",", "=", "*", "'", "%", "\\", "(", ")", "?1", "bytes=", "-", "filename*=UTF-8''", "%0a"],
      ...["attachment", 'filename="', ":e30=:", "W/", "text/plain", "0", "99999999999999999999", "\t"],
    ),
  );
  const header = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(""));
  const names = ["content-type", "content-disposition", "blob-public", "blob-properties"];
  const conditions = ["if-match", "if-none-match", "range"];
  const open = [...conditions, "if-range", "if-modified-since"];
  const some = (known: string[]) => fc.dictionary(fc.constantFrom(...known), header, { maxKeys: 3 });

  it("never causes an internal error", async () => {
    await fc.assert(
      fc.asyncProperty(some([...names, ...conditions]), some(open), async (signed, unsigned) => {
        const alice = alicesBlobs();
        await alice.put("a", "one", { "blob-public": "?1" });
        const shared = new Request(`${SHARED}/${ALICE.publicKey}/a`, { headers: unsigned });
        const responses = [
          await alice.respond(shared),
          await alice.put("a", "two", signed),
          await alice.get("a", { headers: signed }),
          await alice.delete("a", { headers: signed }),
        ];
        expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
        expect(alice.log).toEqual([]);
      }),
      { seed: 8941, numRuns: runs(30) },
    );
  });

  it("with the length of the body is a valid length or refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(header, fc.integer().map(String)), async (length) => {
        const alice = alicesBlobs();
        const { status } = await alice.put("a", "two", {}, { length });
        expect(status === 201).toBe(/^0*3$/.test(length.replace(/^[\t ]+|[\t ]+$/g, "")));
        expect([201, 400, 413]).toContain(status);
        expect(Object.keys(await dump(alice.store))).toHaveLength(status === 201 ? 2 : 0);
      }),
      { seed: 8941, numRuns: runs(30) },
    );
  });
});
