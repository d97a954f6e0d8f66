// plugin/host/store-heads.ts: the values in a site's store that name others, and make sense with those alone.
import { contentsNamedIn, RECORDS } from "../blobs/serve/stored.js";
import { EVENTS } from "../mentions/receive/event-log.js";
import { partsNamedIn, SNAPSHOT } from "../mentions/receive/snapshot.js";
import type { Heads } from "../store/consistent-copy.js";

export const STORE_HEADS: readonly Heads[] = [
  { at: SNAPSHOT, beside: EVENTS, namedIn: partsNamedIn },
  { at: RECORDS, beside: null, namedIn: contentsNamedIn },
];
