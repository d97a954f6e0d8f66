// test/http-api/hold.ts: holds an answer against what docs/openapi.yaml says of it.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { expect } from "vitest";
import { type Described, described } from "./document.js";

/** What a server adds by itself. */
const TRANSPORT = ["connection", "content-length", "date", "keep-alive", "transfer-encoding"];

const NO_HEADERS: NonNullable<Described["headers"]> = {};

const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
formats.default(ajv);

/** An answer as it came. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Fails where its status, a header, its type or its body is not described. */
export function holdAgainst(answer: Answer, method: string, path: string): void {
  const response = described(method, path, answer.status);
  if (!response) expect.fail(`${method} ${path}: ${answer.status} is not described. ${answer.body}`);
  holdHeaders(answer, response);
  holdBody(answer, method, response);
}

/** What is wrong with a value by its schema; empty if nothing is. */
export function faultsOf(value: unknown, schema: object): string[] {
  const validate = validatorOf(schema);
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** By the text of their schemas, because many responses have equal ones, and to compile one takes milliseconds. */
const validators = new Map<string, ValidateFunction>();

function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const validator = validators.get(text) ?? ajv.compile(schema);
  validators.set(text, validator);
  return validator;
}

function holdHeaders({ headers }: Answer, { headers: known = NO_HEADERS }: Described): void {
  const own = Object.entries(headers).filter(([name]) => name !== "content-type" && !TRANSPORT.includes(name));
  expect([faultsOf(Object.fromEntries(own), schemaOfHeaders(known)), own]).toEqual([[], own]);
}

function schemaOfHeaders(known: NonNullable<Described["headers"]>): object {
  const names = Object.entries(known).map(([name, header]) => [name.toLowerCase(), header] as const);
  return {
    type: "object",
    required: names.filter(([, { required }]) => required).map(([name]) => name),
    properties: Object.fromEntries(names.map(([name, header]) => [name, header.schema])),
    additionalProperties: false,
  };
}

function holdBody({ headers, body }: Answer, method: string, { content }: Described): void {
  if (!content || method === "HEAD") expect(body).toBe("");
  if (!content) return;
  const type = headers["content-type"] ?? "";
  const media = content[type] ?? content["*/*"];
  if (!media) expect.fail(`${type} is not described, but ${Object.keys(content)}.`);
  if (method === "HEAD") return;
  const value = /^application\/(problem\+)?json\b/.test(type) && content[type] ? JSON.parse(body) : body;
  expect([faultsOf(value, media.schema), value]).toEqual([[], value]);
}
