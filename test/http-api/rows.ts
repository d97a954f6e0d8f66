// test/http-api/rows.ts: what is asked, and what has to come of it: one row, one request.
import type { AlicesSite, SiteOptions } from "./alices-site.js";
import type { Asked } from "./asking.js";
import type { Answer } from "./hold.js";

/** Where nothing is given, the file's own example is asked. */
export interface Given {
  asked?: Asked;
  site?: SiteOptions;
  /** Without what happens before on a site that is lived in. */
  isNew?: true;
  before?: (site: AlicesSite) => unknown;
  /** Headers of the answer. */
  headers?: Record<string, string>;
  /** What is in its JSON. */
  json?: object;
  /** Its body breaks off. */
  isCut?: true;
}

export interface Row extends Given {
  method: string;
  path: string;
  /** A status, and the code of a problem. */
  outcome: string;
  /** What it is that comes of it. */
  name: string;
}

/** @param operation - such as `GET /mentions.json` */
export function rows(operation: string, list: readonly [outcome: string, name: string, given?: Given][]): Row[] {
  const [method = "", path = ""] = operation.split(" ");
  return list.map(([outcome, name, given = {}]) => ({ method, path, outcome, name, ...given }));
}

/** The same for several. */
export function rowsOfEach(operations: readonly string[], list: Parameters<typeof rows>[1]): Row[] {
  return operations.flatMap((operation) => rows(operation, list));
}

/** To a problem its code belongs, but HEAD does not show it. */
export function outcomeOf({ status, headers, body }: Answer): string {
  const isProblem = headers["content-type"] === "application/problem+json";
  return isProblem && body !== "" ? `${status} ${JSON.parse(body).code}` : String(status);
}
