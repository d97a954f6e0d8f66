// plugin/client/write/form-fields.ts: the text fields of a form.
import type { Context } from "hono";
import type { ClientEnv } from "../client-env.js";

export type FormFields = Readonly<Partial<Record<string, string>>>;

export async function formOf(c: Context<ClientEnv>): Promise<FormFields> {
  const fields = Object.entries(await c.req.parseBody());
  return Object.fromEntries(fields.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}

/** Browsers send CR LF. */
export function bodyOf({ body = "" }: FormFields): string {
  return body.replace(/\r\n?/g, "\n").trim();
}
