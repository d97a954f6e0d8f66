// test/client/visitor.ts: a browser without script that has opened the client.
import { expect } from "vitest";
import type { ClientUnderTest, Got } from "./client.js";

export interface Visitor {
  /** Requests a page. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Got>;
  /** Submits a form of the client. */
  post(path: string, fields?: Readonly<Record<string, string>>): Promise<Got>;
  /** Submits a form of the client, and follows its redirect. @returns the page that it leads to */
  submit(path: string, fields?: Readonly<Record<string, string>>): Promise<Got>;
}

export async function visitorOf(client: ClientUnderTest, start: string): Promise<Visitor> {
  const cookie = await client.open();
  const get = (path: string, headers = {}) => client.ask(path, { headers: { cookie, ...headers } });
  const [, csrf = ""] = /name="csrf" value="([^"]+)"/.exec((await get(start)).text) ?? [];
  expect(csrf).not.toBe("");
  const post = (path: string, fields = {}) =>
    client.ask(path, {
      method: "POST",
      headers: { cookie, origin: client.origin, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ ...fields, csrf }).toString(),
    });
  return {
    get,
    post,
    async submit(path, fields = {}) {
      const answer = await post(path, fields);
      return answer.status === 303 ? get(answer.headers.get("location") ?? "") : answer;
    },
  };
}

/** The text of a page, without markup. */
export function shownText(html: string): string {
  return html
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
