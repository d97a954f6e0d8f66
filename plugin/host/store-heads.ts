// plugin/host/store-heads.ts: keys of values that refer to other values of the store.
import { contentsNamedIn, RECORDS } from "../blobs/serve/stored.js";
import { EVENTS } from "../mentions/receive/event-log.js";
import { partsNamedIn, SNAPSHOT } from "../mentions/receive/snapshot.js";
import type { HeadKeys } from "../store/consistent-copy.js";

export const STORE_HEADS: readonly HeadKeys[] = [
  { prefix: SNAPSHOT, relatedPrefix: EVENTS, referencedKeys: partsNamedIn },
  { prefix: RECORDS, relatedPrefix: null, referencedKeys: contentsNamedIn },
];
