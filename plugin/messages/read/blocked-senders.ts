// plugin/messages/read/blocked-senders.ts: senders whose messages are deleted when they are opened.
import * as v from "valibot";
import { addressHash } from "../../keys/address.js";
import { Collection } from "../../store/collection.js";
import type { Store } from "../../store/store.js";
import type { OpenedMessage } from "./read.js";

const BlockRecord = v.object({ address: v.string(), key: v.nullable(v.string()), since: v.string() });

/** A blocked sender: `key` is the key `kex1...` that the author knew, `null` for none; `since` is `YYYY-MM-DDThh:mm:ssZ`. */
type BlockedSender = v.InferOutput<typeof BlockRecord>;

/** The senders that the author has blocked, on this machine, by their addresses. */
export function blockedSenders(store: Store): Collection<BlockedSender> {
  return new Collection(store, "blocked/", BlockRecord, addressHash);
}

/** Whether a message is from a blocked sender: signed with the key, or claiming the address. */
export function isBlocked({ signer, message }: OpenedMessage, blocked: readonly BlockedSender[]): boolean {
  return blocked.some(({ address, key }) => address === message.address || key === signer);
}
