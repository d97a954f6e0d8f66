// plugin/messages/read/inbox-answer.ts: what one's own inbox answers with: messages, or why there are none.
import * as v from "valibot";
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { problemDetail } from "../../http/one-line.js";
import { chunksUntil } from "../../store/chunks.js";

/** A sealed message as an inbox keeps it. */
export interface InboxMessage {
  /** SHA-256 of its canonical form, in lower-case hex. */
  id: string;
  /** When it came, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  created: string;
  /** The body as it was received, armored or binary. */
  payload: Uint8Array;
}

const MAX_BYTES = 8 * 1024 * 1024;

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

/** What a refusal means, and what to do about it. */
const REFUSALS: Record<number, { code: TwtxtErrorCode; advice: string }> = {
  401: { code: "not-signed", advice: "Is the clock of this machine right?" },
  403: { code: "not-allowed", advice: 'The site knows another key: look at its option "key", and deploy.' },
  404: { code: "not-found", advice: "Has the site been deployed with functions?" },
};

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

/** Why an inbox refuses, and what to do about it. */
export function refusal(url: string, status: number, text: string): TwtxtError {
  const detail = problemDetail(text);
  const known = REFUSALS[status];
  // Where it answers with a problem of ours, functions there are.
  const advice = known && !(status === 404 && detail !== null) ? ` ${known.advice}` : "";
  const code = known?.code ?? (status === 429 || status >= 500 ? "unreachable" : "bad-request");
  return new TwtxtError(code, `${url} answers ${status}: ${detail ?? "it does not say why."}${advice}`);
}

/**
 * @param signal - with which the answer was asked for
 * @throws TwtxtError `too-large` beyond 8 MiB; the reason of the signal
 */
export async function textOf(response: Response, signal: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ? chunksUntil(response.body, signal) : []) {
    size += chunk.length;
    if (size > MAX_BYTES)
      throw new TwtxtError("too-large", `${response.url} answers with more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
