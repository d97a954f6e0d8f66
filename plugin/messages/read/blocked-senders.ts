// plugin/messages/read/blocked-senders.ts: senders whose messages are deleted when they are opened.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { addressHash } from "../../keys/address.js";
import { Collection } from "../../store/collection.js";
import type { Store } from "../../store/store.js";
import type { OpenedMessage } from "./read.js";

const BlockRecord = v.object({ address: v.string(), key: v.nullable(v.string()), since: v.string() });

/** A blocked sender: `key` is the key `kex1...` that the author knew, `null` for none; `since` is `YYYY-MM-DDThh:mm:ssZ`. */
type BlockedSender = v.InferOutput<typeof BlockRecord>;

/** The senders that the author has blocked, on this machine. All methods throw TwtxtError `store-failed`. */
export class BlockedSenders {
  readonly #senders: Collection<BlockedSender>;

  constructor(
    store: Store,
    private readonly now: Clock,
  ) {
    this.#senders = new Collection(store, "blocked/", BlockRecord);
  }

  /** Sorted by address. */
  async list(): Promise<BlockedSender[]> {
    return (await this.#senders.list()).sort((a, b) => (a.address < b.address ? -1 : 1));
  }

  /** @param key - the sender's key, if it is known */
  async block(address: string, key: string | null): Promise<void> {
    await this.#senders.write(addressHash(address), { address, key, since: formatTimestamp(this.now()) });
  }

  /** @returns whether the address was blocked */
  unblock(address: string): Promise<boolean> {
    return this.#senders.forget(addressHash(address));
  }
}

/** Whether a message is from a blocked sender: signed with the key, or claiming the address. */
export function isBlocked({ signer, message }: OpenedMessage, blocked: readonly BlockedSender[]): boolean {
  return blocked.some(({ address, key }) => address === message.address || key === signer);
}
