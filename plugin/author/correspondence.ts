// plugin/author/correspondence.ts: the author's messages, opened once and kept in memory while a process runs.
import { setImmediate } from "node:timers/promises";
import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";
import * as v from "valibot";
import { TwtxtError } from "../errors.js";
import type { SenderLookup } from "../messages/lookup/sender-lookup.js";
import { cursorOf, type InboxClient, type InboxMessage } from "../messages/read/inbox-client.js";
import { readJson, update } from "../store/json.js";
import { type InboxEntry, isOpened, type Mailbox, sleep } from "./mailbox.js";
import { newMessages, watchedFetch } from "./new-messages.js";
import { type OpenedCopy, openCopies, type Thread, threadsOf } from "./threads.js";

const READ_FOLDER = "read";
/** How often an inbox without a subscription is polled, in seconds. */
const POLL_SECONDS = 30;
/** The pause after a failure that is not retried otherwise. */
const PAUSE_MS = 60_000;
/** Opening as many takes some ten milliseconds. */
const BATCH = 50;

const ReadRecord = v.object({ upTo: v.string() });

/** What the author and one correspondent wrote to each other. */
export interface Conversation extends Thread {
  /** The messages that arrived after the author last looked. */
  unread: number;
}

/**
 * Follows the inbox, and opens each message once. Plain text stays in memory; read marks are stored on this machine.
 */
export class Correspondence {
  readonly mailbox: Mailbox;
  readonly #inbox: InboxClient;
  readonly #entries = new Map<string, InboxEntry>();
  /** The messages whose senders were not verified, to verify them again. */
  readonly #uncertain = new Map<string, InboxMessage>();
  readonly #copies = new Map<string, OpenedCopy>();
  readonly #readUpTo = new Map<string, string>();
  #senders: SenderLookup;
  #fault: string | null = null;
  #opening = 0;

  private constructor(mailbox: Mailbox, inbox: InboxClient) {
    this.mailbox = mailbox;
    this.#inbox = inbox;
    this.#senders = mailbox.senders();
  }

  /**
   * Opens the messages of an inbox, and starts to follow it.
   *
   * @param ending - ends it
   * @throws TwtxtError as `Mailbox.inbox` and `InboxClient.list`
   */
  static async open(mailbox: Mailbox, ending: AbortSignal): Promise<Correspondence> {
    let onChange = (_why: string | null) => {};
    const inbox = await mailbox.inbox(watchedFetch(ending, (why) => onChange(why)));
    const correspondence = new Correspondence(mailbox, inbox);
    onChange = (why) => {
      correspondence.#fault = why === null ? null : `The inbox ${why}.`;
    };
    await correspondence.#follow(ending);
    return correspondence;
  }

  /** Why messages may be missing that arrived lately, a sentence; `null` while the inbox answers. */
  get fault(): string | null {
    return this.#fault;
  }

  /** How many messages are still to be opened. */
  get opening(): number {
    return this.#opening;
  }

  /** Unread ones first, then by their newest messages. */
  async conversations(): Promise<Conversation[]> {
    await this.#readCopies();
    const entries = [...this.#entries.values()].sort((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1));
    const threads = threadsOf(entries, [...this.#copies.values()]);
    const all = await Promise.all(threads.map(async (thread) => ({ ...thread, unread: await this.#unreadIn(thread) })));
    return all.sort((a, b) => Number(b.unread > 0) - Number(a.unread > 0) || (newestIn(a) < newestIn(b) ? 1 : -1));
  }

  /** @param address - `null` for the messages whose senders are not certain */
  async with(address: string | null): Promise<Conversation | null> {
    return (await this.conversations()).find((one) => one.address === address) ?? null;
  }

  /** A message and its correspondent, who is `null` if it is not certain. @throws TwtxtError `not-found` */
  async entry(id: string): Promise<{ entry: InboxEntry; address: string | null }> {
    const entry = this.#entries.get(id);
    if (!entry) throw new TwtxtError("not-found", "This message is no longer in your inbox.");
    const [thread] = threadsOf([entry], []);
    return { entry, address: thread?.address ?? null };
  }

  /** Remembers that the author has seen all messages of a conversation. */
  async markRead({ address, received }: Thread): Promise<void> {
    const last = received.at(-1);
    if (!last) return;
    const upTo = cursorOf(last);
    if ((await this.#readMark(address)) >= upTo) return;
    const mark = await update(this.mailbox.author.store, markKey(address), ReadRecord, (old) =>
      old && old.upTo >= upTo ? null : { upTo },
    );
    this.#readUpTo.set(markKey(address), mark?.upTo ?? upTo);
  }

  /** Deletes a message from the inbox. */
  async delete(id: string): Promise<void> {
    await this.#inbox.delete(id);
    this.#remove(id);
  }

  /** Verifies the senders again that were not verified, such as after the author has accepted a key. */
  async verifyAgain(): Promise<void> {
    this.#senders = this.mailbox.senders();
    await this.#add([...this.#uncertain.values()]);
  }

  /** Removes, and deletes from the inbox, what blocked senders wrote. */
  async removeBlocked(): Promise<void> {
    await this.#keepWanted([...this.#entries.values()]);
  }

  /** Resolves once the newest messages are opened; goes on in the background. */
  #follow(ending: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const run = async () => {
        const options = { all: true, every: POLL_SECONDS };
        for await (const messages of newMessages(this.#inbox, options, { signal: ending, onStart: () => {} })) {
          await this.#add(
            messages.filter(({ id }) => !this.#entries.has(id)),
            resolve,
          );
        }
      };
      const keepRunning = async () => {
        while (!ending.aborted) {
          await run().catch((error: unknown) => {
            reject(error);
            if (!ending.aborted) this.#fault = error instanceof TwtxtError ? error.message : String(error);
          });
          await sleep(PAUSE_MS, ending);
        }
      };
      void keepRunning();
    });
  }

  /**
   * Opens the newest messages first, and lets other work run in between.
   *
   * @param onFirst - called once the newest ones are opened
   */
  async #add(messages: readonly InboxMessage[], onFirst = () => {}): Promise<void> {
    this.#opening += messages.length;
    const newestFirst = messages.toReversed();
    for (let start = 0; start < newestFirst.length; start += BATCH) {
      await this.#open(newestFirst.slice(start, start + BATCH));
      onFirst();
      await setImmediate();
    }
    onFirst();
  }

  async #open(messages: readonly InboxMessage[]): Promise<void> {
    const wanted = await this.#keepWanted(await this.mailbox.read(messages, this.#senders));
    const uncertain = new Set(wanted.filter(isUncertain).map(({ id }) => id));
    for (const message of messages) {
      if (uncertain.has(message.id)) this.#uncertain.set(message.id, message);
    }
    this.#opening -= messages.length;
  }

  async #keepWanted(entries: readonly InboxEntry[]): Promise<InboxEntry[]> {
    const { wanted } = await this.mailbox.withoutBlocked(entries, this.#inbox);
    for (const { id } of entries) this.#remove(id);
    for (const entry of wanted) this.#entries.set(entry.id, entry);
    return wanted;
  }

  #remove(id: string): void {
    this.#entries.delete(id);
    this.#uncertain.delete(id);
  }

  async #readCopies(): Promise<void> {
    const { mailbox } = this;
    const outbox = mailbox.outbox();
    // More recipients may have got these meanwhile.
    for (const { id } of await outbox.list()) this.#copies.delete(id);
    const copies = await outbox.sent(new Set(this.#copies.keys()));
    for (const copy of openCopies(copies, mailbox.keys)) this.#copies.set(copy.id, copy);
  }

  async #unreadIn({ address, received }: Thread): Promise<number> {
    const mark = await this.#readMark(address);
    return received.filter((entry) => cursorOf(entry) > mark).length;
  }

  async #readMark(address: string | null): Promise<string> {
    const key = markKey(address);
    const known = this.#readUpTo.get(key);
    if (known !== undefined) return known;
    const mark = (await readJson(this.mailbox.author.store, key, ReadRecord))?.value.upTo ?? "";
    this.#readUpTo.set(key, mark);
    return mark;
  }
}

function isUncertain(entry: InboxEntry): boolean {
  return isOpened(entry) && entry.trust.trust !== "verified";
}

function newestIn({ received, sent }: Thread): string {
  return [received.at(-1)?.created ?? "", sent.at(-1)?.created ?? ""].sort().at(-1) ?? "";
}

/** Hashes the address, since it is not a valid key of a store. */
function markKey(address: string | null): string {
  return `${READ_FOLDER}/${hex.encode(sha256(new TextEncoder().encode(address ?? "")))}`;
}
