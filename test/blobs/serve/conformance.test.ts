import { describe, expect, it } from "vitest";
import { memoryStore } from "../../../plugin/store/memory.js";
import {
  ALICE,
  type AlicesBlobs,
  API,
  alicesBlobs,
  CAROL,
  dump,
  EVE,
  outcomeText,
  type RequestChanges,
  SHARED,
  storedBlobs,
} from "../alices-blobs.js";

const STATES = ["absent", "private", "public", "malformed"] as const;
type State = (typeof STATES)[number];
type Table = Record<string, readonly [string, string, string, string]>;

/** Responses to the owner, by state: no blob, a private blob, a public blob, and a malformed key. */
const OWNER = {
  PUT: ["201", "200", "200", "400 bad-blob-key"],
  POST: ["404 not-found", "200", "200", "400 bad-blob-key"],
  DELETE: ["404 not-found", "200", "200", "400 bad-blob-key"],
  HEAD: ["404", "200", "200", "400"],
  GET: ["404 not-found", "200", "200", "400 bad-blob-key"],
  list: ["200", "200", "200", "200"],
} as const satisfies Table;

const NOT_SIGNED = ["401 not-signed", "401 not-signed", "401 not-signed", "400 bad-blob-key"] as const;

/** Responses to a replayed request. Reads may be replayed. */
const REPLAYED: Table = { ...OWNER, PUT: NOT_SIGNED, POST: NOT_SIGNED, DELETE: NOT_SIGNED };

/** Responses to the owner's signature with another body, which is checked after the key. */
const OTHER_BODY: Table = {
  PUT: NOT_SIGNED,
  POST: NOT_SIGNED,
  DELETE: NOT_SIGNED,
  HEAD: ["401", "401", "401", "400"],
  GET: NOT_SIGNED,
  list: ["401 not-signed", "401 not-signed", "401 not-signed", "401 not-signed"],
};

/** Responses to everyone else, for every operation and state. HEAD has no code. */
const OTHERS: [
  credentials: string,
  outcome: string,
  (request: RequestChanges & { url: string; method: string }) => RequestChanges,
][] = [
  ["without a signature", "401 not-signed", () => ({ signer: null })],
  ["with a signature that has expired", "401 wrong-clock", () => ({ signedAt: NOW - 420_000 })],
  ["with a signature of the future", "401 wrong-clock", () => ({ signedAt: NOW + 61_000 })],
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
    "signed with another key in the owner's name",
    "401 not-signed",
    () => ({ signer: { publicKey: ALICE.publicKey, sign: EVE.sign } as typeof ALICE }),
  ],
  ["signed with a key that is not an owner", "403 not-allowed", () => ({ signer: EVE })],
];

type Operation = keyof typeof OWNER;
const OPERATIONS = Object.keys(OWNER) as Operation[];
const CASES = OPERATIONS.flatMap((operation) => STATES.map((state) => ({ operation, state })));

const THEN = Date.parse("2026-11-20T09:00:00Z");
const NOW = Date.parse("2026-11-20T09:00:01Z");

/** The SHA-256 of `old contents`, `new contents`, `another` and `Carol's`. */
const OLD = "f726aa6fad8d88087929664b2f5cc7095d440fabc943f777697caae8475f7945";
const NEW = "6a5f63424a0c878f3b23b7a85dd453523605762e73f536f968f874e57f565d7e";
const ANOTHER = "ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5";
const CAROLS = "958a3292135544a51862626aa2080a41dfbb2ae10a4e7e4c99b65fc9316baade";

/** `{"colour":"red","created":"2026-11-20T09:00:00Z"}`; `created` is part of the owner's proof. */
const PROPERTIES = ":eyJjb2xvdXIiOiJyZWQiLCJjcmVhdGVkIjoiMjAyNi0xMS0yMFQwOTowMDowMFoifQ==:";

/** A store with Alice's `photo` in that state, another blob of hers, and Carol's blob with the key `photo`. */
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

/** The owner's request for an operation. */
function requestFor(operation: Operation, state: State): RequestChanges & { method: string; url: string } {
  const url = operation === "list" ? API : `${API}/${state === "malformed" ? "photo%20of%20me" : "photo"}`;
  if (operation === "PUT")
    return { method: "PUT", url, body: "new contents", headers: { "content-type": "image/png" } };
  if (operation === "POST") {
    return {
      method: "POST",
      url,
      body: '{"Filename":"new.txt"}',
      headers: { "content-type": "application/json" },
    };
  }
  return { method: operation === "list" ? "GET" : operation, url };
}

/** The headers of every refusal. */
const PROBLEM = { "content-type": "application/problem+json", "cache-control": "no-store" };

/** The stored values of Alice's blobs. */
async function ofAlice({ store }: AlicesBlobs): Promise<[string, unknown][]> {
  return Object.entries(await dump(store)).filter(([key]) => key.includes(ALICE.publicKey));
}

/** A whole response as text, for comparison. */
async function wholeOf(response: Response): Promise<string> {
  return JSON.stringify([response.status, [...response.headers], await response.text()]);
}

/** The outcome as in the tables. The body of a response to HEAD is never sent, so it has no code. */
async function outcomeFor(operation: Operation, response: Response): Promise<string> {
  return operation === "HEAD" ? String(response.status) : outcomeText(response);
}

function expected(table: Table, operation: Operation, state: State): string {
  return table[operation]?.[STATES.indexOf(state)] ?? "";
}

describe.each(OTHERS)("a request %s", (_, outcome, changesOf) => {
  // So the response does not depend on what is stored.
  it.each(OPERATIONS)(
    `${outcome} for %s, also with a malformed key, without a call of the store`,
    async (operation) => {
      const untouchable = new Proxy(memoryStore(), {
        get: (_store, call) => () => {
          throw new Error(`Unexpected call of the store: ${String(call)}`);
        },
      });
      const alice = alicesBlobs({ store: untouchable, clock: { time: NOW } });
      const responses = new Set<string>();
      for (const state of ["private", "malformed"] as const) {
        const request = requestFor(operation, state);
        const response = await alice.send(request.method, request.url, { ...request, ...changesOf(request) });
        expect(Object.fromEntries(response.headers)).toEqual(PROBLEM);
        responses.add(await wholeOf(response.clone()));
        expect(await outcomeFor(operation, response)).toBe(operation === "HEAD" ? outcome.slice(0, 3) : outcome);
      }
      expect([responses.size, alice.log]).toEqual([1, []]);
    },
  );
});

describe("another owner of the site", () => {
  it.each(CASES)("can access only their own blobs: $operation, $state", async ({ operation, state }) => {
    const alice = await world(state);
    const before = await ofAlice(alice);
    const { method, url, ...request } = requestFor(operation, state);
    const response = await alice.send(method, url, { ...request, signer: CAROL });
    const text = await response.clone().text();
    expect(await outcomeFor(operation, response)).toBe(
      expected(OWNER, operation, state === "malformed" ? state : "public"),
    );
    if (response.status >= 400) expect(Object.fromEntries(response.headers)).toEqual(PROBLEM);
    if (operation === "GET" && response.status === 200) expect(text).toBe("Carol's");
    expect(text).not.toContain(ALICE.publicKey);
    expect(await ofAlice(alice)).toEqual(before);
  });
});

describe("the owner", () => {
  it.each(CASES)("gets the error of a body that was not signed: $operation, $state", async ({ operation, state }) => {
    const alice = await world(state);
    const before = await dump(alice.store);
    const { method, url, ...request } = requestFor(operation, state);
    const signed = { body: Buffer.from("another body") };
    const response = await alice.send(method, url, { ...request, signed });
    expect(await outcomeFor(operation, response)).toBe(expected(OTHER_BODY, operation, state));
    expect(Object.fromEntries(response.headers)).toEqual(PROBLEM);
    expect(await dump(alice.store)).toEqual(before);
  });

  it.each(CASES)(
    "gets the responses of PROTOCOL 4, and can replay reads, but no writes: $operation, $state",
    async ({ operation, state }) => {
      const alice = await world(state);
      const before = await dump(alice.store);
      const { method, url, ...request } = requestFor(operation, state);
      const send = alice.prepared(method, url, request);
      const response = await send();
      const headers = Object.fromEntries(response.headers);
      const after = await dump(alice.store);
      expect(await outcomeFor(operation, response)).toBe(expected(OWNER, operation, state));
      if (["GET", "HEAD", "list"].includes(operation) || response.status >= 400) expect(after).toEqual(before);
      if (response.status >= 400) expect(headers).toEqual(PROBLEM);

      const replayed = await send();
      expect(await outcomeFor(operation, replayed)).toBe(expected(REPLAYED, operation, state));
      expect(Object.fromEntries(replayed.headers)).toEqual(replayed.status >= 400 ? PROBLEM : headers);
      expect(await dump(alice.store)).toEqual(after);
      expect(alice.log).toEqual([]);
    },
  );
});

/** Blobs that no test may change. */
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

/** The stored record of Alice's `photo`. */
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

/** The JSON of Alice's `photo` in responses. */
function photoJson(changes: object) {
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

const CHANGES: [operation: Operation, state: State, json: object, stored: object][] = [
  [
    "PUT",
    "absent",
    photoJson({ Filename: "", Properties: {}, created: "2026-11-20T09:00:01.000Z" }),
    record({ filename: "", properties: {}, created: "2026-11-20T09:00:01.000Z" }),
  ],
  ["PUT", "private", photoJson({}), record({})],
  ["PUT", "public", photoJson(PUBLIC), record({ isPublic: true })],
  [
    "POST",
    "private",
    photoJson({ sha256: OLD, Type: "text/plain", Filename: "new.txt" }),
    record({ ...UNCHANGED, filename: "new.txt" }),
  ],
  [
    "POST",
    "public",
    photoJson({ sha256: OLD, Type: "text/plain", Filename: "new.txt", ...PUBLIC }),
    record({ ...UNCHANGED, filename: "new.txt", isPublic: true }),
  ],
  [
    "DELETE",
    "private",
    photoJson({
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
    photoJson({
      sha256: OLD,
      Type: "text/plain",
      Properties: { colour: "red", created: "2026-11-20T09:00:00Z" },
      modified: "2026-11-20T09:00:00.000Z",
      Public: true,
    }),
    { isDeleted: true },
  ],
];

describe("a change by the owner", () => {
  it.each(CHANGES)(
    "%s, %s: is in the response and in the store, and nothing else changes",
    async (operation, state, json, stored) => {
      const alice = await world(state);
      const { method, url, ...request } = requestFor(operation, state);
      const response = await alice.send(method, url, request);

      const headers = Object.fromEntries(response.headers);
      const etag = operation === "DELETE" ? {} : { etag: expect.stringMatching(/^"[0-9a-f]{64}"$/) };
      expect(headers).toEqual({ "content-type": "application/json", "cache-control": "no-store", ...etag });
      expect(await response.json()).toEqual(json);
      const { blobs, leftovers } = await storedBlobs(alice.store);
      expect(leftovers).toEqual([]);
      expect(blobs).toHaveLength(3);
      expect(blobs).toEqual(expect.arrayContaining([...BYSTANDERS, stored]));
      expect((await alice.head("photo")).headers.get("etag")).toBe(headers.etag ?? null);
    },
  );
});

describe("a read by the owner", () => {
  it.each([
    ["private", "?0"],
    ["public", "?1"],
  ] as const)(
    "GET and HEAD, %s: the metadata is in headers, and only GET has the contents",
    async (state, isPublic) => {
      const alice = await world(state);
      for (const operation of ["GET", "HEAD"] as const) {
        const { method, url } = requestFor(operation, state);
        const response = await alice.send(method, url);
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
        expect(await response.text()).toBe(operation === "GET" ? "old contents" : "");
      }
    },
  );

  it.each([
    ["absent", []],
    ["private", [{ Public: false, shared: null }]],
    ["public", [PUBLIC]],
  ] as const)("list, %s: has only the owner's blobs", async (state, photo) => {
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
      photoJson({
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

describe("a method", () => {
  it("204: OPTIONS lists the methods, unsigned and in every state", async () => {
    for (const state of STATES) {
      const alice = await world(state);
      for (const [operation, allow] of [
        ["GET", "GET, HEAD, PUT, POST, DELETE, OPTIONS"],
        ["list", "GET, HEAD, OPTIONS"],
      ] as const) {
        const { url } = requestFor(operation, state);
        const response = await alice.send("OPTIONS", url, { signer: null });
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
  ] as const)("405: no %s for %s, signed or not", async (method, operation, allow) => {
    for (const [state, signer] of [
      ["private", ALICE],
      ["private", null],
      ["absent", EVE],
      ["malformed", null],
    ] as const) {
      const alice = await world(state);
      const before = await dump(alice.store);
      const response = await alice.send(method, requestFor(operation, state).url, { signer });
      expect(response.headers.get("allow")).toBe(allow);
      expect(await outcomeText(response)).toBe("405 method-not-allowed");
      expect(await dump(alice.store)).toEqual(before);
    }
  });
});
