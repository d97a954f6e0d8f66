// plugin/mentions/receive/event.ts: what happens to mentions, and what follows from it.
import { createHash } from "node:crypto";
import type { MentionState, ProvenMention, StoredMention } from "../mention.js";

/** A mention as its verification found it, on its way into the store. */
export interface NewMention extends ProvenMention {
  given: string;
  target: string;
  under: string | null;
  /** `never` for a source that the author allows, `always` where all others wait, else when its host has sent many today. */
  hold: "never" | "always" | "when many";
  /** When another service received it, `YYYY-MM-DDThh:mm:ss.sssZ`; without it, it comes now. */
  received?: string;
}

/** Something that happened. Immutable, and stored before anybody is told. */
export type MentionEvent =
  | { kind: "kept"; at: string; mention: NewMention }
  /** The source says so no more. */
  | { kind: "removed"; at: string; id: string }
  /** The author has decided. */
  | { kind: "moderated"; at: string; id: string; state: Exclude<MentionState, "held"> }
  /** The author wants it gone, and remembers nothing of it. */
  | { kind: "forgotten"; at: string; id: string };

/** The mentions that are known, by their ids. */
export type Mentions = Map<string, StoredMention>;

/** The same for the same twt and target, however often it is sent. PROTOCOL 2.4, "The answer". */
export function idOf({ identity, instant, target }: Pick<NewMention, "identity" | "instant" | "target">): string {
  return createHash("sha256")
    .update(`${identity}\n${instant ?? ""}\n${target}`)
    .digest("hex")
    .slice(0, 32);
}

/**
 * Lets events happen to mentions.
 *
 * A mention that comes again changes its text, neither its state nor the post that it stands under, since anybody can
 * send it again: what was rejected stays so, also after the source took
 * it back for a while.
 *
 * @param mentions - changed in place
 * @param events - oldest first
 * @param shownPerHost - how many of one host are shown a day before the rest is held
 */
export function apply(mentions: Mentions, events: readonly MentionEvent[], shownPerHost: number): void {
  const days = new Set(events.map(({ at }) => dayOf(at)));
  const tally = new Tally([...mentions.values()].filter(({ received }) => days.has(dayOf(received))));
  for (const event of events) {
    if (event.kind === "kept") keep(mentions, event, tally, shownPerHost);
    else if (event.kind === "forgotten") mentions.delete(event.id);
    else {
      const mention = mentions.get(event.id);
      if (!mention) continue;
      if (event.kind === "moderated") mentions.set(event.id, { ...mention, state: event.state });
      else if (mention.state !== "rejected") mentions.delete(event.id);
    }
  }
}

function keep(
  mentions: Mentions,
  { at, mention: { hold, received = at, ...found } }: Extract<MentionEvent, { kind: "kept" }>,
  tally: Tally,
  shownPerHost: number,
): void {
  const id = idOf(found);
  const known = mentions.get(id);
  if (known) {
    mentions.set(id, { ...found, under: known.under ?? found.under, id, state: known.state, received: known.received });
    return;
  }
  const isHeld = hold === "always" || (hold === "when many" && tally.of(found.identity, at) >= shownPerHost);
  mentions.set(id, { ...found, id, state: isHeld ? "held" : "shown", received });
  if (!isHeld) tally.count(found.identity, received);
}

/** How many of a host were let through on a day. */
class Tally {
  readonly #counts = new Map<string, number>();

  constructor(mentions: Iterable<StoredMention>) {
    for (const { identity, received, state } of mentions) if (state !== "held") this.count(identity, received);
  }

  of(identity: string, at: string): number {
    return this.#counts.get(placeOf(identity, at)) ?? 0;
  }

  count(identity: string, at: string): void {
    const place = placeOf(identity, at);
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
  }
}

function placeOf(identity: string, at: string): string {
  return `${dayOf(at)} ${new URL(identity).hostname}`;
}

function dayOf(at: string): string {
  return at.slice(0, 10);
}
