// test/http-api/hold.ts: compares responses with docs/openapi.yaml.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { expect } from "vitest";
import { type Described, described } from "./document.js";

/** Headers that Node's HTTP server adds. */
const TRANSPORT = ["connection", "content-length", "date", "keep-alive", "transfer-encoding"];

const NO_HEADERS: NonNullable<Described["headers"]> = {};

const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
formats.default(ajv);

/** A response with its body read. */
export interface ReceivedResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Fails if the status, a header, the type or the body is not described. */
export function expectDescribed(response: ReceivedResponse, method: string, path: string): void {
  const expected = described(method, path, response.status);
  if (!expected) expect.fail(`${method} ${path}: ${response.status} is not described. ${response.body}`);
  expectHeaders(response, expected);
  expectBody(response, method, expected);
}

/** The errors of a value against a schema; empty if it is valid. */
export function schemaErrors(value: unknown, schema: object): string[] {
  const validate = validatorFor(schema);
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Validators by the JSON of their schemas: many responses have equal schemas, and compiling one takes milliseconds. */
const validators = new Map<string, ValidateFunction>();

function validatorFor(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const validator = validators.get(text) ?? ajv.compile(schema);
  validators.set(text, validator);
  return validator;
}

function expectHeaders({ headers }: ReceivedResponse, { headers: known = NO_HEADERS }: Described): void {
  const own = Object.entries(headers).filter(([name]) => name !== "content-type" && !TRANSPORT.includes(name));
  expect([schemaErrors(Object.fromEntries(own), headersSchema(known)), own]).toEqual([[], own]);
}

function headersSchema(known: NonNullable<Described["headers"]>): object {
  const names = Object.entries(known).map(([name, header]) => [name.toLowerCase(), header] as const);
  return {
    type: "object",
    required: names.filter(([, { required }]) => required).map(([name]) => name),
    properties: Object.fromEntries(names.map(([name, header]) => [name, header.schema])),
    additionalProperties: false,
  };
}

function expectBody({ headers, body }: ReceivedResponse, method: string, { content }: Described): void {
  if (!content || method === "HEAD") expect(body).toBe("");
  if (!content) return;
  const type = headers["content-type"] ?? "";
  const media = content[type] ?? content["*/*"];
  if (!media) expect.fail(`${type} is not described; described are: ${Object.keys(content)}.`);
  if (method === "HEAD") return;
  const value = /^application\/(problem\+|jrd\+)?json\b/.test(type) && content[type] ? JSON.parse(body) : body;
  expect([schemaErrors(value, media.schema), value]).toEqual([[], value]);
}
