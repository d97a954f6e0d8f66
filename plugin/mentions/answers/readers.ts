// plugin/mentions/answers/readers.ts: the readers who want to be told of answers by mail. PROTOCOL 2.6
import { hash, randomBytes } from "node:crypto";
import * as v from "valibot";
import { type Clock, countedSince, DAY, HOUR, isAhead } from "../../clock.js";
import { serialize } from "../../concurrency.js";
import { listNetworks, SHARES } from "../../http/client-networks.js";
import type { DailyShares } from "../../http/daily-shares.js";
import { isSameSecret } from "../../http/secret.js";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";

/** One value, so that a round of mails without news costs one read, and the limit counts for all processes. */
export const READERS = "answers/readers";
/** Confirmations a day. One network can cause a tenth. */
export const MAX_CONFIRMATIONS = 100;
const MAX_READERS = 1000;
/** Posts of one reader; the oldest are forgotten first. */
const MAX_THREADS = 50;
const KEY_BYTES = 18;
const UNCONFIRMED = 2 * DAY;
const UNUSED = 365 * DAY;
/** Time limit for sending a mail, and the pause after a failure. */
const LEASE = 10 * 60_000;

/** The thread of a guest's private messages. The others are named by the URL of their post. */
export const MESSAGES = "messages";

const THREAD = v.object({
  /** The ids of the reader's comments. */
  comments: v.array(v.string()),
  /** The names of the answers that the reader was told of. */
  told: v.array(v.string()),
  /** When a private message came that the reader was not told of; `null` for none. Times are milliseconds since 1970. */
  waits: v.nullable(v.number()),
  /** When the last mail was sent. */
  at: v.nullable(v.number()),
});

const READER = v.object({
  address: v.string(),
  /** The secret of the link in each mail. */
  key: v.string(),
  isConfirmed: v.boolean(),
  /** Whether no mail with the link for the confirmation is due. */
  isAsked: v.boolean(),
  since: v.number(),
  used: v.number(),
  /** Until when a process is sending a mail. */
  sending: v.nullable(v.number()),
  threads: v.record(v.string(), THREAD),
});

const ALL = v.record(v.string(), READER);

type Thread = v.InferOutput<typeof THREAD>;
export type Reader = v.InferOutput<typeof READER>;
type Readers = v.InferOutput<typeof ALL>;

/** `waiting`: not confirmed yet. `null`: no address is stored. */
export type MailState = "waiting" | "on" | null;

export interface Due {
  guest: string;
  reader: Reader;
  /** `null` for the confirmation. */
  thread: string | null;
}

/** The wish of a guest to be told. */
export interface Wish {
  guest: string;
  address: string;
  thread: string;
  /** The id of a comment; `null` for private messages. */
  comment: string | null;
}

/** Who asks: the client's network address, and the signed request, which counts once. */
interface Asker {
  network: string;
  /** @throws TwtxtError `not-signed` for a replayed request */
  spend(): Promise<void>;
}

interface Options {
  store: Store;
  now: Clock;
  shares: DailyShares;
}

/** The readers by their guests' names: a key, or that of an anonymous guest. Changes are durable when their methods return. */
export class AnswerReaders {
  /** One after the other, so that each counts those before it. */
  readonly #inTurn = serialize();

  constructor(private readonly options: Options) {}

  async readAll(): Promise<Readers> {
    return (await readJson(this.options.store, READERS, ALL))?.value ?? {};
  }

  async readState(guest: string): Promise<MailState> {
    const reader = (await this.readAll())[guest];
    return reader ? (reader.isConfirmed ? "on" : "waiting") : null;
  }

  /**
   * Stores an address, and has it asked for its confirmation, if the limits allow both. The caller does not learn whether
   * they did: an address that was asked today is stored as if it were asked again.
   */
  async add({ guest, address, thread, comment }: Wish, asker: Asker): Promise<void> {
    const { now } = this.options;
    await this.#inTurn(async () => {
      const known = (await this.readAll())[guest];
      const isConfirmed = known?.address === address && known.isConfirmed;
      const counted = isConfirmed ? "known" : await this.#count(guest, address, asker.network);
      if (counted === "refused") return;
      await asker.spend();
      const key = randomBytes(KEY_BYTES).toString("base64url");
      await this.#change((readers) => {
        const old = readers[guest];
        if (!old && Object.keys(readers).length >= MAX_READERS) return null;
        const fresh = { address, key, isConfirmed: false, isAsked: true, since: now(), sending: null };
        const same = old?.address === address ? old : fresh;
        const asked = counted === "new" ? { isAsked: false, since: now() } : {};
        const threads = addToThread(old?.threads ?? {}, thread, comment);
        return { ...readers, [guest]: { ...same, ...asked, used: now(), threads } };
      });
    });
  }

  /** @returns the reader to whom a link was sent */
  async find(guest: string, key: string): Promise<Reader | null> {
    const readers = await this.readAll();
    // A stranger may ask for "toString".
    const reader = Object.hasOwn(readers, guest) ? readers[guest] : undefined;
    return reader && isSameSecret(key, reader.key) ? reader : null;
  }

  async confirm(guest: string): Promise<void> {
    await this.#changeReader(guest, (reader) => ({ ...reader, isConfirmed: true, used: this.options.now() }));
  }

  async remove(guest: string): Promise<void> {
    await this.#changeReader(guest, () => null);
  }

  async removeComment(guest: string, id: string): Promise<void> {
    await this.#changeReader(guest, (reader) => withoutComments(reader, (one) => one === id));
  }

  /** Notes that a private message came for a guest. */
  async noteMessage(guest: string): Promise<void> {
    await this.#changeReader(guest, (reader) => {
      const thread = reader.threads[MESSAGES];
      if (!thread) return reader;
      return { ...reader, threads: { ...reader.threads, [MESSAGES]: { ...thread, waits: this.options.now() } } };
    });
  }

  /** Mails that may be sent now: at most one a thread and hour. */
  async listDue(): Promise<Due[]> {
    const now = this.options.now();
    const isFree = ({ at }: Thread) => at === null || !isAhead(at + HOUR, now, HOUR);
    return Object.entries(await this.readAll()).flatMap(([guest, reader]): Due[] => {
      if (reader.sending !== null && isAhead(reader.sending, now, LEASE)) return [];
      if (!reader.isConfirmed) return reader.isAsked ? [] : [{ guest, reader, thread: null }];
      const free = Object.entries(reader.threads).filter(([, thread]) => isFree(thread));
      return free.map(([thread]) => ({ guest, reader, thread }));
    });
  }

  /**
   * Claims a mail, so that no other process sends it. A process that ends before {@link finish} leaves it to the first run
   * after ten minutes.
   *
   * @returns whether the mail is still due
   */
  async claim({ guest, reader, thread }: Due): Promise<boolean> {
    const { now } = this.options;
    // Another mail of this run may have been sent to the same reader.
    const name = ({ sending: _, used: __, threads, ...rest }: Reader) =>
      JSON.stringify([rest, thread === null ? null : threads[thread]]);
    let isClaimed = false;
    await this.#changeReader(guest, (current) => {
      const isSending = current.sending !== null && isAhead(current.sending, now(), LEASE);
      isClaimed = !isSending && name(current) === name(reader);
      return isClaimed ? { ...current, sending: now() + LEASE } : current;
    });
    return isClaimed;
  }

  /** Records that a claimed mail was sent. @param told - the names of all answers that the reader knows now */
  async finish({ guest, reader, thread }: Due, told: readonly string[]): Promise<void> {
    const at = this.options.now();
    await this.#changeReader(guest, (current) => {
      if (current.key !== reader.key) return current;
      if (thread === null) return { ...current, isAsked: true, sending: null };
      const [before, now] = [reader.threads[thread], current.threads[thread]];
      if (!now) return { ...current, sending: null };
      // A message that came in the meantime still waits.
      const waits = now.waits === before?.waits ? null : now.waits;
      const threads = { ...current.threads, [thread]: { ...now, told: [...told], waits, at } };
      return { ...current, used: at, sending: null, threads };
    });
  }

  /**
   * Deletes addresses that nobody confirmed for two days or used for a year, and those of deleted comments.
   *
   * @param steadySince - when the clock last jumped
   */
  async prune(isThere: (comment: string) => boolean, steadySince: number): Promise<void> {
    const now = this.options.now();
    const isOver = (time: number, limit: number) => countedSince(time, steadySince) + limit < now;
    await this.#change((readers) => {
      const kept = Object.entries(readers).flatMap(([guest, reader]): [string, Reader][] => {
        const { isConfirmed, since, used } = reader;
        if ((!isConfirmed && isOver(since, UNCONFIRMED)) || isOver(used, UNUSED)) return [];
        const left = withoutComments(reader, (id) => !isThere(id));
        return left ? [[guest, left]] : [];
      });
      return Object.fromEntries(kept);
    });
  }

  /** @returns `new`: a mail may ask for the confirmation; `known`: a mail was sent today, by whomever; `refused` */
  async #count(guest: string, address: string, network: string): Promise<"new" | "known" | "refused"> {
    const { shares } = this.options;
    const id = hash("sha256", `${guest}\n${address}`);
    // Without a share, one a day. A part after "+" leads to the same mailbox.
    const mailbox = { network: `mail ${address.toLowerCase().replace(/\+[^@]*/, "")}`, shares: 0 };
    const networks = [mailbox, ...listNetworks(network), { network: "all", shares: SHARES }];
    const folders = await shares.findFolders("answers", networks);
    const used = await Promise.all(folders.map((folder) => shares.survey(folder, id)));
    const [own, ...others] = used.map((share) => shares.isWithin({ count: share.count + 1, bytes: 0 }, share));
    if (used.every(({ isCounted }) => isCounted)) return "known";
    if (!others.every((isWithin) => isWithin)) return "refused";
    await Promise.all(folders.map((folder) => shares.record(folder, { id, size: 0 })));
    return own ? "new" : "known";
  }

  /** @param change - returns `null` to delete the reader */
  async #changeReader(guest: string, change: (reader: Reader) => Reader | null): Promise<void> {
    await this.#change((readers) => {
      const { [guest]: reader, ...others } = readers;
      if (!reader) return null;
      const changed = change(reader);
      return changed === reader ? null : { ...others, ...(changed && { [guest]: changed }) };
    });
  }

  /** Writes nothing if nothing has changed. */
  async #change(change: (readers: Readers) => Readers | null): Promise<void> {
    await update(this.options.store, READERS, ALL, (old) => {
      const changed = change(old ?? {});
      return JSON.stringify(changed) === JSON.stringify(old ?? {}) ? null : changed;
    });
  }
}

function addToThread(threads: Reader["threads"], name: string, comment: string | null): Reader["threads"] {
  const { [name]: old = { comments: [], told: [], waits: null, at: null }, ...others } = threads;
  const comments = [...new Set([...old.comments, ...(comment === null ? [] : [comment])])];
  const kept = Object.entries(others).slice(1 - MAX_THREADS);
  return { ...Object.fromEntries(kept), [name]: { ...old, comments } };
}

/** @returns `null` if nothing is left to be told of */
function withoutComments(reader: Reader, isGone: (id: string) => boolean): Reader | null {
  const threads = Object.entries(reader.threads).flatMap(([name, thread]): [string, Thread][] => {
    const comments = thread.comments.filter((id) => !isGone(id));
    return comments.length > 0 || name === MESSAGES ? [[name, { ...thread, comments }]] : [];
  });
  return threads.length === 0 ? null : { ...reader, threads: Object.fromEntries(threads) };
}
