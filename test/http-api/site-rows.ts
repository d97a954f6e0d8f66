// test/http-api/site-rows.ts: requests of the author for the state of the site.
import { type Row, rows } from "./rows.js";

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
];
