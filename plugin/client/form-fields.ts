// plugin/client/form-fields.ts: the text fields of a form.
import type { Context } from "hono";
import type { ClientEnv } from "./client-env.js";

/** By name. */
export type FormFields = Readonly<Partial<Record<string, string>>>;

export async function formOf(c: Context<ClientEnv>): Promise<FormFields> {
  const fields = Object.entries(await c.req.parseBody());
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === "string"));
}

/** The value of a text area. Browsers send CR LF. */
export function withLineFeeds(value: string): string {
  return value.replace(/\r\n?/g, "\n");
}
