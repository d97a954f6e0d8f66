// plugin/client/client-request.ts: requests of the client's pages, with the fields of their forms.
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

export interface ClientEnv {
  Bindings: HttpBindings;
  Variables: {
    /** For forms; `Form` of form.tsx adds it. Missing without a session. */
    csrfToken?: string;
  };
}

export type ClientRequest = Context<ClientEnv>;

/** Text fields by name. */
export type FormFields = Readonly<Partial<Record<string, string>>>;

export async function readForm(c: ClientRequest): Promise<FormFields> {
  const fields = Object.entries(await c.req.parseBody());
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === "string"));
}

/** The value of a text area. Browsers send CR LF. */
export function withLineFeeds(value: string): string {
  return value.replace(/\r\n?/g, "\n");
}

/** Whether the script of an open page asks for news. The author may not have seen it then. */
export function isRefresh(c: ClientRequest): boolean {
  return c.req.header("sec-fetch-dest") === "empty";
}

/** How many items a page shows: as many as `?show=` asks for, but not fewer than `least`. */
export function shownCount(c: ClientRequest, least: number): number {
  return Math.max(least, Math.trunc(Number(c.req.query("show"))) || 0);
}
