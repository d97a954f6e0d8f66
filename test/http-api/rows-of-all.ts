// test/http-api/rows-of-all.ts: rows for errors that many operations have in common.
import { STORE_TIMEOUT } from "./alices-site.js";
import { EVE } from "./asking.js";
import { commentByAlice } from "./comment-rows.js";
import { METHODS, type Operation, operation, outcomesOf, paths } from "./document.js";
import type { Row, RowOptions } from "./rows.js";

/** More than most endpoints accept. */
const LARGE = Buffer.alloc(2 ** 17 + 1);
/** More than those accept with which the author imports mentions and data. */
const HUGE = Buffer.alloc(5 * 2 ** 20 + 1);

/** Requests to a path by their described outcome. */
const commonOptions = (path: string): Record<string, RowOptions & { name: string }> => ({
  "401 not-signed": { name: "an unsigned request", request: { signer: null } },
  "401 wrong-clock": { name: "a signature dated in ten minutes", request: { clockAhead: 600_000 } },
  "403 not-allowed": { name: "a request signed by Eve", request: { signer: EVE } },
  "408 too-slow": { name: "a body that never arrives", site: { patienceMs: 20 }, request: { body: null } },
  "413 body-too-large": {
    name: "a body larger than the limit",
    request: { body: /^\/api\/v1\/(mentions|site)/.test(path) ? HUGE : LARGE },
  },
  "500 internal": { name: "an unexpected error", failure: new Error("Segment 7 is gone.") },
  "503 store-failed": { name: "a store that does not respond", failure: STORE_TIMEOUT },
});

const UNLISTED_METHODS: Record<string, RowOptions & { name: string }> = {
  "404 not-found": {
    name: "an unknown user or a site without a token",
    request: { parameters: { user: "bob" } },
    site: { token: null },
  },
};
const UNKNOWN_METHOD = { name: "an unlisted method" };

/** A row for each operation and each common outcome that it describes. */
export function commonRows(): Row[] {
  return Object.keys(paths).flatMap((path) =>
    METHODS.flatMap((method) => {
      const described = operation(method, path);
      return described ? rowsOf(method, path, described) : rowsOfUnlisted(method, path);
    }),
  );
}

/** A path where only some requests need a signature has its own rows for 401 and 403. */
function rowsOf(method: string, path: string, { responses, security }: Operation): Row[] {
  return outcomesOf(responses).flatMap((outcome) => {
    const options = security || !/^40[13] /.test(outcome) ? commonOptions(path)[outcome] : undefined;
    // Another key is refused only if there is a comment.
    const before = path === "/comments/{id}" && outcome.startsWith("403") ? { before: commentByAlice } : {};
    return options ? [{ method, path, outcome, isNew: true, ...before, ...options }] : [];
  });
}

/**
 * Rows for a method that the path does not list. The body of such a request may be read if the method can have one. GET
 * and the first of the other methods stand for all of them.
 */
function rowsOfUnlisted(method: string, path: string): Row[] {
  const isFirst = method === METHODS.find((one) => !operation(one, path) && !["GET", "HEAD"].includes(one));
  return outcomesOf(paths[path]?.["x-other-methods"] ?? {})
    .filter((outcome) => isFirst || outcome.startsWith("405") || (method === "GET" && /^40[134]/.test(outcome)))
    .map((outcome) => ({
      method,
      path,
      outcome,
      isNew: true,
      ...(commonOptions(path)[outcome] ?? UNLISTED_METHODS[outcome] ?? UNKNOWN_METHOD),
    }));
}
