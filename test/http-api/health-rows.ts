// test/http-api/health-rows.ts: requests for the health of the server.
import { type Row, rowsOfEach } from "./rows.js";

export const HEALTH_ROWS: Row[] = rowsOfEach(
  ["GET /health", "HEAD /health"],
  [
    ["200", "the store can be read", { isNew: true, headers: { "cache-control": "no-store" } }],
    ["200", "nobody has signed it", { isNew: true, asked: { as: null } }],
  ],
);
