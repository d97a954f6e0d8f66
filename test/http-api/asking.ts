// test/http-api/asking.ts: sends the example requests of docs/openapi.yaml, unchanged or with changes.
import { hash } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Endpoint } from "../../plugin/host/endpoints.js";
import { toResponse } from "../../plugin/http/respond.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import type { Identity } from "../../plugin/keys/identity.js";
import { identityOf } from "../helpers/identity.js";
import { type Operation, operation, type Parameter, paths } from "./document.js";
import type { ReceivedResponse } from "./hold.js";

export const ORIGIN = "https://alice.example";
export const TOKEN = "a-token-that-nobody-guesses";
export const ALICE = identityOf(2);
export const EVE = identityOf(3);

/** Changes to the example request. */
export interface RequestChanges {
  /** Parameters of the path. */
  parameters?: Record<string, string>;
  query?: string;
  headers?: Record<string, string>;
  /** `null` to announce a body and never send it. */
  body?: string | Uint8Array | null;
  /** The signer, by default Alice where a signature is required; `null` for no signature and no token. */
  signer?: Identity | null;
  /** How far the signer's clock is ahead, in milliseconds. */
  clockAhead?: number;
}

/** A request with its final headers. */
export interface PreparedRequest {
  method: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  body: Uint8Array | undefined;
  /** Announces a body and sends none. */
  isSilent: boolean;
}

/** The example request with these changes. */
export function requestFor(method: string, template: string, request: RequestChanges, now: number): PreparedRequest {
  const described = operation(method, template);
  const known = [...(paths[template]?.parameters ?? []), ...(described?.parameters ?? [])];
  const examples = (place: Parameter["in"]) =>
    known.flatMap(({ name, in: at, example }): [string, string][] =>
      at === place && example !== undefined ? [[name, example]] : [],
    );
  const values: Record<string, string> = { ...Object.fromEntries(examples("path")), ...request.parameters };
  const query = request.query ?? new URLSearchParams(examples("query")).toString();
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "") + (query && `?${query}`);

  const { type, body } = bodyFor(described, request.body ?? undefined);
  const exampleHeaders = examples("header").map(([name, value]) => [name.toLowerCase(), value]);
  const headers = { ...Object.fromEntries(exampleHeaders), ...(type && { "content-type": type }), ...request.headers };
  const sent = { method, path, headers, body, isSilent: request.body === null };
  return { ...sent, headers: { ...headers, ...credentialsFor(sent, template, request, now) } };
}

function bodyFor(
  described: Operation | undefined,
  given: string | Uint8Array | undefined,
): Pick<PreparedRequest, "body"> & { type: string } {
  const [[type, { example }] = ["", { example: undefined }]] = Object.entries(described?.requestBody?.content ?? {});
  const isForm = type === "application/x-www-form-urlencoded";
  const text = isForm ? new URLSearchParams(Object(example)).toString() : textOf(example);
  const body = given ?? text;
  return { type: type === "*/*" ? "" : type, body: typeof body === "string" ? Buffer.from(body) : body };
}

function textOf(example: unknown): string | undefined {
  return typeof example === "object" ? JSON.stringify(example) : (example as string | undefined);
}

/** The headers that authenticate a request, as the operation requires. */
function credentialsFor(
  { method, path, headers, body }: PreparedRequest,
  template: string,
  { signer, clockAhead = 0 }: RequestChanges,
  now: number,
) {
  const schemes = schemesOf(method, template);
  if (signer === null) return {};
  if (schemes.includes("password"))
    return { authorization: `Basic ${Buffer.from(`alice:${TOKEN}`).toString("base64")}` };
  if (!schemes.includes("signature") && signer === undefined) return {};
  const bodyHash = body && hash("sha256", body, "buffer");
  return signRequest(
    { method, url: ORIGIN + path, headers, ...(bodyHash && { bodyHash }) },
    signer ?? ALICE,
    now + clockAhead,
  );
}

/** The security schemes of an operation. An unlisted method gets those of the listed ones. */
function schemesOf(method: string, template: string): string[] {
  const described = operation(method, template);
  const all = described ? [described] : ["GET", "POST", "DELETE"].flatMap((other) => operation(other, template) ?? []);
  return all.flatMap(({ security = [] }) => security.flatMap((one) => Object.keys(one)));
}

export function sendRequest(
  port: number,
  { method, path, headers, body, isSilent }: PreparedRequest,
): Promise<ReceivedResponse> {
  const isChunked = isSilent || headers["transfer-encoding"] !== undefined;
  const length = isChunked ? { "transfer-encoding": "chunked" } : body && { "content-length": body.length };
  return new Promise((resolve, reject) => {
    const place = { host: "127.0.0.1", port, path, method, agent: false };
    const sent = httpRequest({ ...place, headers: { ...headers, ...length } }, (response) => {
      let text = "";
      const end = () => {
        resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: text });
        // Ends the request, in case the server has not read all of its body.
        sent.destroy();
      };
      response.setEncoding("utf8").on("end", end);
      response.on("data", (data: string) => {
        text += data;
        if (isEnoughOfStream(response, text)) end();
      });
    });
    sent.on("error", reject);
    if (isSilent) sent.flushHeaders();
    else sent.end(body);
  });
}

/** Calls the endpoint directly: over a connection, a truncated request gets no response. */
export async function sendTruncated(
  endpoint: Endpoint | null,
  { method, path, headers, body }: PreparedRequest,
): Promise<ReceivedResponse> {
  const request = new Request(ORIGIN + path, {
    method,
    headers: { ...headers, "content-length": String(body?.length) },
    body: Buffer.from(body ?? "").subarray(1),
  });
  if (!endpoint) throw new Error(`No endpoint at ${path}.`);
  const response = toResponse(await endpoint.answer(request, "127.0.0.1"));
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** Whether a stream has had two events: it never ends by itself. */
function isEnoughOfStream({ headers }: IncomingMessage, text: string): boolean {
  return headers["content-type"] === "text/event-stream" && text.split("\n\n").length > 2;
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]));
}
