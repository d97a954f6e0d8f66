// test/http-api/file-rows.ts: what is asked for the files of a site, as a Node host serves them.
import { type Row, rowsOfEach } from "./rows.js";

/** As the file names them. */
export const FILES = ["/twtxt.txt", "/twtxt-{period}.txt", "/.well-known/{protocol}/{name}.json"];

export const FILE_ROWS: Row[] = rowsOfEach(
  FILES.flatMap((path) => [`GET ${path}`, `HEAD ${path}`]),
  [
    ["200", "all of it"],
    ["206", "a part of it", { asked: { headers: { range: "bytes=2-6" } } }],
    ["304", "it is as it was", { asked: { headers: { "if-none-match": "*" } } }],
    ["404", "there is none", { site: { isEmpty: true } }],
    ["412", "it is another version", { asked: { headers: { "if-match": '"another"' } } }],
    ["416", "it is shorter", { asked: { headers: { range: "bytes=99999-" } } }],
  ],
);
