// test/http-api/site-rows.ts: requests of the author for the state of the site.
import { createHash } from "node:crypto";
import type { AlicesSite } from "./alices-site.js";
import { type Row, rows, rowsOfEach } from "./rows.js";

const BRIDGED = "https://fed.brid.gy/.well-known/";

export const SITE_ROWS: Row[] = [
  ...rows("GET /api/v1/site", [
    [
      "200",
      "versions, and what is stored",
      { json: { node: process.versions.node, blobs: { count: 1 }, messages: { count: 1 }, sent: {} } },
    ],
    ["400 bad-request", "an unknown parameter", { request: { query: "colour=red" } }],
    ["413 body-too-large", "a body", { request: { body: "x" } }],
  ]),
  ...rows("GET /api/v1/site/sent", [
    ["200", "a site that has sent nothing"],
    ["400 bad-request", "a cursor that no page had", { request: { query: "after=sent/x" } }],
    ["413 body-too-large", "a body", { request: { body: "x" } }],
  ]),
  ...rows("GET /api/v1/site/data", [
    ["200", "the keys of all values"],
    ["400 bad-request", "an unknown parameter", { request: { query: "colour=red" } }],
  ]),
  ...rows("POST /api/v1/site/data", [
    ["200", "the hash of a value"],
    ["200", "a value that does not exist", { request: { body: '{"read":["none"]}' }, json: { values: [null] } }],
    ["200", "values to write", { request: { body: written("quinces") }, json: { written: 1 } }],
    ["200", "values to delete", { request: { body: '{"delete":["none"]}' }, json: { deleted: 1 } }],
    ["400 bad-request", "two things at once", { request: { body: '{"read":[],"delete":[]}' } }],
    ["400 bad-request", "a text that is no key", { request: { body: '{"read":["a/../b"]}' } }],
    ["400 bad-request", "a value for a text that is no key", { request: { body: written("quinces", "quinces", "") } }],
    ["400 bad-request", "a value that does not match its hash", { request: { body: written("quinces", "pears") } }],
  ]),
  ...rows("GET /api/v1/site/data/{key}", [
    ["200", "a value", { before: store }],
    ["206", "a part of a value", { before: store, request: { headers: { range: "bytes=1-2" } } }],
    ["404 not-found", "a key without a value"],
    ["404 not-found", "a text that is no key", { request: { parameters: { key: "%2e%2e" } } }],
    [
      "416 range-not-satisfiable",
      "a range outside the value",
      { before: store, request: { headers: { range: "bytes=99-" } } },
    ],
  ]),
  ...rows("PUT /api/v1/site/data/{key}", [
    ["201", "a value"],
    ["400 bad-request", "a body that is shorter than its Content-Length", { isTruncated: true }],
    ["404 not-found", "a text that is no key", { request: { parameters: { key: "%2e%2e" } } }],
  ]),
  ...rowsOfEach(
    ["GET /.well-known/webfinger", "HEAD /.well-known/webfinger"],
    [
      ["200", "the handle of the author", { json: { subject: "acct:alice@mastodon.example" } }],
      ["200", "the site", { request: { query: "resource=https://alice.example/" } }],
      [
        "302",
        "a site with Bridgy Fed, with its query",
        {
          site: { fediverse: "bridgy" },
          headers: { location: `${BRIDGED}webfinger?resource=acct%3Aalice%40alice.example` },
        },
      ],
      ["404 not-found", "another name", { request: { query: "resource=acct:bob@alice.example" } }],
      ["404 not-found", "no name", { request: { query: "rel=self" } }],
    ],
  ),
  ...rowsOfEach(
    ["GET /.well-known/host-meta", "HEAD /.well-known/host-meta"],
    [
      ["200", "the address of the documents"],
      [
        "302",
        "a site with Bridgy Fed",
        { site: { fediverse: "bridgy" }, headers: { location: `${BRIDGED}host-meta` } },
      ],
    ],
  ),
];

/** A request that writes a value with the hash of this or another text. */
function written(text: string, other = text, key = "a"): string {
  const sha256 = createHash("sha256").update(other).digest("hex");
  return JSON.stringify({ write: [{ key, base64: Buffer.from(text).toString("base64"), sha256 }] });
}

function store({ send }: AlicesSite) {
  return send("PUT", "/api/v1/site/data/{key}");
}
