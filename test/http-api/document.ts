// test/http-api/document.ts: docs/openapi.yaml, parsed and with its references resolved.
import { readFileSync } from "node:fs";
import { parse } from "yaml";

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

export type Method = (typeof METHODS)[number];

export interface Described {
  description: string;
  headers?: Record<string, { required?: boolean; schema: object }>;
  content?: Record<string, Media>;
}

export interface Media {
  schema: object;
  example?: unknown;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  example?: string;
}

export interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  security?: Record<string, string[]>[];
  /** The keys are statuses. */
  responses: Record<string, Described>;
}

interface Path extends Partial<Record<Lowercase<Method>, Operation>> {
  parameters?: Parameter[];
  "x-other-methods": Record<string, Described>;
}

const source = parse(readFileSync(new URL("../../docs/openapi.yaml", import.meta.url), "utf8"));

/** The parsed file with its references. */
export const raw: Record<string, unknown> = source;

const whole = withoutReferences(source) as { paths: Record<string, Path>; components: { schemas: object } };

export const paths = whole.paths;

/** @returns `undefined` for a method that the path does not list */
export function operation(method: string, path: string): Operation | undefined {
  return METHODS.includes(method as Method) ? paths[path]?.[method.toLowerCase() as Lowercase<Method>] : undefined;
}

/** The methods that a path lists. */
export function methodsOf(path: string): Method[] {
  return METHODS.filter((method) => operation(method, path));
}

/** The described response of a status; `undefined` if it is not described. */
export function described(method: string, path: string, status: number): Described | undefined {
  const responses = operation(method, path)?.responses ?? paths[path]?.["x-other-methods"];
  return responses?.[String(status)];
}

/** All described outcomes: a status, with the code of its problem if it has one, such as `404 not-found`. */
export function outcomesOf(responses: Record<string, Described>): string[] {
  return Object.entries(responses).flatMap(([status, { content }]) => {
    const schema = content?.["application/problem+json"]?.schema as Problem | undefined;
    return schema ? codesOf(schema).map((code) => `${status} ${code}`) : [status];
  });
}

interface Problem {
  properties: { code: { const?: string; enum?: string[] } };
}

function codesOf({ properties: { code } }: Problem): string[] {
  return code.const === undefined ? (code.enum ?? []) : [code.const];
}

/** A description next to a reference replaces its target's; other fields next to one apply in addition to its target. */
function withoutReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (typeof value !== "object" || value === null) return value;
  const { $ref, ...others } = value as Record<string, unknown>;
  const rest = Object.fromEntries(Object.entries(others).map(([name, part]) => [name, withoutReferences(part)]));
  if (typeof $ref !== "string") return rest;
  const target = withoutReferences(named($ref)) as object;
  return Object.keys(rest).every((name) => name === "description")
    ? { ...target, ...rest }
    : { allOf: [target], ...rest };
}

function named(reference: string): unknown {
  const names = reference.replace(/^#\//, "").split("/");
  return names.reduce((value: unknown, name) => Object(value)[name], source);
}
