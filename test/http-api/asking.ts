// test/http-api/asking.ts: the requests that docs/openapi.yaml gives as examples, as they are, or with something changed.
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Endpoint } from "../../plugin/host/endpoints.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import type { Identity } from "../../plugin/keys/node-identity.js";
import { identityOf } from "../helpers/identity.js";
import { type Operation, operation, type Parameter, paths } from "./document.js";
import type { Answer } from "./hold.js";

export const ORIGIN = "https://alice.example";
export const TOKEN = "a-token-that-nobody-guesses";
export const ALICE = identityOf(2);
export const EVE = identityOf(3);

/** What a request has that the file's example has not. */
export interface Asked {
  /** Of the path. */
  parameters?: Record<string, string>;
  query?: string;
  headers?: Record<string, string>;
  /** `null` for one that never comes. */
  body?: string | Uint8Array | null;
  /** The signer, by default Alice where a signature is required; `null` for no signature and no token. */
  as?: Identity | null;
}

/** A request, ready to go. */
export interface Sent {
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body: Uint8Array | undefined;
  /** Says that there is a body, and sends none. */
  isSilent: boolean;
}

/** The example of the file, but for what is asked otherwise. */
export function sentFor(method: string, template: string, asked: Asked, now: number): Sent {
  const wanted = operation(method, template);
  const known = [...(paths[template]?.parameters ?? []), ...(wanted?.parameters ?? [])];
  const examples = (place: Parameter["in"]) =>
    known.flatMap(({ name, in: at, example }): [string, string][] =>
      at === place && example !== undefined ? [[name, example]] : [],
    );
  const values: Record<string, string> = { ...Object.fromEntries(examples("path")), ...asked.parameters };
  const query = asked.query ?? new URLSearchParams(examples("query")).toString();
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "") + (query && `?${query}`);

  const { type, body } = bodyFor(wanted, asked.body ?? undefined);
  const said = examples("header").map(([name, value]) => [name.toLowerCase(), value]);
  const headers = { ...Object.fromEntries(said), ...(type && { "content-type": type }), ...asked.headers };
  const sent = { method, path, headers, body, isSilent: asked.body === null };
  return { ...sent, headers: { ...headers, ...proofFor(sent, template, asked, now) } };
}

function bodyFor(
  wanted: Operation | undefined,
  given: string | Uint8Array | undefined,
): Pick<Sent, "body"> & { type: string } {
  const [[type, { example }] = ["", { example: undefined }]] = Object.entries(wanted?.requestBody?.content ?? {});
  const isForm = type === "application/x-www-form-urlencoded";
  const text = isForm ? new URLSearchParams(Object(example)).toString() : textOf(example);
  const body = given ?? text;
  return { type: type === "*/*" ? "" : type, body: body === undefined ? undefined : Buffer.from(body) };
}

function textOf(example: unknown): string | undefined {
  return typeof example === "object" ? JSON.stringify(example) : (example as string | undefined);
}

/** What shows who asks, as the path's methods want it. */
function proofFor({ method, path, headers, body }: Sent, template: string, { as }: Asked, now: number) {
  const schemes = schemesOf(method, template);
  if (as === null) return {};
  if (schemes.includes("password"))
    return { authorization: `Basic ${Buffer.from(`alice:${TOKEN}`).toString("base64")}` };
  if (!schemes.includes("signature") && as === undefined) return {};
  return signRequest({ method, url: ORIGIN + path, headers, ...(body && { body }) }, as ?? ALICE, now);
}

/** A method that is not listed is asked for as the others are. */
function schemesOf(method: string, template: string): string[] {
  const wanted = operation(method, template);
  const all = wanted ? [wanted] : ["GET", "POST", "DELETE"].flatMap((other) => operation(other, template) ?? []);
  return all.flatMap(({ security = [] }) => security.flatMap((one) => Object.keys(one)));
}

export function answerTo(port: number, { method, path, headers, body, isSilent }: Sent): Promise<Answer> {
  const isChunked = isSilent || headers["transfer-encoding"] !== undefined;
  const length = isChunked ? { "transfer-encoding": "chunked" } : body && { "content-length": body.length };
  return new Promise((resolve, reject) => {
    const place = { host: "127.0.0.1", port, path, method, agent: false };
    const sent = httpRequest({ ...place, headers: { ...headers, ...length } }, (response) => {
      let text = "";
      const end = () => {
        resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: text });
        // What the server has not read of the request it waits for no longer.
        sent.destroy();
      };
      response.setEncoding("utf8").on("end", end);
      response.on("data", (data: string) => {
        text += data;
        if (isStreamRead(response, text)) end();
      });
    });
    sent.on("error", reject);
    if (isSilent) sent.flushHeaders();
    else sent.end(body);
  });
}

/** Without a connection, which would be gone. */
export async function cutAnswer(endpoint: Endpoint | null, { method, path, headers, body }: Sent): Promise<Answer> {
  const request = new Request(ORIGIN + path, {
    method,
    headers: { ...headers, "content-length": String(body?.length) },
    body: Buffer.from(body ?? "").subarray(1),
  });
  if (!endpoint) throw new Error(`Nobody answers at ${path}.`);
  const response = await endpoint.answer(request, "127.0.0.1");
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** A stream does not end by itself: two events of it are enough. */
function isStreamRead({ headers }: IncomingMessage, text: string): boolean {
  return headers["content-type"] === "text/event-stream" && text.split("\n\n").length > 2;
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]));
}
