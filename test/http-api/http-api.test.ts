import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { headerRules } from "../../plugin/eleventy/output/netlify-config.js";
import { functionsOf } from "../../plugin/eleventy/output/netlify-functions.js";
import { statusOf, type TwtxtErrorCode } from "../../plugin/errors.js";
import { ROUTES, type Route, routesOf } from "../../plugin/site/routes.js";
import { builtSite } from "../helpers/built-site.js";
import { type AlicesSite, alicesSite, livedIn, OPTIONS, sharedSite } from "./alices-site.js";
import { ORIGIN } from "./asking.js";
import { BLOB_ROWS } from "./blob-rows.js";
import { described, METHODS, methodsOf, operation, outcomesOf, paths, raw } from "./document.js";
import { FILE_ROWS, FILES } from "./file-rows.js";
import { HEALTH_ROWS } from "./health-rows.js";
import { type Answer, faultsOf, holdAgainst } from "./hold.js";
import { MENTION_ROWS } from "./mention-rows.js";
import { MESSAGE_ROWS } from "./message-rows.js";
import { outcomeOf, type Row } from "./rows.js";
import { rowsOfAll } from "./rows-of-all.js";

const ROWS = [...HEALTH_ROWS, ...MENTION_ROWS, ...MESSAGE_ROWS, ...BLOB_ROWS, ...FILE_ROWS, ...rowsOfAll()];
/** What the storage says where it fails. */
const INSIDE_KNOWLEDGE = /192\.0\.2\.7|Segment 7/;
const PATHS = Object.keys(paths);

describe.each(PATHS)("%s", (path) => {
  it.each(ROWS.filter((row) => row.path === path))("$method, $outcome: $name", async (row) => {
    const open = row.isNew ? alicesSite : livedIn;
    const site = await (changesNothing(row) ? sharedSite(open) : open(row.site));
    await row.before?.(site);
    const answer = await asked(site, row);

    const isBodiless = row.method === "HEAD";
    expect(outcomeOf(answer)).toBe(isBodiless ? row.outcome.split(" ")[0] : row.outcome);
    holdAgainst(answer, row.method, path);
    expect(answer.body).not.toMatch(INSIDE_KNOWLEDGE);
    if (row.headers) expect(answer.headers).toMatchObject(row.headers);
    if (row.json && !isBodiless) expect(JSON.parse(answer.body)).toMatchObject(row.json);
    if (answer.headers.allow) expect(answer.headers.allow.split(", ").sort()).toEqual(methodsOf(path).sort());
    if (!row.asked && !row.site && !row.before && !isBodiless) holdAgainstExample(answer, row);
  });
});

/** Whether a request is refused or only reads, on a site without anything special. */
function changesNothing({ method, path, outcome, site, before, isCut }: Row): boolean {
  const isReading = method === "GET" || method === "HEAD";
  return (isReading || (outcome >= "4" && path !== "/webmention")) && !site && !before && !isCut;
}

function asked(site: AlicesSite, { method, path, asked, isCut }: Row): Promise<Answer> {
  return isCut ? site.askCut(method, path) : site.ask(method, path, asked);
}

/** What the file's example is answered with is the file's example, too. */
function holdAgainstExample({ status, headers, body }: Answer, { method, path }: Row): void {
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

  it("describes what was provoked here, and nothing else", () => {
    const isOf = (row: Row) => `${operation(row.method, row.path) ? row.method : "other"} ${row.path}: ${row.outcome}`;
    const all = PATHS.flatMap((path) => [
      ...METHODS.flatMap((method) =>
        outcomesOf(operation(method, path)?.responses ?? {}).map((outcome) => `${method} ${path}: ${outcome}`),
      ),
      ...outcomesOf(paths[path]?.["x-other-methods"] ?? {}).map((outcome) => `other ${path}: ${outcome}`),
    ]);
    expect([...new Set(ROWS.map(isOf))].sort()).toEqual(all.sort());
  });

  it("has every code that an endpoint answers with, under its status", () => {
    const source = readFileSync(new URL("../../plugin/errors.ts", import.meta.url), "utf8");
    const codes = [...source.matchAll(/^ {2}"?([a-z-]+)"?: \d{3},$/gm)].map(([, code = ""]) => code as TwtxtErrorCode);
    expect(codes.length).toBeGreaterThan(50);
    const answered = codes.filter((code) => statusOf(code) !== 500 && !(code in NEVER_ANSWERED));
    const named = ROWS.map(({ outcome }) => outcome.split(" ")).filter(([, code]) => code && code !== "internal");

    expect([...new Set(named.map(([, code]) => code))].sort()).toEqual(answered.sort());
    for (const [status, code] of named)
      expect([code, statusOf(code as TwtxtErrorCode)]).toEqual([code, Number(status)]);
  });

  it("lets nothing into an object that it does not name", () => {
    const open = schemasIn(raw).filter(
      ({ type, additionalProperties }) => type === "object" && additionalProperties === undefined,
    );
    expect(open).toEqual([]);
  });

  it("has examples that are as it says", () => {
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
    expect(withExample.flatMap(({ example, schema }) => faultsOf(example, schema))).toEqual([]);
  });
});

/** Codes that stay inside, or in the terminal. */
const NEVER_ANSWERED: Partial<Record<TwtxtErrorCode, string>> = {
  unreachable: "a mention waits then: 202",
  "no-such-address": "said by the look-up of an address",
  "not-looked-up": "the same",
  "not-a-recipient": "said by who opens a message",
  "not-authentic": "the same",
  "headers-too-large": "said by the server, before there is a request",
  "mail-failed": "said in the log",
  "hook-failed": "the same",
};

/** Every object of the file that could be a schema. */
function schemasIn(value: unknown): { type?: unknown; additionalProperties?: unknown }[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(schemasIn)];
}

describe("what is not described", () => {
  it.each(PATHS)("405 with Allow: TRACE %s, as everywhere", async (path) => {
    const { status, headers } = await (await sharedSite(alicesSite)).ask("TRACE", path);
    expect([status, headers.allow]).toEqual([405, expect.stringMatching(/^[A-Z]+(, [A-Z]+)*$/)]);
  });

  it.each([
    ["/inbox/", "404 not-found"],
    ["/inbox/alice/a/b", "404 not-found"],
    ["/shared", "404 not-found"],
    ["/shared/alice/a/b", "404 not-found"],
    ["/api/v1/blob/a/b", "401 not-signed"],
    ["/api/v1/mentions/a/b", "401 not-signed"],
  ])("a path below those that are: %s is %s", async (path, outcome) => {
    expect(outcomeOf(await (await sharedSite(alicesSite)).ask("GET", path))).toBe(outcome);
  });
});

describe("the paths of docs/openapi.yaml", () => {
  const { settings, options, urls } = builtSite(ORIGIN, OPTIONS);

  it("are those of the routes, with the methods of each, and files", () => {
    const find = routesOf(settings);
    const nameOf = (path: string) => find(path.replace(/\{\w+\}/g, "x"))?.name;
    expect(PATHS.filter((path) => nameOf(path) === undefined)).toEqual(FILES);
    const methods = PATHS.filter((path) => !FILES.includes(path)).map((path) => [nameOf(path), methodsOf(path).sort()]);
    const routes = Object.entries(ROUTES).map(([name, route]) => [name, [...route.methods].sort()]);
    expect(methods.sort()).toEqual(routes.sort());
  });

  it("have a handler of a Node host for each route", async () => {
    const { endpointAt } = await alicesSite();
    const isHandled = (path: string) => endpointAt(path.replace(/\{\w+\}/g, "x")) !== null;
    expect(PATHS.filter((path) => !isHandled(path))).toEqual(FILES);
  });

  it("are for anyone, signed requests or holders of the token, as the routes say", () => {
    const find = routesOf(settings);
    const schemes: Record<Route["access"], (method: string) => string[]> = {
      anyone: () => [],
      signed: (method) => (method === "OPTIONS" ? [] : ["signature"]),
      "signed-to-read": (method) => (method === "GET" || method === "HEAD" ? ["signature"] : []),
      token: () => ["password", "token"],
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

  it("are those of the functions at Netlify", () => {
    const functions = functionsOf(options, urls).flatMap((one) => one.paths);
    const patterns = functions.map((path) => new RegExp(`^${path.replace(/:\w+/g, "[^/]+").replace("*", ".+")}$`));
    const isServed = (path: string) => patterns.some((pattern) => pattern.test(path));
    expect(PATHS.filter((path) => !isServed(path))).toEqual(["/health", ...FILES]);
    expect(patterns.filter((pattern) => !PATHS.some((path) => pattern.test(path)))).toEqual([]);
  });

  it("have the headers at Netlify that the files of a Node host have", () => {
    const at = (path: string) => [{ path, content: "" }];
    const rules = headerRules(at("/twtxt.txt"), at("/.well-known/msg/alice.json"), `${ORIGIN}/webmention`);
    const templates = ["/twtxt.txt", "/.well-known/{protocol}/{name}.json"];
    for (const [i, { values }] of rules.entries()) {
      const { headers = {}, content = {} } = described("GET", templates[i] ?? "", 200) ?? {};
      const { "Content-Type": type = "", ...others } = values;
      expect(Object.keys(content)).toContain(type);
      for (const [name, value] of Object.entries(others))
        expect(faultsOf(value, headers[name]?.schema ?? { not: {} })).toEqual([]);
    }
    expect(rules).toHaveLength(2);
  });
});
