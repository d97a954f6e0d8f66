import { describe, expect, it } from "vitest";
import { memoryStore } from "../../../plugin/store/memory.js";
import {
  ALICE,
  type AlicesBlobs,
  API,
  type Asked,
  alicesBlobs,
  CAROL,
  dump,
  EVE,
  kept,
  SHARED,
  shortly,
} from "../alices-blobs.js";

const STATES = ["absent", "private", "public", "malformed"] as const;
type State = (typeof STATES)[number];
type Table = Record<string, readonly [string, string, string, string]>;

/** What the owner is answered where there is no such blob, a private one, a public one, and for what is no key. */
const OWNER = {
  PUT: ["201", "200", "200", "400 bad-blob-key"],
  POST: ["404 not-found", "200", "200", "400 bad-blob-key"],
  DELETE: ["404 not-found", "200", "200", "400 bad-blob-key"],
  HEAD: ["404", "200", "200", "400"],
  GET: ["404 not-found", "200", "200", "400 bad-blob-key"],
  list: ["200", "200", "200", "200"],
} as const satisfies Table;

/** The same for a request that was answered before: what reads may be read twice. */
const REPLAYED: Table = {
  PUT: ["401 not-signed", "401 not-signed", "401 not-signed", "400 bad-blob-key"],
  POST: ["401 not-signed", "401 not-signed", "401 not-signed", "400 bad-blob-key"],
  DELETE: ["401 not-signed", "401 not-signed", "401 not-signed", "400 bad-blob-key"],
  HEAD: OWNER.HEAD,
  GET: OWNER.GET,
  list: OWNER.list,
};

/** The same for the owner's signature with another body, which is looked at after the key. */
const OTHER_BODY: Table = {
  PUT: ["401 not-signed", "401 not-signed", "401 not-signed", "400 bad-blob-key"],
  POST: ["401 not-signed", "401 not-signed", "401 not-signed", "400 bad-blob-key"],
  DELETE: ["401 not-signed", "401 not-signed", "401 not-signed", "400 bad-blob-key"],
  HEAD: ["401", "401", "401", "400"],
  GET: ["401 not-signed", "401 not-signed", "401 not-signed", "400 bad-blob-key"],
  list: ["401 not-signed", "401 not-signed", "401 not-signed", "401 not-signed"],
};

/** What all others are answered, whatever they want and whatever there is; HEAD has no code. */
const OTHERS: [who: string, answer: string, (request: Asked & { url: string; method: string }) => Asked][] = [
  ["without a signature", "401 not-signed", () => ({ signer: null })],
  ["with a signature that has expired", "401 not-signed", () => ({ signedAt: NOW - 420_000 })],
  ["with a signature of the future", "401 not-signed", () => ({ signedAt: NOW + 61_000 })],
  [
    "with a signature for another host",
    "401 not-signed",
    ({ url }) => ({ signed: { url: url.replace("alice.example", "bob.example") } }),
  ],
  ["with a signature for another path", "401 not-signed", ({ url }) => ({ signed: { url: `${url}/x` } })],
  ["with a signature for another query", "401 not-signed", ({ url }) => ({ signed: { url: `${url}?x=1` } })],
  [
    "with a signature for another method",
    "401 not-signed",
    ({ method }) => ({ signed: { method: method === "GET" ? "HEAD" : "GET" } }),
  ],
  [
    "with another signer's name in a signature",
    "401 not-signed",
    () => ({ signer: { publicKey: ALICE.publicKey, sign: EVE.sign } as typeof ALICE }),
  ],
  ["signed by somebody who is not on the list", "403 not-allowed", () => ({ signer: EVE })],
];

type Wanted = keyof typeof OWNER;
const WANTED = Object.keys(OWNER) as Wanted[];
const CASES = WANTED.flatMap((wanted) => STATES.map((state) => ({ wanted, state })));

const THEN = Date.parse("2026-11-20T09:00:00Z");
const NOW = Date.parse("2026-11-20T09:00:01Z");

/** Of `old contents`, `new contents`, `another` and `Carol's`. */
const OLD = "f726aa6fad8d88087929664b2f5cc7095d440fabc943f777697caae8475f7945";
const NEW = "6a5f63424a0c878f3b23b7a85dd453523605762e73f536f968f874e57f565d7e";
const ANOTHER = "ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5";
const CAROLS = "958a3292135544a51862626aa2080a41dfbb2ae10a4e7e4c99b65fc9316baade";

/** `{"colour":"red","created":"2026-11-20T09:00:00Z"}`, of which `created` is a part of the owner's proof. */
const PROPERTIES = ":eyJjb2xvdXIiOiJyZWQiLCJjcmVhdGVkIjoiMjAyNi0xMS0yMFQwOTowMDowMFoifQ==:";

/** Alice's `photo`, as it is in that state; a blob of hers besides; and Carol's of the same key. */
async function world(state: State): Promise<AlicesBlobs> {
  const alice = alicesBlobs({ clock: { time: THEN } });
  await alice.put("photo", "Carol's", { "content-type": "text/plain", "blob-public": "?1" }, { signer: CAROL });
  await alice.put("other", "another", { "content-type": "text/plain" });
  if (state === "private" || state === "public") {
    await alice.put("photo", "old contents", {
      "content-type": "text/plain",
      "content-disposition": "attachment; filename*=UTF-8''old.txt",
      "blob-public": state === "public" ? "?1" : "?0",
      "blob-properties": PROPERTIES,
    });
  }
  alice.clock.time = NOW;
  return alice;
}

/** A request as the owner makes it. */
function requestFor(wanted: Wanted, state: State): Asked & { method: string; url: string } {
  const url = wanted === "list" ? API : `${API}/${state === "malformed" ? "photo%20of%20me" : "photo"}`;
  if (wanted === "PUT") return { method: "PUT", url, body: "new contents", headers: { "content-type": "image/png" } };
  if (wanted === "POST") {
    return {
      method: "POST",
      url,
      body: '{"Filename":"new.txt"}',
      headers: { "content-type": "application/json" },
    };
  }
  return { method: wanted === "list" ? "GET" : wanted, url };
}

/** The headers of every refusal. */
const PROBLEM = { "content-type": "application/problem+json", "cache-control": "no-store" };

/** What is stored of Alice's. */
async function ofAlice({ store }: AlicesBlobs): Promise<[string, unknown][]> {
  return Object.entries(await dump(store)).filter(([key]) => key.includes(ALICE.publicKey));
}

/** All of an answer, byte for byte. */
async function wholeOf(response: Response): Promise<string> {
  return JSON.stringify([response.status, [...response.headers], await response.text()]);
}

/** As a table has it. What a handler says in the body of an answer to HEAD never arrives. */
async function toldIn(wanted: Wanted, response: Response): Promise<string> {
  return wanted === "HEAD" ? String(response.status) : shortly(response);
}

function expected(table: Table, wanted: Wanted, state: State): string {
  return table[wanted]?.[STATES.indexOf(state)] ?? "";
}

describe.each(OTHERS)("somebody %s", (_, answer, asked) => {
  it.each(WANTED)(`${answer} for %s, byte for byte the same whatever there is, and nothing changes`, async (wanted) => {
    const answers = new Set<string>();
    for (const state of STATES) {
      const alice = await world(state);
      const before = await dump(alice.store);
      const request = requestFor(wanted, state);
      const response = await alice.ask(request.method, request.url, { ...request, ...asked(request) });
      expect(Object.fromEntries(response.headers)).toEqual(PROBLEM);
      answers.add(await wholeOf(response.clone()));
      expect(await toldIn(wanted, response)).toBe(wanted === "HEAD" ? answer.slice(0, 3) : answer);
      expect(await dump(alice.store)).toEqual(before);
      expect(alice.log).toEqual([]);
    }
    expect(answers.size).toBe(1);
  });

  it.each(WANTED)(`${answer} for %s, before anything is asked of the store`, async (wanted) => {
    const untouchable = new Proxy(memoryStore(), {
      get: (_store, operation) => () => {
        throw new Error(`The store is asked for ${String(operation)}.`);
      },
    });
    const alice = alicesBlobs({ store: untouchable, clock: { time: NOW } });
    const request = requestFor(wanted, "private");
    const response = await alice.ask(request.method, request.url, { ...request, ...asked(request) });
    expect([response.status, alice.log]).toEqual([Number(answer.slice(0, 3)), []]);
  });
});

describe("another owner of the site", () => {
  it.each(CASES)("gets at their own blobs alone: $wanted, $state", async ({ wanted, state }) => {
    const alice = await world(state);
    const before = await ofAlice(alice);
    const { method, url, ...request } = requestFor(wanted, state);
    const response = await alice.ask(method, url, { ...request, signer: CAROL });
    const text = await response.clone().text();
    expect(await toldIn(wanted, response)).toBe(expected(OWNER, wanted, state === "malformed" ? state : "public"));
    if (response.status >= 400) expect(Object.fromEntries(response.headers)).toEqual(PROBLEM);
    if (wanted === "GET" && response.status === 200) expect(text).toBe("Carol's");
    expect(text).not.toContain(ALICE.publicKey);
    expect(await ofAlice(alice)).toEqual(before);
  });
});

describe("the owner", () => {
  it.each(CASES)("is told that another body was signed: $wanted, $state", async ({ wanted, state }) => {
    const alice = await world(state);
    const before = await dump(alice.store);
    const { method, url, ...request } = requestFor(wanted, state);
    const signed = { body: Buffer.from("another body") };
    const response = await alice.ask(method, url, { ...request, signed });
    expect(await toldIn(wanted, response)).toBe(expected(OTHER_BODY, wanted, state));
    expect(Object.fromEntries(response.headers)).toEqual(PROBLEM);
    expect(await dump(alice.store)).toEqual(before);
  });

  it.each(CASES)("is answered as PROTOCOL 4 says: $wanted, $state", async ({ wanted, state }) => {
    const alice = await world(state);
    const before = await dump(alice.store);
    const { method, url, ...request } = requestFor(wanted, state);
    const response = await alice.ask(method, url, request);

    expect(await toldIn(wanted, response)).toBe(expected(OWNER, wanted, state));
    if (["GET", "HEAD", "list"].includes(wanted) || response.status >= 400) {
      expect(await dump(alice.store)).toEqual(before);
    }
    if (response.status >= 400) expect(Object.fromEntries(response.headers)).toEqual(PROBLEM);
    expect(alice.log).toEqual([]);
  });

  it.each(CASES)("is not believed the same request twice, but where it reads: $wanted, $state", async (at) => {
    const alice = await world(at.state);
    const { method, url, ...request } = requestFor(at.wanted, at.state);
    const send = alice.prepared(method, url, request);
    const first = Object.fromEntries((await send()).headers);
    const before = await dump(alice.store);
    const response = await send();
    expect(await toldIn(at.wanted, response)).toBe(expected(REPLAYED, at.wanted, at.state));
    expect(Object.fromEntries(response.headers)).toEqual(response.status >= 400 ? PROBLEM : first);
    expect(await dump(alice.store)).toEqual(before);
  });
});

/** What is in the store whatever happens. */
const BYSTANDERS = [
  {
    owner: ALICE.publicKey,
    key: "other",
    size: 7,
    sha256: ANOTHER,
    type: "text/plain",
    filename: "",
    isPublic: false,
    properties: {},
    created: "2026-11-20T09:00:00.000Z",
    modified: "2026-11-20T09:00:00.000Z",
    contents: "another",
  },
  {
    owner: CAROL.publicKey,
    key: "photo",
    size: 7,
    sha256: CAROLS,
    type: "text/plain",
    filename: "",
    isPublic: true,
    properties: {},
    created: "2026-11-20T09:00:00.000Z",
    modified: "2026-11-20T09:00:00.000Z",
    contents: "Carol's",
  },
];

/** Alice's `photo` as it is stored. */
function record(changes: object) {
  return {
    owner: ALICE.publicKey,
    key: "photo",
    size: 12,
    sha256: NEW,
    type: "image/png",
    filename: "old.txt",
    isPublic: false,
    properties: { colour: "red" },
    created: "2026-11-20T09:00:00.000Z",
    modified: "2026-11-20T09:00:01.000Z",
    contents: "new contents",
    ...changes,
  };
}

/** Alice's `photo` as it is told. */
function told(changes: object) {
  return {
    owner: ALICE.publicKey,
    key: "photo",
    size: 12,
    sha256: NEW,
    Type: "image/png",
    Public: false,
    Filename: "old.txt",
    Properties: { colour: "red" },
    created: "2026-11-20T09:00:00.000Z",
    modified: "2026-11-20T09:00:01.000Z",
    shared: null,
    ...changes,
  };
}

const PUBLIC = { Public: true, shared: `${SHARED}/${ALICE.publicKey}/photo` };
const UNCHANGED = { sha256: OLD, type: "text/plain", contents: "old contents" };

const CHANGES: [wanted: Wanted, state: State, answer: object, stored: object][] = [
  [
    "PUT",
    "absent",
    told({ Filename: "", Properties: {}, created: "2026-11-20T09:00:01.000Z" }),
    record({ filename: "", properties: {}, created: "2026-11-20T09:00:01.000Z" }),
  ],
  ["PUT", "private", told({}), record({})],
  ["PUT", "public", told(PUBLIC), record({ isPublic: true })],
  [
    "POST",
    "private",
    told({ sha256: OLD, Type: "text/plain", Filename: "new.txt" }),
    record({ ...UNCHANGED, filename: "new.txt" }),
  ],
  [
    "POST",
    "public",
    told({ sha256: OLD, Type: "text/plain", Filename: "new.txt", ...PUBLIC }),
    record({ ...UNCHANGED, filename: "new.txt", isPublic: true }),
  ],
  [
    "DELETE",
    "private",
    told({
      sha256: OLD,
      Type: "text/plain",
      Properties: { colour: "red", created: "2026-11-20T09:00:00Z" },
      modified: "2026-11-20T09:00:00.000Z",
    }),
    { isDeleted: true },
  ],
  [
    "DELETE",
    "public",
    told({
      sha256: OLD,
      Type: "text/plain",
      Properties: { colour: "red", created: "2026-11-20T09:00:00Z" },
      modified: "2026-11-20T09:00:00.000Z",
      Public: true,
    }),
    { isDeleted: true },
  ],
];

describe("what the owner changes", () => {
  it.each(CHANGES)("%s, %s: is told and stored, and nothing else is", async (wanted, state, answer, stored) => {
    const alice = await world(state);
    const { method, url, ...request } = requestFor(wanted, state);
    const response = await alice.ask(method, url, request);

    const headers = Object.fromEntries(response.headers);
    const etag = wanted === "DELETE" ? {} : { etag: expect.stringMatching(/^"[0-9a-f]{64}"$/) };
    expect(headers).toEqual({ "content-type": "application/json", "cache-control": "no-store", ...etag });
    expect(await response.json()).toEqual(answer);
    const { blobs, leftovers } = await kept(alice.store);
    expect(leftovers).toEqual([]);
    expect(blobs).toHaveLength(3);
    expect(blobs).toEqual(expect.arrayContaining([...BYSTANDERS, stored]));
    expect((await alice.head("photo")).headers.get("etag")).toBe(headers.etag ?? null);
  });
});

describe("what the owner reads", () => {
  it.each([
    ["private", "?0"],
    ["public", "?1"],
  ] as const)("GET and HEAD, %s: metadata in headers, and the contents for GET alone", async (state, isPublic) => {
    const alice = await world(state);
    for (const wanted of ["GET", "HEAD"] as const) {
      const { method, url } = requestFor(wanted, state);
      const response = await alice.ask(method, url);
      expect(Object.fromEntries(response.headers)).toEqual({
        "content-type": "text/plain",
        "content-length": "12",
        "content-disposition": "attachment; filename*=UTF-8''old.txt",
        "blob-public": isPublic,
        "blob-properties": PROPERTIES,
        etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
        "last-modified": "Fri, 20 Nov 2026 09:00:00 GMT",
        "accept-ranges": "bytes",
        "cache-control": "private, no-store",
      });
      expect(await response.text()).toBe(wanted === "GET" ? "old contents" : "");
    }
  });

  it.each([
    ["absent", []],
    ["private", [{ Public: false, shared: null }]],
    ["public", [PUBLIC]],
  ] as const)("list, %s: one's own blobs and nobody else's", async (state, photo) => {
    const alice = await world(state);
    const response = await alice.list();
    expect(Object.fromEntries(response.headers)).toEqual({
      "content-type": "application/json",
      "cache-control": "private, no-store",
    });
    const { blobs, next } = Object(await response.json());
    expect(next).toBeNull();
    const other = {
      owner: ALICE.publicKey,
      key: "other",
      size: 7,
      sha256: ANOTHER,
      Type: "text/plain",
      Public: false,
      Filename: "",
      Properties: {},
      created: "2026-11-20T09:00:00.000Z",
      modified: "2026-11-20T09:00:00.000Z",
      shared: null,
    };
    const photos = photo.map((changes) =>
      told({
        sha256: OLD,
        Type: "text/plain",
        Properties: { colour: "red", created: "2026-11-20T09:00:00Z" },
        modified: "2026-11-20T09:00:00.000Z",
        ...changes,
      }),
    );
    expect(blobs).toHaveLength(1 + photos.length);
    expect(blobs).toEqual(expect.arrayContaining([other, ...photos]));
  });
});

describe("any method", () => {
  it("204: OPTIONS tells what there is, to anybody and of anything", async () => {
    for (const state of STATES) {
      const alice = await world(state);
      for (const [wanted, allow] of [
        ["GET", "GET, HEAD, PUT, POST, DELETE, OPTIONS"],
        ["list", "GET, HEAD, OPTIONS"],
      ] as const) {
        const { url } = requestFor(wanted, state);
        const response = await alice.ask("OPTIONS", url, { signer: null });
        expect(await wholeOf(response)).toBe(
          JSON.stringify([
            204,
            [
              ["allow", allow],
              ["cache-control", "private, no-store"],
            ],
            "",
          ]),
        );
      }
    }
  });

  it.each([
    ["PATCH", "GET", "GET, HEAD, PUT, POST, DELETE, OPTIONS"],
    ["PUT", "list", "GET, HEAD, OPTIONS"],
    ["POST", "list", "GET, HEAD, OPTIONS"],
    ["DELETE", "list", "GET, HEAD, OPTIONS"],
  ] as const)("405: no %s for %s, signed or not", async (method, wanted, allow) => {
    for (const [state, signer] of [
      ["private", ALICE],
      ["private", null],
      ["absent", EVE],
      ["malformed", null],
    ] as const) {
      const alice = await world(state);
      const before = await dump(alice.store);
      const response = await alice.ask(method, requestFor(wanted, state).url, { signer });
      expect(response.headers.get("allow")).toBe(allow);
      expect(await shortly(response)).toBe("405 method-not-allowed");
      expect(await dump(alice.store)).toEqual(before);
    }
  });
});
