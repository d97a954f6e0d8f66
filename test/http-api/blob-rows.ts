// test/http-api/blob-rows.ts: requests for blobs.
import { EVE } from "./asking.js";
import { type Row, type RowOptions, rows, rowsOfEach } from "./rows.js";

const BLOB = "/api/v1/blob/{key}";
const SHARED = "/shared/{owner}/{key}";

const INVALID_KEY: RowOptions = { request: { parameters: { key: "a%20b" } } };
const OTHER_VERSION: RowOptions = { request: { headers: { "if-match": '"another"' } } };
const SAME_VERSION: RowOptions = { request: { headers: { "if-none-match": "*" } } };
const PART: RowOptions = { request: { headers: { range: "bytes=2-6" } }, headers: { "content-range": "bytes 2-6/17" } };
const NO_PART: RowOptions = {
  request: { headers: { range: "bytes=17-" } },
  headers: { "content-range": "bytes */17" },
};

const list: Row[] = [
  ...rowsOfEach(
    ["GET /api/v1/blob", "HEAD /api/v1/blob"],
    [
      ["200", "all blobs"],
      ["400 bad-request", "an invalid limit", { request: { query: "limit=0" } }],
    ],
  ),
  ...rows("OPTIONS /api/v1/blob", [["204", "the three methods"]]),
];

const changed: Row[] = [
  ...rows(`PUT ${BLOB}`, [
    ["201", "a new blob", { isNew: true, json: { size: 17, Filename: "hello.json", Public: true } }],
    ["200", "a replaced blob"],
    ["200", "a CDN that could not be purged", { site: { isCdnDown: true }, json: { purged: false } }],
    ["400 bad-blob-key", "a space in the key", INVALID_KEY],
    ["400 bad-metadata", "an invalid Blob-Public", { request: { headers: { "blob-public": "yes" } } }],
    ["400 bad-request", "a truncated body", { isTruncated: true }],
    [
      "400 wrong-content-address",
      "a key that is the hash of other content",
      { request: { parameters: { key: "0".repeat(64) } } },
    ],
    [
      "411 length-required",
      "a large body without a Content-Length",
      {
        site: { blobs: { maxBytes: 8 * 2 ** 20 } },
        request: { headers: { "transfer-encoding": "chunked" }, body: Buffer.alloc(4 * 2 ** 20 + 1) },
      },
    ],
    ["412 precondition-failed", "a condition for a new blob, but the blob exists", SAME_VERSION],
    ["415 bad-content-type", "a compressed body", { request: { headers: { "content-encoding": "gzip" } } }],
    ["507 quota-exceeded", "an owner whose quota is no blobs", { isNew: true, site: { blobs: { count: 0 } } }],
  ]),
  ...rows(`POST ${BLOB}`, [
    ["200", "a public blob that becomes private", { json: { Public: false, shared: null } }],
    ["400 bad-blob-key", "a space in the key", INVALID_KEY],
    ["400 bad-metadata", "an unknown field", { request: { body: '{"Colour":"red"}' } }],
    ["400 bad-request", "a body that is not JSON", { request: { body: "Public" } }],
    ["404 not-found", "a missing blob", { isNew: true }],
    ["412 precondition-failed", "a condition for another version", OTHER_VERSION],
    [
      "415 bad-content-type",
      "a content type other than JSON",
      { request: { headers: { "content-type": "text/plain" } } },
    ],
  ]),
  ...rows(`DELETE ${BLOB}`, [
    ["200", "a deleted blob", { json: { key: "hello.json", shared: null } }],
    ["400 bad-blob-key", "a space in the key", INVALID_KEY],
    ["404 not-found", "a missing blob", { isNew: true }],
    ["412 precondition-failed", "a condition for another version", OTHER_VERSION],
  ]),
];

const read: Row[] = [
  ...rowsOfEach(
    [`GET ${BLOB}`, `HEAD ${BLOB}`],
    [
      [
        "200",
        "the whole blob",
        { headers: { "blob-public": "?1", "content-type": "application/json", "content-length": "17" } },
      ],
      ["304", "an unchanged blob", SAME_VERSION],
      ["400 bad-blob-key", "a space in the key", INVALID_KEY],
      ["404 not-found", "a missing blob", { isNew: true }],
      ["412 precondition-failed", "a condition for another version", OTHER_VERSION],
    ],
  ),
  ...rows(`GET ${BLOB}`, [
    ["206", "a range", PART],
    ["416 range-not-satisfiable", "a range past the end", NO_PART],
  ]),
  ...rowsOfEach(
    [`HEAD ${BLOB}`, `HEAD ${SHARED}`],
    [["200", "the whole blob, whatever its Range says", { ...NO_PART, headers: { "content-length": "17" } }]],
  ),
  ...rows(`OPTIONS ${BLOB}`, [["204", "the six methods"]]),
];

const shared: Row[] = [
  ...rowsOfEach(
    [`GET ${SHARED}`, `HEAD ${SHARED}`],
    [
      [
        "200",
        "the whole blob, which the CDN may cache",
        {
          headers: { "netlify-cdn-cache-control": "public, durable, s-maxage=3600", "content-length": "17" },
        },
      ],
      ["304", "an unchanged blob", SAME_VERSION],
      ["404 not-found", "a missing blob", { isNew: true }],
      ["404 not-found", "a private blob", { before: ({ send }) => send("POST", BLOB) }],
      ["404 not-found", "a space in the key", INVALID_KEY],
      ["404 not-found", "a key without blobs on this site", { request: { parameters: { owner: EVE.publicKey } } }],
      ["412 precondition-failed", "a condition for another version", OTHER_VERSION],
    ],
  ),
  ...rows(`GET ${SHARED}`, [
    [
      "206",
      "a range, which the CDN may not cache",
      {
        ...PART,
        headers: { ...PART.headers, "netlify-cdn-cache-control": "no-store" },
      },
    ],
    ["416 range-not-satisfiable", "a range past the end", NO_PART],
    ["500 blob-damaged", "contents with a changed byte", { before: ({ damageBlobs }) => damageBlobs() }],
  ]),
  ...rows(`OPTIONS ${SHARED}`, [["204", "the three methods"]]),
];

export const BLOB_ROWS = [...list, ...changed, ...read, ...shared];
