// plugin/messages/inbox/item.ts: a message as its reader gets it, and the cursor that names its place.
import { TwtxtError } from "../../errors.js";
import type { StoredMessage } from "./stored.js";

/** A message as the list and the stream give it. `<created>-<id>` is its cursor. */
export interface InboxItem {
  /** SHA-256 of the message's canonical form, in lower-case hex; see `canonicalForm`. */
  id: string;
  /** `YYYY-MM-DDThh:mm:ss.sssZ` */
  created: string;
  /** Base64 of the body as it was received. */
  payload: string;
}

/** A place in an inbox: by the time, and in one millisecond by the id. */
export type Place = Pick<StoredMessage, "created" | "id">;

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)-([0-9a-f]{64})$/;

export function itemOf({ id, created }: Place, body: Uint8Array): InboxItem {
  return { id, created: new Date(created).toISOString(), payload: Buffer.from(body).toString("base64") };
}

/** @example formatCursor({ created: 0, id: "00ff..." }) // "1970-01-01T00:00:00.000Z-00ff..." */
export function formatCursor({ created, id }: Place): string {
  return `${new Date(created).toISOString()}-${id}`;
}

/** @throws TwtxtError `bad-request` */
export function parseCursor(text: string): Place {
  const [, time = "", id] = CURSOR.exec(text) ?? [];
  const created = Date.parse(time);
  if (id !== undefined && !Number.isNaN(created)) return { created, id };
  throw new TwtxtError("bad-request", "The cursor is none that this inbox has given out.");
}

export function isAfter(a: Place, b: Place): boolean {
  return a.created === b.created ? a.id > b.id : a.created > b.created;
}
