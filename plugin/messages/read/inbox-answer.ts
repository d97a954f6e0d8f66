// plugin/messages/read/inbox-answer.ts: parsers of the inbox's answers.
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";

/** A sealed message in an inbox. */
export interface InboxMessage {
  /** SHA-256 of its canonical form, in lower-case hex. */
  id: string;
  /** When it arrived, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  created: string;
  /** The body as received, armored or binary. */
  payload: Uint8Array;
}

const Item = v.pipe(
  v.object({
    id: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    created: v.pipe(v.string(), v.isoTimestamp()),
    // A regular expression would overflow the stack on megabytes.
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
 * Parses a page of messages.
 *
 * @throws TwtxtError `bad-message` for anything but a list of messages
 */
export function itemsOf(url: string, text: string): InboxMessage[] {
  return checked(url, text, Items);
}

/** Parses one message of a stream. @throws TwtxtError as {@link itemsOf} */
export function itemOf(url: string, text: string): InboxMessage {
  return checked(url, text, Item);
}

/** Whether a deletion removed a message; assumed if the answer does not say. */
export function isDeletion(text: string): boolean {
  return Object(parsed(text)).deleted !== false;
}

function checked<T>(url: string, text: string, schema: v.GenericSchema<unknown, T>): T {
  const result = v.safeParse(schema, parsed(text));
  if (result.success) return result.output;
  throw new TwtxtError(
    "bad-message",
    `${url} did not answer with sealed messages. Check that it is the URL of an inbox.`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
