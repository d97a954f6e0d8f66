// test/http-api/health-rows.ts: requests for the health of the server.
import { type Row, rowsOfEach } from "./rows.js";

export const HEALTH_ROWS: Row[] = rowsOfEach(
  ["GET /health", "HEAD /health"],
  [
    ["200", "a readable store", { isNew: true, headers: { "cache-control": "no-store" } }],
    ["200", "an unsigned request", { isNew: true, request: { signer: null } }],
  ],
);
