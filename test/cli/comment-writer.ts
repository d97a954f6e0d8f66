// test/cli/comment-writer.ts: a reader who comments, edits and deletes until the server is killed, and then checks the list.
import { signRequest } from "../../plugin/http/sign-request.js";
import { identityOf } from "../helpers/identity.js";
import { PAGE } from "../helpers/receiver.js";
import { type BlobServer, SETTINGS } from "./blob-server.js";
import type { Random, Writer } from "./blob-writers.js";

interface Listed {
  id: string;
  text: string;
}

/** @param number - of the reader's key */
export function commentWriter(number: number, random: Random): Writer {
  const reader = identityOf(number, "reader");
  /** The acknowledged comments, by id. */
  const known = new Map<string, string>();
  /** What the request without a response, if there is one, may have changed. */
  let open: { id: string | null; text: string | null } | null = null;
  let count = 0;

  const ask = async (
    server: Pick<BlobServer, "url">,
    method: "GET" | "POST" | "DELETE",
    path: string,
    fields?: object,
  ) => {
    const body = fields && Buffer.from(JSON.stringify(fields));
    const headers = body ? { "content-type": "application/json" } : {};
    const url = `${SETTINGS.url}/comments${path}`;
    const signed = signRequest({ method, url, headers, ...(body && { body }) }, reader, Date.now());
    const sent = { method, headers: { ...headers, ...signed }, ...(body && { body }) };
    const response = await fetch(`${server.url}/comments${path}`, sent);
    const json = Object(await response.json());
    if (!response.ok) throw new Error(`${method} /comments${path}: ${response.status} ${json.code}`);
    return json;
  };

  const change = async (server: BlobServer) => {
    count += 1;
    const ids = [...known.keys()];
    const id = random(2) === 0 ? null : (ids[random(ids.length + 1)] ?? null);
    const isDeleted = id !== null && random(3) === 0;
    const text = isDeleted ? null : `Comment ${count}`;
    open = { id, text };
    const answer = isDeleted
      ? await ask(server, "DELETE", `/${id}`)
      : await ask(server, "POST", id === null ? "" : `/${id}`, { target: PAGE, text });
    open = null;
    if (text === null) known.delete(answer.id);
    else known.set(answer.id, text);
  };

  return {
    async write(server, step) {
      for (;;) {
        step();
        const failure = await change(server).then(
          () => null,
          (error: Error) => error,
        );
        if (failure?.message.includes("/comments")) throw failure;
        if (failure) return;
      }
    },

    async findFaults(server) {
      const listed: Listed[] = (await ask(server, "GET", `?guest=${reader.publicKey}`)).comments;
      const found = new Map(listed.map(({ id, text }) => [id, text]));
      const maybe = open;
      open = null;
      const isMaybe = (id: string) => maybe !== null && (maybe.id === id || (maybe.id === null && !known.has(id)));
      const ids = [...new Set([...known.keys(), ...found.keys()])];
      const faults = ids.flatMap((id) => {
        const [expected, text] = [known.get(id), found.get(id)];
        const isRight = text === expected || (isMaybe(id) && text === (maybe?.text ?? undefined));
        return isRight ? [] : [`comment ${id}: got ${text}, expected ${expected}`];
      });
      known.clear();
      for (const [id, text] of found) known.set(id, text);
      return faults;
    },
  };
}
