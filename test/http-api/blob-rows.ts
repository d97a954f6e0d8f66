// test/http-api/blob-rows.ts: what is asked about blobs.
import { EVE } from "./asking.js";
import { type Given, type Row, rows, rowsOfEach } from "./rows.js";

const BLOB = "/api/v1/blob/{key}";
const SHARED = "/shared/{owner}/{key}";

const NO_KEY: Given = { asked: { parameters: { key: "a%20b" } } };
const OTHER_VERSION: Given = { asked: { headers: { "if-match": '"another"' } } };
const SAME_VERSION: Given = { asked: { headers: { "if-none-match": "*" } } };
const PART: Given = { asked: { headers: { range: "bytes=2-6" } }, headers: { "content-range": "bytes 2-6/17" } };
const NO_PART: Given = { asked: { headers: { range: "bytes=17-" } }, headers: { "content-range": "bytes */17" } };

const list: Row[] = [
  ...rowsOfEach(
    ["GET /api/v1/blob", "HEAD /api/v1/blob"],
    [
      ["200", "all that there is"],
      ["400 bad-request", "there is no such limit", { asked: { query: "limit=0" } }],
    ],
  ),
  ...rows("OPTIONS /api/v1/blob", [["204", "there are three methods"]]),
];

const changed: Row[] = [
  ...rows(`PUT ${BLOB}`, [
    ["201", "it is new", { isNew: true, json: { size: 17, Filename: "hello.json", Public: true } }],
    ["200", "it is replaced"],
    ["200", "the CDN could not be purged", { site: { isDeaf: true }, json: { purged: false } }],
    ["400 bad-blob-key", "the key has a space", NO_KEY],
    ["400 bad-metadata", "it is neither public nor not", { asked: { headers: { "blob-public": "yes" } } }],
    ["400 bad-request", "the body breaks off", { isCut: true }],
    [
      "400 wrong-content-address",
      "the key is the hash of something else",
      { asked: { parameters: { key: "0".repeat(64) } } },
    ],
    [
      "411 length-required",
      "nobody says how much comes",
      {
        site: { blobs: { maxBytes: 8 * 2 ** 20 } },
        asked: { headers: { "transfer-encoding": "chunked" }, body: Buffer.alloc(4 * 2 ** 20 + 1) },
      },
    ],
    ["412 precondition-failed", "it is there already", SAME_VERSION],
    ["415 bad-content-type", "it is compressed", { asked: { headers: { "content-encoding": "gzip" } } }],
    ["507 quota-exceeded", "the owner may keep none", { isNew: true, site: { blobs: { count: 0 } } }],
  ]),
  ...rows(`POST ${BLOB}`, [
    ["200", "it is private now", { json: { Public: false, shared: null } }],
    ["400 bad-blob-key", "the key has a space", NO_KEY],
    ["400 bad-metadata", "nobody knows this field", { asked: { body: '{"Colour":"red"}' } }],
    ["400 bad-request", "it is no JSON", { asked: { body: "Public" } }],
    ["404 not-found", "there is none", { isNew: true }],
    ["412 precondition-failed", "it is another version", OTHER_VERSION],
    ["415 bad-content-type", "it is called something else", { asked: { headers: { "content-type": "text/plain" } } }],
  ]),
  ...rows(`DELETE ${BLOB}`, [
    ["200", "it is gone", { json: { key: "hello.json", shared: null } }],
    ["400 bad-blob-key", "the key has a space", NO_KEY],
    ["404 not-found", "there is none", { isNew: true }],
    ["412 precondition-failed", "it is another version", OTHER_VERSION],
  ]),
];

const read: Row[] = [
  ...rowsOfEach(
    [`GET ${BLOB}`, `HEAD ${BLOB}`],
    [
      [
        "200",
        "all of it",
        { headers: { "blob-public": "?1", "content-type": "application/json", "content-length": "17" } },
      ],
      ["304", "it is as it was", SAME_VERSION],
      ["400 bad-blob-key", "the key has a space", NO_KEY],
      ["404 not-found", "there is none", { isNew: true }],
      ["412 precondition-failed", "it is another version", OTHER_VERSION],
    ],
  ),
  ...rows(`GET ${BLOB}`, [
    ["206", "a part of it", PART],
    ["416 range-not-satisfiable", "it is shorter", NO_PART],
  ]),
  ...rows(`OPTIONS ${BLOB}`, [["204", "there are six methods"]]),
];

const shared: Row[] = [
  ...rowsOfEach(
    [`GET ${SHARED}`, `HEAD ${SHARED}`],
    [
      [
        "200",
        "all of it, and a copy for the CDN",
        {
          headers: { "netlify-cdn-cache-control": "public, durable, s-maxage=3600", "content-length": "17" },
        },
      ],
      ["304", "it is as it was", SAME_VERSION],
      ["404 not-found", "there is none", { isNew: true }],
      ["404 not-found", "it is private", { before: ({ ask }) => ask("POST", BLOB) }],
      ["404 not-found", "the key has a space", NO_KEY],
      ["404 not-found", "nobody of this key keeps blobs here", { asked: { parameters: { owner: EVE.publicKey } } }],
      ["412 precondition-failed", "it is another version", OTHER_VERSION],
    ],
  ),
  ...rows(`GET ${SHARED}`, [
    [
      "206",
      "a part of it, and no copy for the CDN",
      {
        ...PART,
        headers: { ...PART.headers, "netlify-cdn-cache-control": "no-store" },
      },
    ],
    ["416 range-not-satisfiable", "it is shorter", NO_PART],
  ]),
  ...rows(`OPTIONS ${SHARED}`, [["204", "there are three methods"]]),
];

export const BLOB_ROWS = [...list, ...changed, ...read, ...shared];
