// plugin/browser/guest-store.ts: a reader's conversations in IndexedDB.
import { type DBSchema, deleteDB, type IDBPDatabase, openDB } from "idb";
import { COMMENT_MEMORY, DATABASE, hasConversations } from "./conversation-database.js";

export interface Conversation {
  /** The author's address. */
  address: string;
  /** The seed of the reader's private key, 32 bytes. */
  seed: Uint8Array;
  /** `YYYY-MM-DDThh:mm:ssZ` */
  created: string;
  name: string;
  /** Text that is not sent yet. */
  draft: string;
}

export interface GuestMessage {
  /** The author's address. */
  address: string;
  /** The id in the inbox; a random one for the reader's own messages. */
  id: string;
  /** When the site stored it, by the site's clock; before that, when it was written. `YYYY-MM-DDThh:mm:ss.sssZ` */
  time: string;
  text: string;
  /** `unverified` and `unreadable` messages are received ones, too. */
  state: "waiting" | "failed" | "sent" | "received" | "unverified" | "unreadable";
  /** The sealed message of one that is not sent. A repeated delivery of the same bytes is stored once. */
  sealed?: string;
  /** Why it was not sent, for people. */
  reason?: string;
}

interface Schema extends DBSchema {
  conversations: { key: string; value: Conversation };
  messages: { key: [address: string, id: string]; value: GuestMessage };
}

/** The conversation with one author. Several tabs of the browser share it. */
export class GuestStore {
  #database: Promise<IDBPDatabase<Schema>> | null = null;

  constructor(private readonly address: string) {}

  async conversation(): Promise<Conversation | undefined> {
    return (await this.#existing())?.get("conversations", this.address);
  }

  /** Starts a conversation with a key. @param created - default: now. @returns an existing one, if another tab was first */
  async start(seed: Uint8Array, created = `${new Date().toISOString().slice(0, 19)}Z`): Promise<Conversation> {
    return navigator.locks.request(DATABASE, async () => {
      const change = (await this.#open()).transaction("conversations", "readwrite");
      const found = await change.store.get(this.address);
      const conversation = found ?? { address: this.address, seed, created, name: "", draft: "" };
      if (!found) await change.store.put(conversation);
      await change.done;
      return conversation;
    });
  }

  /** Does nothing if the conversation was forgotten. */
  async update(fields: Partial<Pick<Conversation, "name" | "draft">>): Promise<void> {
    const change = (await this.#existing())?.transaction("conversations", "readwrite");
    const found = await change?.store.get(this.address);
    if (found) await change?.store.put({ ...found, ...fields });
    await change?.done;
  }

  /** Oldest first, with those at the end that the site has not stored yet. */
  async messages(): Promise<GuestMessage[]> {
    const all = (await (await this.#existing())?.getAll("messages", this.#range())) ?? [];
    const place = (message: GuestMessage) => `${isAtSite(message) ? 0 : 1} ${message.time}`;
    return all.sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0));
  }

  /** Does nothing if the conversation was forgotten. @returns whether the message is new */
  async put(message: Omit<GuestMessage, "address">): Promise<boolean> {
    const change = (await this.#existing())?.transaction(["conversations", "messages"], "readwrite");
    if (!change) return false;
    const isKept = (await change.objectStore("conversations").getKey(this.address)) !== undefined;
    const messages = change.objectStore("messages");
    const isNew = (await messages.getKey([this.address, message.id])) === undefined;
    if (isKept) await messages.put({ ...message, address: this.address });
    await change.done;
    return isKept && isNew;
  }

  /** Marks a message that is not sent as waiting. @returns `undefined` if it is sent or forgotten */
  async wait(id: string): Promise<GuestMessage | undefined> {
    return this.#change(id, (message) => ({ ...message, state: "waiting" }));
  }

  /** Marks a message as sent. It follows those that were there before, also in the same second. */
  async confirm(id: string, time: Date): Promise<void> {
    await this.#change(id, ({ sealed: _, reason: __, ...message }, others) => {
      const last = others.filter(isAtSite).reduce((most, other) => Math.max(most, Date.parse(other.time)), 0);
      return { ...message, state: "sent", time: new Date(Math.max(time.getTime(), last + 1)).toISOString() };
    });
  }

  /** Marks a message as not sent. @param reason - for people */
  async fail(id: string, reason: string): Promise<void> {
    await this.#change(id, (message) => ({ ...message, state: "failed", reason }));
  }

  /** Changes a message that is not sent yet. */
  async #change(id: string, changed: (message: GuestMessage, others: readonly GuestMessage[]) => GuestMessage) {
    const change = (await this.#existing())?.transaction("messages", "readwrite");
    const all = (await change?.store.getAll(this.#range())) ?? [];
    const message = all.find((each) => each.id === id && !isAtSite(each));
    if (message) await change?.store.put(changed(message, all));
    await change?.done;
    return message;
  }

  /** Deletes the key, the messages and the drafts of comments, and the database with its last conversation. */
  async forget(): Promise<void> {
    // A conversation that started in between would be deleted with the database.
    localStorage.removeItem(COMMENT_MEMORY);
    await navigator.locks.request(DATABASE, () => this.#forget());
  }

  async #forget(): Promise<void> {
    const database = await this.#existing();
    if (!database) return;
    const change = database.transaction(["conversations", "messages"], "readwrite");
    await change.objectStore("messages").delete(this.#range());
    await change.objectStore("conversations").delete(this.address);
    const left = await change.objectStore("conversations").count();
    await change.done;
    if (left > 0) return;
    database.close();
    this.#database = null;
    await deleteDB(DATABASE);
  }

  #range(): IDBKeyRange {
    return IDBKeyRange.bound([this.address], [this.address, []]);
  }

  /** @returns `null` without any conversation: reading must not create the database again */
  async #existing(): Promise<IDBPDatabase<Schema> | null> {
    return this.#database || (await hasConversations()) ? this.#open() : null;
  }

  #open(): Promise<IDBPDatabase<Schema>> {
    this.#database ??= openDB<Schema>(DATABASE, 1, {
      upgrade(database) {
        database.createObjectStore("conversations", { keyPath: "address" });
        database.createObjectStore("messages", { keyPath: ["address", "id"] });
      },
      // Another tab deletes the database.
      blocking: (_, __, event) => {
        (event.target as IDBDatabase).close();
        this.#database = null;
      },
      terminated: () => {
        this.#database = null;
      },
    }).catch((error) => {
      this.#database = null;
      throw error;
    });
    return this.#database;
  }
}

/** The seed of a new key. */
export function newSeed(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32));
}

/** Whether the site has stored this message. */
function isAtSite({ state }: GuestMessage): boolean {
  return state !== "waiting" && state !== "failed";
}
