// test/http-api/file-rows.ts: requests for the files of a site on a Node host.
import { type Row, rowsOfEach } from "./rows.js";

/** The paths of the files in docs/openapi.yaml. */
export const FILES = ["/twtxt.txt", "/twtxt-{period}.txt", "/.well-known/{protocol}/{name}.json"];

const RANGE = { request: { headers: { range: "bytes=2-6" } } };
const BEYOND = { request: { headers: { range: "bytes=99999-" } } };

export const FILE_ROWS: Row[] = [
  ...rowsOfEach(
    FILES.flatMap((path) => [`GET ${path}`, `HEAD ${path}`]),
    [
      ["200", "the whole file"],
      ["304", "an unchanged file", { request: { headers: { "if-none-match": "*" } } }],
      ["404", "a missing file", { site: { isEmpty: true } }],
      ["412", "a condition for another version", { request: { headers: { "if-match": '"another"' } } }],
    ],
  ),
  ...rowsOfEach(
    FILES.map((path) => `GET ${path}`),
    [
      ["206", "a range", RANGE],
      ["416", "a range past the end", BEYOND],
    ],
  ),
  // RFC 9110, 14.2: a range in any other request than GET is ignored.
  ...rowsOfEach(
    FILES.map((path) => `HEAD ${path}`),
    [
      ["200", "a range, which is ignored", RANGE],
      ["200", "a range past the end, which is ignored", BEYOND],
    ],
  ),
];
