// plugin/author/messages/correspondence.ts: the author's messages, opened once and kept in memory while a process runs.
import { setImmediate } from "node:timers/promises";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { formatKey } from "../../keys/key.js";
import type { SenderLookup } from "../../messages/lookup/sender-lookup.js";
import { type InboxClient, type InboxMessage, toCursor } from "../../messages/read/inbox-client.js";
import { sleep } from "../../store/retry.js";
import type { Mailbox } from "./mailbox.js";
import {
  findKeyChanges,
  type InboxEntry,
  isOpened,
  type KeyChange,
  type OpenedCopy,
  openCopies,
  readText,
  type Thread,
  toThreads,
} from "./message-facts.js";
import { newMessages, watchedFetch } from "./new-messages.js";

/** How often an inbox without a subscription is polled, in seconds. */
const POLL_SECONDS = 30;
/** The pause between attempts to deliver, and the longest one between attempts to read the inbox. */
const PAUSE_MS = 60_000;
/** The pause after the first failure to read the inbox. It doubles with each one. */
const FIRST_PAUSE_MS = 1000;
/** Messages that are requested and opened at once. This takes some ten milliseconds. */
const BATCH = 50;
/** Opened messages in memory. Older ones stay in the inbox. */
const MAX_ENTRIES = 10_000;

/** A thread, with what the author has read of it. */
export interface Conversation extends Thread {
  unread: number;
}

/** Follows the inbox, opens each message once, and delivers the outbox. Plain text stays in memory. */
export class Correspondence {
  readonly #entries = new Map<string, InboxEntry>();
  /** The messages whose senders were not verified, to verify them again. */
  readonly #uncertain = new Map<string, InboxMessage>();
  readonly #copies = new Map<string, OpenedCopy>();
  #senders: SenderLookup;
  /** Why the newest messages may be missing, a sentence; `null` while the inbox answers. */
  fault: string | null = null;
  isOpening = false;
  /** Whether all older messages were opened once; `null` while they are being opened. */
  #isComplete: boolean | null = false;

  private constructor(
    readonly mailbox: Mailbox,
    private readonly inbox: InboxClient,
  ) {
    this.#senders = mailbox.senders();
  }

  /**
   * Opens the messages of an inbox, and starts to follow it and to deliver the outbox. While the inbox cannot be read,
   * {@link fault} says why.
   *
   * @param ending - ends it
   * @throws TwtxtError as `Mailbox.inbox`
   */
  static async open(mailbox: Mailbox, ending: AbortSignal): Promise<Correspondence> {
    let onChange = (_why: string | null) => {};
    const inbox = await mailbox.inbox(watchedFetch(ending, (why) => onChange(why)));
    const correspondence = new Correspondence(mailbox, inbox);
    onChange = (why) => {
      correspondence.fault = why === null ? null : `The inbox ${why}.`;
    };
    void correspondence.#deliver(ending);
    await correspondence.#follow(ending);
    return correspondence;
  }

  /** Unread ones first, then by their newest messages. */
  async conversations(): Promise<Conversation[]> {
    await this.#readCopies();
    const entries = [...this.#entries.values()].sort((a, b) => (toCursor(a) < toCursor(b) ? -1 : 1));
    const threads = toThreads(entries, [...this.#copies.values()]);
    const isRead = await this.mailbox.readMarks.current();
    const all = threads.map((thread) => ({
      ...thread,
      unread: thread.received.filter(({ id }) => !isRead(id)).length,
    }));
    return all.sort((a, b) => Number(b.unread > 0) - Number(a.unread > 0) || (findNewest(a) < findNewest(b) ? 1 : -1));
  }

  /** @param address - `null` for the messages whose senders are not certain */
  async with(address: string | null): Promise<Conversation | null> {
    return (await this.conversations()).find((one) => one.address === address) ?? null;
  }

  keyChanges(): KeyChange[] {
    return findKeyChanges(this.#entries.values());
  }

  /** A message and the address of its correspondent, `null` if the sender is not verified. @throws TwtxtError `not-found` */
  async entry(id: string): Promise<{ entry: InboxEntry; address: string | null }> {
    const entry = this.#entries.get(id);
    if (!entry) throw new TwtxtError("not-found", "This message is no longer in your inbox.");
    const [thread] = toThreads([entry], []);
    return { entry, address: thread?.address ?? null };
  }

  /**
   * A message that the author has sent, or whose sender is verified.
   *
   * @returns its correspondent, its text, and the keys of its writer
   * @throws TwtxtError `not-found`
   */
  async written(id: string): Promise<{ address: string; text: string; signers: string[] }> {
    const entry = this.#entries.get(id);
    if (entry && isOpened(entry) && !isUncertain(entry) && entry.message.address !== null) {
      return { address: entry.message.address, text: readText(entry), signers: [entry.signer] };
    }
    await this.#readCopies();
    const { to: [address] = [], text } = this.#copies.get(id) ?? {};
    if (address === undefined || text == null) {
      throw new TwtxtError("not-found", "This message is no longer here, or its sender is not verified.");
    }
    return { address, text, signers: this.mailbox.keys.map(({ publicKey }) => formatKey(publicKey)) };
  }

  async markRead({ received }: Thread): Promise<void> {
    await this.mailbox.readMarks.add(received.map(({ id }) => id));
  }

  async delete(id: string): Promise<void> {
    await this.inbox.delete(id);
    this.#remove(id);
    await this.mailbox.readMarks.remove([id]);
  }

  /** Verifies the senders again that were not verified, such as after the author has accepted a key. */
  async verifyAgain(): Promise<void> {
    this.#senders = this.mailbox.senders();
    const uncertain = [...this.#uncertain.values()];
    for (let start = 0; start < uncertain.length; start += BATCH)
      await this.#open(uncertain.slice(start, start + BATCH));
  }

  /** Removes, and deletes from the inbox, what blocked senders wrote. */
  async removeBlocked(): Promise<void> {
    await this.#keepWanted([...this.#entries.values()]);
  }

  async #deliver(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      await this.mailbox
        .outbox()
        .retry({ all: false })
        // Only the store can fail, and then the pages that read the outbox show why.
        .catch(ifTwtxtError(() => {}));
      await sleep(PAUSE_MS, ending);
    }
  }

  /** Resolves once the newest messages are opened, or cannot be read; goes on in the background. */
  #follow(ending: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let pause = FIRST_PAUSE_MS;
      const run = async () => {
        const onStart = () => {
          this.fault = null;
          pause = FIRST_PAUSE_MS;
          void this.#openOlder(ending);
        };
        const options = { existing: "newest" as const, every: POLL_SECONDS };
        for await (const messages of newMessages(this.inbox, options, { signal: ending, sleep, onStart })) {
          await this.#add(messages, resolve);
        }
      };
      const keepRunning = async () => {
        while (!ending.aborted) {
          await run().catch((error: unknown) => {
            if (!ending.aborted) this.fault = error instanceof TwtxtError ? error.message : String(error);
            resolve();
          });
          await sleep(pause, ending);
          pause = Math.min(2 * pause, PAUSE_MS);
        }
      };
      void keepRunning();
    });
  }

  /** Opens messages from the newest to the oldest. If all were opened once, up to those. */
  async #openOlder(ending: AbortSignal): Promise<void> {
    const wasComplete = this.#isComplete;
    if (wasComplete === null) return;
    this.#isComplete = null;
    const openAll = async () => {
      for await (const messages of this.inbox.newestFirst(BATCH)) {
        const isKnown = messages.every(({ id }) => this.#entries.has(id));
        if (ending.aborted || this.#entries.size >= MAX_ENTRIES || (wasComplete && isKnown)) break;
        this.isOpening ||= !isKnown;
        await this.#add(messages);
      }
      this.#isComplete = true;
      this.isOpening = false;
    };
    // Until it succeeds, {@link fault} says why the inbox cannot be read.
    while (this.#isComplete === null && !ending.aborted) await openAll().catch(() => sleep(PAUSE_MS, ending));
  }

  /**
   * Opens messages, and lets other work run in between.
   *
   * @param onFirst - called once the first ones are opened
   */
  async #add(messages: readonly InboxMessage[], onFirst = () => {}): Promise<void> {
    const unknown = messages.filter(({ id }) => !this.#entries.has(id));
    for (let start = 0; start < unknown.length; start += BATCH) {
      await this.#open(unknown.slice(start, start + BATCH));
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
  }

  async #keepWanted(entries: readonly InboxEntry[]): Promise<InboxEntry[]> {
    const { wanted } = await this.mailbox.withoutBlocked(entries, this.inbox);
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
    // These may have reached more recipients meanwhile.
    for (const { id } of await outbox.list()) this.#copies.delete(id);
    const copies = await outbox.sent(new Set(this.#copies.keys()));
    for (const copy of openCopies(copies, mailbox.keys)) this.#copies.set(copy.id, copy);
  }
}

export function countUnread(conversations: readonly Conversation[]): number {
  return conversations.reduce((sum, { unread }) => sum + unread, 0);
}

function isUncertain(entry: InboxEntry): boolean {
  return isOpened(entry) && entry.trust.trust !== "verified";
}

function findNewest({ received, sent }: Thread): string {
  return [received.at(-1)?.created ?? "", sent.at(-1)?.created ?? ""].sort().at(-1) ?? "";
}
