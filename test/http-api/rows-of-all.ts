// test/http-api/rows-of-all.ts: what goes wrong in the same way wherever it can.
import { SILENCE } from "./alices-site.js";
import { EVE } from "./asking.js";
import { METHODS, type Operation, operation, outcomesOf, paths } from "./document.js";
import type { Given, Row } from "./rows.js";

/** More than any of them takes. */
const HUGE = Buffer.alloc(2 ** 20 + 1);

/** By the outcome that is described. */
const ANYWHERE: Record<string, Given & { name: string }> = {
  "401 not-signed": { name: "nobody has signed it", asked: { as: null } },
  "403 not-allowed": { name: "Eve has signed it", asked: { as: EVE } },
  "408 too-slow": { name: "its body never comes", site: { patienceMs: 20 }, asked: { body: null } },
  "413 body-too-large": { name: "its body is larger than any may be", asked: { body: HUGE } },
  "500 internal": { name: "something breaks", before: ({ fail }) => fail(new Error("Segment 7 is gone.")) },
  "503 store-failed": { name: "the storage is silent", before: ({ fail }) => fail(SILENCE) },
};

const OF_WRITES = ["408 too-slow", "500 internal", "503 store-failed"];
const OF_OTHERS: Record<string, Given & { name: string }> = {
  "404 not-found": { name: "nothing is here", asked: { parameters: { user: "bob" } }, site: { token: null } },
};
const NO_SUCH_METHOD = { name: "there is no such method" };

/** Those outcomes, of each operation that has them. */
export function rowsOfAll(): Row[] {
  return Object.keys(paths).flatMap((path) =>
    METHODS.flatMap((method) => {
      const wanted = operation(method, path);
      return wanted ? rowsOf(method, path, wanted) : rowsOfOther(method, path);
    }),
  );
}

/** Where a signature is needed for some requests only, the path has rows of its own. */
function rowsOf(method: string, path: string, { responses, security }: Operation): Row[] {
  return outcomesOf(responses).flatMap((outcome) => {
    const given = security || !/^40[13] /.test(outcome) ? ANYWHERE[outcome] : undefined;
    return given ? [{ method, path, outcome, isNew: true, ...given }] : [];
  });
}

/** Of a method that the path does not list. What such a one sends may be looked at all the same, if it is one that writes. */
function rowsOfOther(method: string, path: string): Row[] {
  const isReading = method === "GET" || method === "HEAD";
  return outcomesOf(paths[path]?.["x-other-methods"] ?? {})
    .filter((outcome) => !isReading || !OF_WRITES.includes(outcome))
    .map((outcome) => ({
      method,
      path,
      outcome,
      isNew: true,
      ...(ANYWHERE[outcome] ?? OF_OTHERS[outcome] ?? NO_SUCH_METHOD),
    }));
}
