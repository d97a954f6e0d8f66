// plugin/messages/read/inbox-answer.ts: the messages in the answers of the author's own inbox.
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";

/** A sealed message as an inbox keeps it. */
export interface InboxMessage {
  /** SHA-256 of its canonical form, in lower-case hex. */
  id: string;
  /** When it came, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  created: string;
  /** The body as it was received, armored or binary. */
  payload: Uint8Array;
}

const Item = v.pipe(
  v.object({
    id: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    created: v.pipe(v.string(), v.isoTimestamp()),
    // Not by an expression: on a text of megabytes it would run out of stack.
    payload: v.pipe(v.string(), v.check(isBase64)),
  }),
  v.transform(
    ({ payload, ...item }): InboxMessage => ({ ...item, payload: Uint8Array.from(Buffer.from(payload, "base64")) }),
  ),
);
const Items = v.array(Item);

function isBase64(text: string): boolean {
  return Buffer.from(text, "base64").toString("base64") === text;
}

/**
 * The messages of a page.
 *
 * @throws TwtxtError `bad-message` for what is no list of messages
 */
export function itemsOf(url: string, text: string): InboxMessage[] {
  return checked(url, text, Items);
}

/** One message of a stream. @throws TwtxtError as {@link itemsOf} */
export function itemOf(url: string, text: string): InboxMessage {
  return checked(url, text, Item);
}

/** Whether the answer to a deletion says that there was something to delete; another host may say nothing. */
export function isDeletion(text: string): boolean {
  return Object(parsed(text)).deleted !== false;
}

function checked<T>(url: string, text: string, schema: v.GenericSchema<unknown, T>): T {
  const result = v.safeParse(schema, parsed(text));
  if (result.success) return result.output;
  throw new TwtxtError("bad-message", `${url} answers with something else than sealed messages. Is it an inbox?`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
