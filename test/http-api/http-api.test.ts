import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { headerRules } from "../../plugin/eleventy/output/netlify-config.js";
import { listFunctions } from "../../plugin/eleventy/output/netlify-functions.js";
import { type TwtxtErrorCode, toStatus } from "../../plugin/errors.js";
import { createRouter, ROUTES, type Route } from "../../plugin/site/routes.js";
import { builtSite } from "../helpers/built-site.js";
import { type AlicesSite, alicesSite, OPTIONS, sharedSite, siteWithContent } from "./alices-site.js";
import { ORIGIN } from "./asking.js";
import { BLOB_ROWS } from "./blob-rows.js";
import { COMMENT_ROWS } from "./comment-rows.js";
import { described, METHODS, methodsOf, operation, outcomesOf, paths, raw } from "./document.js";
import { FILE_ROWS, FILES } from "./file-rows.js";
import { HEALTH_ROWS } from "./health-rows.js";
import { expectDescribed, type ReceivedResponse, schemaErrors } from "./hold.js";
import { MENTION_ROWS } from "./mention-rows.js";
import { MESSAGE_ROWS } from "./message-rows.js";
import { outcomeOf, type Row } from "./rows.js";
import { commonRows } from "./rows-of-all.js";
import { SITE_ROWS } from "./site-rows.js";

const ROWS = [
  ...HEALTH_ROWS,
  ...MENTION_ROWS,
  ...COMMENT_ROWS,
  ...MESSAGE_ROWS,
  ...BLOB_ROWS,
  ...SITE_ROWS,
  ...FILE_ROWS,
  ...commonRows(),
];
/** Details of store errors, which responses must not contain. */
const INTERNAL_DETAILS = /192\.0\.2\.7|Segment 7/;
const PATHS = Object.keys(paths);

describe.each(PATHS)("%s", (path) => {
  it.each(ROWS.filter((row) => row.path === path))("$method, $outcome: $name", async (row) => {
    const site = await openSite(row);
    await row.before?.(site);
    const response = await sendRow(site, row);

    const isBodiless = row.method === "HEAD";
    expect(outcomeOf(response)).toBe(isBodiless ? row.outcome.split(" ")[0] : row.outcome);
    expectDescribed(response, row.method, path);
    expect(response.body).not.toMatch(INTERNAL_DETAILS);
    if (row.headers) expect(response.headers).toMatchObject(row.headers);
    if (row.json && !isBodiless) expect(JSON.parse(response.body)).toMatchObject(row.json);
    if (response.headers.allow) expect(response.headers.allow.split(", ").sort()).toEqual(methodsOf(path).sort());
    if (!row.request && !row.site && !row.before && !row.failure && !isBodiless) expectExample(response, row);
  });
});

/** Requests that change nothing share a site. */
function openSite(row: Row): Promise<AlicesSite> {
  const open = row.isNew ? alicesSite : siteWithContent;
  const options = { ...row.site, ...(row.failure && { failure: row.failure }) };
  return changesNothing(row) ? sharedSite(open, options) : open(options);
}

/** Whether a request is refused or only reads. */
function changesNothing({ method, path, outcome, site, before, isTruncated }: Row): boolean {
  const isReading = method === "GET" || method === "HEAD";
  const isCounted = site?.perMinute !== undefined;
  return (isReading || (outcome >= "4" && path !== "/webmention")) && !isCounted && !before && !isTruncated;
}

function sendRow(site: AlicesSite, { method, path, request, isTruncated }: Row): Promise<ReceivedResponse> {
  return isTruncated ? site.sendTruncated(method, path) : site.send(method, path, request);
}

/** Fails if the response to an example request differs from the example response. */
function expectExample({ status, headers, body }: ReceivedResponse, { method, path }: Row): void {
  const type = headers["content-type"] ?? "";
  const example = described(method, path, status)?.content?.[type]?.example;
  if (example !== undefined) expect(/^application.json\b/.test(type) ? JSON.parse(body) : body).toEqual(example);
}

describe("docs/openapi.yaml", () => {
  it("is OpenAPI 3.1", async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(raw))).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  it("describes exactly the outcomes that these tests cause", () => {
    const isOf = (row: Row) => `${operation(row.method, row.path) ? row.method : "other"} ${row.path}: ${row.outcome}`;
    const all = PATHS.flatMap((path) => [
      ...METHODS.flatMap((method) =>
        outcomesOf(operation(method, path)?.responses ?? {}).map((outcome) => `${method} ${path}: ${outcome}`),
      ),
      ...outcomesOf(paths[path]?.["x-other-methods"] ?? {}).map((outcome) => `other ${path}: ${outcome}`),
    ]);
    expect([...new Set(ROWS.map(isOf))].sort()).toEqual(all.sort());
  });

  it("has every error code of the endpoints, under its status", () => {
    const source = readFileSync(new URL("../../plugin/errors.ts", import.meta.url), "utf8");
    const codes = [...source.matchAll(/^ {2}"?([a-z-]+)"?: \d{3},$/gm)].map(([, code = ""]) => code as TwtxtErrorCode);
    expect(codes.length).toBeGreaterThan(50);
    const isSent = (code: TwtxtErrorCode) => toStatus(code) !== 500 || code === "blob-damaged";
    const sentCodes = codes.filter((code) => isSent(code) && !(code in NEVER_SENT));
    const named = ROWS.map(({ outcome }) => outcome.split(" ")).filter(([, code]) => code && code !== "internal");

    expect([...new Set(named.map(([, code]) => code))].sort()).toEqual(sentCodes.sort());
    for (const [status, code] of named)
      expect([code, toStatus(code as TwtxtErrorCode)]).toEqual([code, Number(status)]);
  });

  it("lists all properties of every object", () => {
    const open = schemasIn(raw).filter(
      ({ type, additionalProperties }) => type === "object" && additionalProperties === undefined,
    );
    expect(open).toEqual([]);
  });

  it("has examples that match their schemas", () => {
    const bodies = PATHS.flatMap((path) =>
      methodsOf(path).flatMap((method) => operation(method, path)?.requestBody ?? []),
    );
    const media = bodies
      .flatMap(({ content }) => Object.values(content))
      .concat(
        PATHS.flatMap((path) =>
          methodsOf(path).flatMap((method) => Object.values(operation(method, path)?.responses ?? {})),
        ).flatMap(({ content }) => Object.values(content ?? {})),
      );
    const withExample = media.filter(({ example }) => example !== undefined);
    expect(withExample.length).toBeGreaterThan(15);
    expect(withExample.flatMap(({ example, schema }) => schemaErrors(example, schema))).toEqual([]);
  });
});

/** Codes that no endpoint responds with. */
const NEVER_SENT: Partial<Record<TwtxtErrorCode, string>> = {
  unreachable: "the mention stays pending: 202",
  "no-such-address": "thrown when an address is looked up",
  "not-looked-up": "thrown when an address is looked up",
  "not-a-recipient": "thrown when a message is opened",
  "not-authentic": "thrown when a message is opened",
  "headers-too-large": "sent by the server before it has a request",
  "mail-failed": "logged",
  "hook-failed": "logged",
};

/** Every object in the file that could be a schema. */
function schemasIn(value: unknown): { type?: unknown; additionalProperties?: unknown }[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(schemasIn)];
}

describe("a request that is not described", () => {
  it("TRACE: 405 with Allow", async () => {
    const site = await sharedSite(alicesSite);
    for (const path of PATHS) {
      const { status, headers } = await site.send("TRACE", path);
      expect([path, status, headers.allow]).toEqual([path, 405, expect.stringMatching(/^[A-Z]+(, [A-Z]+)*$/)]);
    }
  });

  it.each([
    ["/inbox/", "404 not-found"],
    ["/inbox/alice/a/b", "404 not-found"],
    ["/shared", "404 not-found"],
    ["/shared/alice/a/b", "404 not-found"],
    ["/api/v1/blob/a/b", "401 not-signed"],
    ["/api/v1/mentions/a/b", "401 not-signed"],
  ])("GET %s, a path below a described one: %s", async (path, outcome) => {
    expect(outcomeOf(await (await sharedSite(alicesSite)).send("GET", path))).toBe(outcome);
  });
});

describe("the paths of docs/openapi.yaml", () => {
  const { settings, urls } = builtSite(ORIGIN, OPTIONS);

  it("are the routes with their methods, and the files", () => {
    const find = createRouter(settings);
    const nameOf = (path: string) => find(path.replace(/\{\w+\}/g, "x"))?.name;
    expect(PATHS.filter((path) => nameOf(path) === undefined)).toEqual(FILES);
    const methods = PATHS.filter((path) => !FILES.includes(path)).map((path) => [nameOf(path), methodsOf(path).sort()]);
    const routes = Object.entries(ROUTES).map(([name, route]) => [name, [...route.methods].sort()]);
    expect(methods.sort()).toEqual(routes.sort());
  });

  it("have a handler on a Node host, except the files", async () => {
    const { endpointAt } = await alicesSite();
    const isHandled = (path: string) => endpointAt(path.replace(/\{\w+\}/g, "x")) !== null;
    expect(PATHS.filter((path) => !isHandled(path))).toEqual(FILES);
  });

  it("require a signature, the token or nothing, as their routes do", () => {
    const find = createRouter(settings);
    const schemes: Record<Route["access"], (method: string) => string[]> = {
      anyone: () => [],
      signed: (method) => (method === "OPTIONS" ? [] : ["signature"]),
      "signed-to-read": (method) => (method === "GET" || method === "HEAD" ? ["signature"] : []),
      token: () => ["password", "token"],
      link: () => ["link"],
    };
    for (const path of PATHS) {
      const route = find(path.replace(/\{\w+\}/g, "x"))?.route;
      for (const method of methodsOf(path)) {
        const { security = [] } = operation(method, path) ?? {};
        expect([method, path, security.flatMap((one) => Object.keys(one))]).toEqual([
          method,
          path,
          schemes[route?.access ?? "anyone"](method),
        ]);
      }
    }
  });

  it("are the paths of the functions at Netlify", () => {
    const functions = listFunctions(settings, urls).flatMap((one) => one.paths);
    const patterns = functions.map((path) => new RegExp(`^${path.replace(/:\w+/g, "[^/]+").replace("*", ".+")}$`));
    const isServed = (path: string) => patterns.some((pattern) => pattern.test(path));
    expect(PATHS.filter((path) => !isServed(path))).toEqual(["/health", ...FILES]);
    expect(patterns.filter((pattern) => !PATHS.some((path) => pattern.test(path)))).toEqual([]);
  });

  it("have the same headers at Netlify for the files as on a Node host", () => {
    const at = (path: string) => [{ path, content: "" }];
    const rules = headerRules(at("/twtxt.txt"), at("/.well-known/msg/alice.json"), `${ORIGIN}/webmention`);
    const templates = ["/twtxt.txt", "/.well-known/{protocol}/{name}.json"];
    for (const [i, { values }] of rules.entries()) {
      const { headers = {}, content = {} } = described("GET", templates[i] ?? "", 200) ?? {};
      const { "Content-Type": type = "", ...others } = values;
      expect(Object.keys(content)).toContain(type);
      for (const [name, value] of Object.entries(others))
        expect(schemaErrors(value, headers[name]?.schema ?? { not: {} })).toEqual([]);
    }
    expect(rules).toHaveLength(2);
  });
});
