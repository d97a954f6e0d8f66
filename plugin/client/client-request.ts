// plugin/client/client-request.ts: requests of the client's pages, with the fields of their forms, and responses with the contents of files.
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import { ANY_TYPE, formatDisposition } from "../blobs/metadata.js";

export interface ClientEnv {
  Bindings: HttpBindings;
  Variables: {
    /** For forms; `Form` of form.tsx adds it. Missing without a session. */
    csrfToken?: string;
  };
}

export type ClientRequest = Context<ClientEnv>;

export type FormFields = Readonly<Partial<Record<string, string>>>;

/** The fields with text. Their lines end with LF. */
export async function readForm(c: ClientRequest): Promise<FormFields> {
  const fields = Object.entries(await c.req.parseBody());
  return Object.fromEntries(
    fields.flatMap(([name, value]) => (typeof value === "string" ? [[name, withLineFeeds(value)]] : [])),
  );
}

/** The value of a text area. Browsers send CR LF. */
export function withLineFeeds(value: string): string {
  return value.replace(/\r\n?/g, "\n");
}

/** Whether the script of an open page asks for news. The author may not have seen it then. */
export function isRefresh(c: ClientRequest): boolean {
  return c.req.header("sec-fetch-dest") === "empty";
}

interface Contents {
  body: Uint8Array | ReadableStream<Uint8Array>;
  /** Without it, the whole body is read to compute one. */
  etag?: string;
}

/** A picture, as its own type. @param type - of a raster format: SVG can contain scripts */
export function pictureResponse({ type, ...contents }: Contents & { type: string }): Response {
  return contentsResponse(contents, { "content-type": type });
}

export interface Download extends Contents {
  filename: string;
  /** In bytes. */
  size: number;
}

export function downloadResponse({ filename, size, ...contents }: Download): Response {
  return contentsResponse(contents, {
    "content-type": ANY_TYPE,
    "content-length": String(size),
    "content-disposition": formatDisposition("attachment", filename),
  });
}

function contentsResponse({ body, etag }: Contents, headers: Record<string, string>): Response {
  const policy = { "content-security-policy": "sandbox; default-src 'none'" };
  return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream, {
    headers: { ...headers, ...policy, ...(etag !== undefined && { etag: `"${etag}"` }) },
  });
}
