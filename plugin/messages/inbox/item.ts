// plugin/messages/inbox/item.ts: messages as returned to their reader, and cursors.
import { TwtxtError } from "../../errors.js";
import type { StoredMessage } from "./stored.js";

/** A message in the list and the stream. Its cursor is `<created>-<id>`. */
export interface InboxItem {
  /** SHA-256 of the message's canonical form, in lower-case hex; see `canonicalForm`. */
  id: string;
  /** `YYYY-MM-DDThh:mm:ss.sssZ` */
  created: string;
  /** Base64 of the body as received. */
  payload: string;
}

/** A position in an inbox, ordered by time, then by id. */
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
  throw new TwtxtError("bad-request", "Invalid cursor: use one that this inbox returned.");
}

export function isAfter(a: Place, b: Place): boolean {
  return a.created === b.created ? a.id > b.id : a.created > b.created;
}
