// test/client/visitor.ts: a browser without JavaScript that has opened the client.
import { expect } from "vitest";
import type { ClientUnderTest, Got } from "./client.js";

export interface SentFile {
  field: string;
  name: string;
  bytes: Uint8Array;
  /** As the browser says. */
  type?: string;
}

export interface Visitor {
  cookie: string;
  /** The CSRF token of forms. */
  csrf: string;
  /** Requests a page. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Got>;
  /** Submits a form of the client. */
  post(path: string, fields?: Readonly<Record<string, string>>): Promise<Got>;
  /** Submits a form of the client, and follows its redirect. @returns the resulting page */
  submit(path: string, fields?: Readonly<Record<string, string>>): Promise<Got>;
  /** Presses Undo on a page. @returns the resulting page */
  undo(page: Got): Promise<Got>;
  /** Like `submit`, but with files, as sent by a form with a file field. */
  upload(path: string, fields: Readonly<Record<string, string>>, files: readonly SentFile[]): Promise<Got>;
}

export async function visitorOf(client: ClientUnderTest, start: string): Promise<Visitor> {
  const cookie = await client.session();
  const get = (path: string, headers = {}) => client.ask(path, { headers: { cookie, ...headers } });
  const [, csrf = ""] = /name="csrf" value="([^"]+)"/.exec((await get(start)).text) ?? [];
  expect(csrf).not.toBe("");
  const send = (path: string, body: Uint8Array, type: string) =>
    client.ask(path, {
      method: "POST",
      headers: { cookie, origin: client.origin, "content-type": type },
      body,
    });
  const followed = async (answer: Got) => (answer.status === 303 ? get(answer.headers.get("location") ?? "") : answer);
  const post = (path: string, fields = {}) => {
    const body = new URLSearchParams({ ...fields, csrf }).toString();
    return send(path, Buffer.from(body), "application/x-www-form-urlencoded");
  };
  const submit = async (path: string, fields = {}) => followed(await post(path, fields));
  return {
    cookie,
    csrf,
    get,
    post,
    submit,
    async undo({ text }) {
      const [, notice = ""] = /<form[^>]* action="\/undo">.*?name="notice" value="([^"]+)"/s.exec(text) ?? [];
      expect(notice).not.toBe("");
      return submit("/undo", { notice });
    },
    async upload(path, fields, files) {
      const form = new FormData();
      for (const [name, value] of Object.entries({ ...fields, csrf })) form.append(name, value);
      for (const { field, name, bytes, type = "" } of files) form.append(field, new Blob([bytes], { type }), name);
      const encoded = new Response(form);
      const body = Buffer.from(await encoded.arrayBuffer());
      return followed(await send(path, body, encoded.headers.get("content-type") ?? ""));
    },
  };
}

/** The text of a page, without markup and parts that only scripts show. */
export function shownText(html: string): string {
  return html
    .replace(/<p [^>]* hidden="">[\s\S]*?<\/p>/g, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
