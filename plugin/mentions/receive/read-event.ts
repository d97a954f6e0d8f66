// plugin/mentions/receive/read-event.ts: parser of stored events.
import * as v from "valibot";
import { MENTION_TYPES } from "../../site/mention-list.js";
import type { MentionEvent } from "./event.js";

const time = v.pipe(v.string(), v.isoTimestamp());
const url = v.pipe(v.string(), v.check(URL.canParse));
const maybe = v.nullable(v.string());

const MENTION = v.object({
  identity: url,
  isDeclared: v.optional(v.boolean(), false),
  given: url,
  timestamp: maybe,
  instant: maybe,
  type: v.picklist(MENTION_TYPES),
  author: v.object({ name: v.string(), url: v.string(), photo: maybe }),
  text: v.string(),
  published: maybe,
  subject: maybe,
  about: v.optional(maybe, null),
  target: v.string(),
  under: maybe,
  hold: v.picklist(["never", "always", "when many"]),
  received: v.exactOptional(time),
});

const EVENT: v.GenericSchema<unknown, MentionEvent> = v.variant("kind", [
  v.object({ kind: v.literal("kept"), at: time, mention: MENTION }),
  v.object({ kind: v.literal("removed"), at: time, id: v.string() }),
  v.object({
    kind: v.literal("moderated"),
    at: time,
    id: v.string(),
    state: v.picklist(["shown", "rejected"]),
    version: v.optional(maybe, null),
  }),
  v.object({ kind: v.literal("forgotten"), at: time, id: v.string() }),
]);

/** @returns `null` for anything but an event, such as a truncated file */
export function parseEvent(bytes: Uint8Array): MentionEvent | null {
  const result = v.safeParse(EVENT, jsonOf(bytes));
  return result.success ? result.output : null;
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return null;
  }
}
