// test/http-api/rows.ts: table rows, each a request with its expected outcome.
import type { AlicesSite, SiteOptions } from "./alices-site.js";
import type { RequestChanges } from "./asking.js";
import type { ReceivedResponse } from "./hold.js";

/** By default, the example request of docs/openapi.yaml is sent. */
export interface RowOptions {
  request?: RequestChanges;
  site?: SiteOptions;
  /** Uses a site without a mention, message or blob. */
  isNew?: true;
  before?: (site: AlicesSite) => unknown;
  /** Every call of the store fails with this error. */
  failure?: Error;
  /** Headers of the response. */
  headers?: Record<string, string>;
  /** Fields of the response's JSON. */
  json?: object;
  /** Sends a body that is shorter than its Content-Length. */
  isTruncated?: true;
}

export interface Row extends RowOptions {
  method: string;
  path: string;
  /** A status, with the code of its problem if it has one. */
  outcome: string;
  /** The reason for the outcome, for the title of the test. */
  name: string;
}

/** @param operation - such as `GET /mentions.json` */
export function rows(operation: string, list: readonly [outcome: string, name: string, given?: RowOptions][]): Row[] {
  const [method = "", path = ""] = operation.split(" ");
  return list.map(([outcome, name, given = {}]) => ({ method, path, outcome, name, ...given }));
}

/** The same rows for several operations. */
export function rowsOfEach(operations: readonly string[], list: Parameters<typeof rows>[1]): Row[] {
  return operations.flatMap((operation) => rows(operation, list));
}

/** The status, with the code of a problem. A response to HEAD has no body, so only its status. */
export function outcomeOf({ status, headers, body }: ReceivedResponse): string {
  const isProblem = headers["content-type"] === "application/problem+json";
  return isProblem && body !== "" ? `${status} ${JSON.parse(body).code}` : String(status);
}
