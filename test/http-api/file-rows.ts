// test/http-api/file-rows.ts: requests for the files of a site on a Node host.
import { type Row, rowsOfEach } from "./rows.js";

/** The paths of the files in docs/openapi.yaml. */
export const FILES = ["/twtxt.txt", "/twtxt-{period}.txt", "/.well-known/{protocol}/{name}.json"];

export const FILE_ROWS: Row[] = rowsOfEach(
  FILES.flatMap((path) => [`GET ${path}`, `HEAD ${path}`]),
  [
    ["200", "the whole file"],
    ["206", "a range", { request: { headers: { range: "bytes=2-6" } } }],
    ["304", "an unchanged file", { request: { headers: { "if-none-match": "*" } } }],
    ["404", "a missing file", { site: { isEmpty: true } }],
    ["412", "a condition for another version", { request: { headers: { "if-match": '"another"' } } }],
    ["416", "a range past the end", { request: { headers: { range: "bytes=99999-" } } }],
  ],
);
