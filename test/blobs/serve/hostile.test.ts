import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../helpers/any-character.js";
import { runs } from "../../helpers/runs.js";
import { ALICE, API, alicesBlobs, dump, jsonOf, outcomeOf, propertiesHeader, SHARED } from "../alices-blobs.js";

const JSON_TYPE = { "content-type": "application/json" };

/** Refuses what is sent, in one line, with nothing stored and nothing for the owner to read. */
async function expectRefusal(
  alice: ReturnType<typeof alicesBlobs>,
  ask: () => Promise<Response>,
  status: number,
  code: string,
): Promise<void> {
  const before = await dump(alice.store);
  const response = await ask();
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = await response.json();
  expect(problem).toEqual({ status, code, detail: expect.stringMatching(/^[^\x00-\x1f\u2028\u2029]{1,200}$/) });
  expect(response.status).toBe(status);
  expect(await dump(alice.store)).toEqual(before);
  expect(alice.log).toEqual([]);
}

async function withOne() {
  const alice = alicesBlobs();
  await alice.put("a", "one", { "content-type": "text/plain" });
  return alice;
}

describe("400 bad-blob-key", () => {
  it.each([
    ["nothing", ""],
    ["a dot", "."],
    ["an encoded dot", "%2e"],
    ["an encoded way out", "%2e%2e%2f"],
    ["a way out, encoded twice", "%252e%252e%252f"],
    ["a folder", "a/b"],
    ["an encoded folder", "a%2fb"],
    ["a backslash", "a%5cb"],
    ["a slash at its end", "a/"],
    ["a slash before it", "/a"],
    ["NUL", "a%00"],
    ["a line end", "a%0a"],
    ["a letter that is encoded", "%61"],
    ["a space", "a%20b"],
    ["Unicode", "\u00e9"],
    ["Unicode digits", "\u0661"],
    ["a colon", "a:b"],
    ["129 bytes", "a".repeat(129)],
    ["600 bytes", "a".repeat(600)],
  ])("%s", async (_, key) => {
    const alice = await withOne();
    const refused = (ask: () => Promise<Response>) => expectRefusal(alice, ask, 400, "bad-blob-key");
    await refused(() => alice.put(key, "two"));
    await refused(() => alice.post(key, {}));
    await refused(() => alice.delete(key));
    await refused(() => alice.get(key));
  });

  it.each([
    ["two dots", ".."],
    ["two encoded dots", "%2E%2e"],
    ["a way out", "../x"],
    ["a way round", "x/../../xxxxx/a"],
  ])("is not for %s, which is no path of the API: nothing answers there", async (_, key) => {
    const alice = await withOne();
    const before = await dump(alice.store);
    for (const ask of [
      () => alice.put(key, "two"),
      () => alice.post(key, {}),
      () => alice.delete(key),
      () => alice.get(key),
    ]) {
      expect(await outcomeOf(await ask())).toEqual({ status: 404, code: null });
    }
    expect(await dump(alice.store)).toEqual(before);
  });

  it.each(["a", "A", "0", "...", ".a", "-", "_", "a".repeat(128), "constructor", "__proto__"])(
    "is not for %s, which is one",
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
  ["a control character of C1", "a\x85b"],
  ["a line separator", "a\u2028b"],
  ["a sign that turns the direction", "photo\u202egpj.exe"],
  ["an isolate", "photo\u2066gpj.exe"],
  ["a path", "../../etc/passwd"],
  ["a backslash", "C:\\a"],
  ["a dot", "."],
  ["two dots", ".."],
  ["256 characters", "a".repeat(256)],
];

describe("400 bad-metadata", () => {
  it.each(EVIL_FILENAMES)("a file name with %s", async (_, filename) => {
    const alice = await withOne();
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`;
    await expectRefusal(alice, () => alice.post("a", { Filename: filename }), 400, "bad-metadata");
    await expectRefusal(
      alice,
      () => alice.put("a", "two", { "content-disposition": disposition }),
      400,
      "bad-metadata",
    );
  });

  it.each([
    ["in JSON", (alice) => alice.post("a", { Filename: "a\ud800" })],
    ["of UTF-8 that is none", (alice) => alice.put("a", "two", { "content-disposition": "a; filename*=UTF-8''%FF" })],
    [
      "of an encoded surrogate",
      (alice) => alice.put("a", "two", { "content-disposition": "a; filename*=UTF-8''%ED%A0%80" }),
    ],
    [
      "of a cut-off percent sign",
      (alice) => alice.put("a", "two", { "content-disposition": "a; filename*=UTF-8''%4" }),
    ],
    ["of an unknown character set", (alice) => alice.put("a", "two", { "content-disposition": "a; filename*=x''a" })],
    ["of no character set", (alice) => alice.put("a", "two", { "content-disposition": "a; filename*=a" })],
  ] satisfies [string, (alice: ReturnType<typeof alicesBlobs>) => Promise<Response>][])(
    "a file name that is no text, %s",
    async (_, ask) => {
      const alice = await withOne();
      await expectRefusal(alice, () => ask(alice), 400, "bad-metadata");
    },
  );

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
    ["a quote that is not closed", 'text/html; a="b'],
    ["an escape", 'text/html; a="\\""'],
    ["not ASCII", "text/h\u0442ml"],
    ["a line end", "text/html\r\nX-Evil: 1"],
    ["a line end at its end", "text/html\n"],
    ["256 characters", `text/${"a".repeat(251)}`],
  ])("a type with %s", async (_, type) => {
    const alice = await withOne();
    await expectRefusal(alice, () => alice.post("a", { Type: type }), 400, "bad-metadata");
    if (/^[\x20-\x7e]*$/.test(type)) {
      await expectRefusal(alice, () => alice.put("a", "two", { "content-type": type }), 400, "bad-metadata");
    }
  });

  it.each([
    ["65 of them", Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`p${at}`, ""]))],
    ["1,000 of them", Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`p${at}`, ""]))],
    ["8 KiB and one byte", { a: "x".repeat(8185) }],
    ["8 KiB and one byte of two-byte letters", { ab: "\u00e9".repeat(4092) }],
    ["one with an empty name", { "": "x" }],
    ["one with a name of 65 characters", { ["a".repeat(65)]: "x" }],
    ["one with a dot before its name", { ".a": "x" }],
    ["one with a line end in its name", { "a\n": "x" }],
    ["one with a colon in its name", { "a:b": "x" }],
    ["one with a letter beyond ASCII", { \u00e9: "x" }],
    ["one that is a number", { a: 1 }],
    ["one that is null", { a: null }],
    ["one that is an object", { a: { b: "c" } }],
    ["one with half a character", { a: "\udc00" }],
    ["a list", ["a"]],
    ["a text", "a"],
    ["null", null],
  ])("properties: %s", async (_, properties) => {
    const alice = await withOne();
    const header = propertiesHeader(properties);
    await expectRefusal(alice, () => alice.post("a", { Properties: properties }), 400, "bad-metadata");
    await expectRefusal(alice, () => alice.put("a", "two", { "blob-properties": header }), 400, "bad-metadata");
  });

  it.each([
    ["a prototype", '{"__proto__":"x"}'],
    ["a prototype of an object", '{"__proto__":{"colour":"red"}}'],
    ["a list that is 100,000 deep", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    ["no end, 100,000 deep", '{"a":'.repeat(100_000)],
    ["no JSON", "{'a':1}"],
    ["nothing", ""],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
    ["half a character in UTF-8", Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d])],
  ])("properties in a header, with %s", async (_, text) => {
    const alice = await withOne();
    const header = `:${Buffer.from(text).toString("base64")}:`;
    await expectRefusal(alice, () => alice.put("a", "two", { "blob-properties": header }), 400, "bad-metadata");
    expect(Object({}).colour).toBeUndefined();
  });

  it.each(["{}", '"e30="', "e30=", ":e30=", "e30=:", ":e30=:;a=1", ":e30=:, :e30=:", ":e3-_:", "?1", "()", ""])(
    "properties in a header that is no byte sequence: %j",
    async (header) => {
      const alice = await withOne();
      await expectRefusal(alice, () => alice.put("a", "two", { "blob-properties": header }), 400, "bad-metadata");
    },
  );

  it.each(["1", "?2", "true", "?1;a", "?1, ?0", "?1, ?1", "? 1", ""])("Blob-Public: %j", async (header) => {
    const alice = await withOne();
    await expectRefusal(alice, () => alice.put("a", "two", { "blob-public": header }), 400, "bad-metadata");
  });

  it.each([
    ["a prototype", '{"__proto__":{"Public":true}}'],
    ["a constructor", '{"constructor":"x"}'],
    ["a method of all objects", '{"toString":"x"}'],
    ["a name of 60,000 letters", `{"${"x".repeat(60_000)}":1}`],
    ["a line end in a name", '{"a\\nb\\u2028":1}'],
    ["names that differ in case", '{"type":"a/b","Type":"c/d"}'],
    ["10,000 names", `{${Array.from({ length: 10_000 }, (_, at) => `"${at}":1`).join()}}`.slice(0, 65_536)],
    ["properties that are 30,000 deep", `{"Properties":{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}}`],
    ["a prototype among properties", '{"Properties":{"__proto__":"x"}}'],
  ])("JSON with %s", async (_, body) => {
    const alice = await withOne();
    const ask = () => alice.ask("POST", `${API}/a`, { body, headers: JSON_TYPE });
    const code = body.endsWith("}") ? "bad-metadata" : "bad-request";
    await expectRefusal(alice, ask, 400, code);
    expect(Object({}).Public).toBeUndefined();
  });
});

describe("JSON that is none", () => {
  it.each([
    ["nothing", "", 400, "bad-request"],
    ["an open list that is 65,536 deep", "[".repeat(65_536), 400, "bad-request"],
    ["open objects", '{"Properties":'.repeat(4000), 400, "bad-request"],
    ["more than may be, 100,000 deep", "[".repeat(100_000), 413, "body-too-large"],
    ["a megabyte", `{"Filename":"${"x".repeat(2 ** 20)}"}`, 413, "body-too-large"],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), 400, "bad-request"],
    ["UTF-16", Buffer.from('{"Public":true}', "utf16le"), 400, "bad-request"],
    ["two objects", "{}{}", 400, "bad-request"],
    ["a number that is none", '{"Public":NaN}', 400, "bad-request"],
  ])("%s", async (_, body, status, code) => {
    const alice = await withOne();
    await expectRefusal(alice, () => alice.ask("POST", `${API}/a`, { body, headers: JSON_TYPE }), status, code);
  });
});

describe("what is just within its bounds", () => {
  it.each([
    ["64 properties", Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`p${at}`, "x"]))],
    ["8 KiB", { a: "x".repeat(8184) }],
    ["8 KiB of two-byte letters", { a: "\u00e9".repeat(4092) }],
    ["a name of 64 characters", { ["a".repeat(64)]: "x" }],
    ["the names of what all objects have", { constructor: "a", prototype: "b", toString: "c", hasOwnProperty: "d" }],
    ["control characters", { a: "\r\n\0\u2028" }],
  ])("is kept, and comes back: %s", async (_, properties) => {
    const alice = await withOne();
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

/** Texts of which some are metadata, and some are nearly. */
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

/** RFC 8187, of which `encodeURIComponent` leaves a few characters over. */
function extended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

/** What a reader finds in the headers of an answer. */
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
  it("that is taken comes back as it was, by headers and by JSON; what is not, changes nothing", async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(metadata, fc.boolean(), async (said, byJson) => {
        const alice = await withOne();
        const before = await dump(alice.store);
        const { type, filename, isPublic, properties } = said;
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
        taken += 1;
        expect(response.status).toBe(200);
        for (const answer of [await alice.get("a"), await alice.head("a")]) expect(read(answer)).toEqual(said);
        const told = { Type: type, Filename: filename, Public: isPublic, Properties: properties };
        expect(await response.json()).toMatchObject(told);
        const [listed] = (await jsonOf(await alice.list())).blobs;
        expect(listed).toMatchObject(told);
        expect(listed.Properties).toEqual(properties);
        if (isPublic) expect(read(await alice.getShared("a"))).toEqual(said);
      }),
      { seed: 4, numRuns: runs(100) },
    );
    expect(taken).toBeGreaterThan(runs(50));
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

  it("is answered, by whatever, but never by a mistake of ours", async () => {
    await fc.assert(
      fc.asyncProperty(some([...names, ...conditions]), some(open), async (sent, asked) => {
        const alice = alicesBlobs();
        await alice.put("a", "one", { "blob-public": "?1" });
        const shared = new Request(`${SHARED}/${ALICE.publicKey}/a`, { headers: asked });
        const answers = [
          await alice.answer(shared),
          await alice.put("a", "two", sent),
          await alice.get("a", { headers: sent }),
          await alice.delete("a", { headers: sent }),
        ];
        expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
        expect(alice.log).toEqual([]);
      }),
      { seed: 8941, numRuns: runs(150) },
    );
  });

  it("of a length is a length or refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(header, fc.integer().map(String)), async (length) => {
        const alice = alicesBlobs();
        const { status } = await alice.put("a", "two", {}, { length });
        expect(status === 201).toBe(/^0*3$/.test(length.replace(/^[\t ]+|[\t ]+$/g, "")));
        expect([201, 400, 413]).toContain(status);
        expect(Object.keys(await dump(alice.store))).toHaveLength(status === 201 ? 2 : 0);
      }),
      { seed: 8941, numRuns: runs(150) },
    );
  });
});
