// plugin/messages/inbox/admission.ts: decides whether an inbox has room for a message, also while others are being stored.
import type { Clock } from "../../clock.js";
import { remember } from "../../groups.js";
import type { DailyShare, DailyShares, SenderFolder } from "../../http/daily-shares.js";
import type { InboxState, StoredMessage, StoredMessages } from "./stored.js";

export interface InboxLimits {
  messages: number;
  bytes: number;
}

export interface Arrival extends Pick<StoredMessage, "id" | "size"> {
  user: string;
  /** Where it counts for its sender; empty for a sender without limits. */
  senders: readonly SenderFolder[];
}

/** A message that this process is storing. */
export interface Admitted extends Arrival, Pick<StoredMessage, "created"> {
  /** Call it when the message is stored, or could not be stored. */
  end(): void;
  ended: Promise<void>;
}

export type Refusal = "known" | "full" | "share-used";

/**
 * Admits messages to inboxes. A survey of the store may or may not include the messages that this process is storing. They
 * are counted in any case, and if there is no room only because of them, the decision waits for one of them.
 */
export class Admission {
  readonly #admitted = new Map<string, Set<Admitted>>();

  constructor(private readonly parts: { messages: StoredMessages; shares: DailyShares; now: Clock }) {}

  /**
   * @returns the message with its time, which is later than that of all others: a reader who asks for what came after a
   *   message gets it, whatever the clocks of this and other machines say
   * @throws TwtxtError `store-failed`
   */
  async admit(arrival: Arrival, limits: InboxLimits): Promise<Admitted | Refusal> {
    const { user, id, senders } = arrival;
    for (;;) {
      const before = [...(this.#admitted.get(user) ?? [])];
      const [state, used] = await Promise.all([
        this.parts.messages.survey(user, id),
        Promise.all(senders.map((sender) => this.parts.shares.survey(sender, id))),
      ]);
      const others = [...new Set([...before, ...(this.#admitted.get(user) ?? [])])];
      const decision = this.#decide(arrival, limits, { state, used, others });
      if (decision === "admitted")
        return this.#add(arrival, Math.max(state.newest, ...others.map((one) => one.created)));
      if (decision !== "wait") return decision;
      await Promise.race(others.map(({ ended }) => ended));
    }
  }

  #decide(
    { id, size }: Arrival,
    limits: InboxLimits,
    { state, used, others }: { state: InboxState; used: readonly DailyShare[]; others: readonly Admitted[] },
  ): "admitted" | "wait" | Refusal {
    if (state.isKnown) return "known";
    if (others.some((one) => one.id === id)) return "wait";
    const hasRoom = ({ count, bytes }: Totals) => count < limits.messages && bytes + size <= limits.bytes;
    if (!hasRoom(state)) return "full";
    const isAllowed = ({ count, bytes }: Totals, share: DailyShare) =>
      share.isCounted || this.parts.shares.isWithin({ count: count + 1, bytes: bytes + size }, share);
    if (!used.every((share) => isAllowed(share, share))) return "share-used";
    if (!hasRoom(withOthers(state, others))) return "wait";
    const fromSender = ({ folder }: DailyShare) =>
      others.filter(({ senders }) => senders.some((sender) => sender.folder === folder));
    return used.every((share) => isAllowed(withOthers(share, fromSender(share)), share)) ? "admitted" : "wait";
  }

  #add(arrival: Arrival, newest: number): Admitted {
    const { user } = arrival;
    const all = remember(this.#admitted, user, () => new Set());
    let resolve = () => {};
    const ended = new Promise<void>((done) => {
      resolve = done;
    });
    const end = () => {
      all.delete(admitted);
      if (all.size === 0 && this.#admitted.get(user) === all) this.#admitted.delete(user);
      resolve();
    };
    const admitted: Admitted = { ...arrival, created: Math.max(this.parts.now(), newest + 1), end, ended };
    all.add(admitted);
    return admitted;
  }
}

interface Totals {
  count: number;
  bytes: number;
}

function withOthers({ count, bytes }: Totals, others: readonly Admitted[]): Totals {
  return { count: count + others.length, bytes: others.reduce((sum, { size }) => sum + size, bytes) };
}
