// plugin/mentions/receive/event.ts: the stored events of mentions, and how they change the list.
import { createHash } from "node:crypto";
import * as v from "valibot";
import { parseJson } from "../../store/json.js";
import { PlacedMention, type StoredMention, StoredTime } from "../mention.js";
import { DuplicateIndex, supersedes } from "./duplicates.js";

/** A verified mention before it is stored. */
const NewMention = v.object({
  ...PlacedMention.entries,
  /** Whether it waits for approval: `never` for allowed sources, `always` if the author approves each one, else if its host sends many. */
  hold: v.picklist(["never", "always", "when many"]),
  /** When another service received it, `YYYY-MM-DDThh:mm:ss.sssZ`; default now. */
  received: v.exactOptional(StoredTime),
});
export type NewMention = v.InferOutput<typeof NewMention>;

const change = { at: StoredTime, id: v.string() };

/** An immutable record of a change. It is stored before the request is answered. */
const MentionEvent = v.variant("kind", [
  v.object({ kind: v.literal("kept"), at: StoredTime, mention: NewMention }),
  /** The source no longer has the mention. */
  v.object({ kind: v.literal("removed"), ...change }),
  /** The author's decision about a version; `null` for any version. */
  v.object({
    kind: v.literal("moderated"),
    ...change,
    state: v.picklist(["shown", "held", "rejected"]),
    version: v.optional(v.nullable(v.string()), null),
  }),
  /** The author deleted it without blocking it. */
  v.object({ kind: v.literal("forgotten"), ...change }),
]);
export type MentionEvent = v.InferOutput<typeof MentionEvent>;

/** @returns `null` for anything but an event, such as a truncated file */
export function parseEvent(key: string, bytes: Uint8Array): MentionEvent | null {
  try {
    return parseJson(key, bytes, MentionEvent);
  } catch {
    return null;
  }
}

/** Stored mentions by id. */
export type Mentions = Map<string, StoredMention>;

/** The id of a mention, the same for each repeat. PROTOCOL 2.4, "The answer". */
export function idOf({ identity, instant, target }: Pick<NewMention, "identity" | "instant" | "target">): string {
  return hashOf(`${identity}\n${instant ?? ""}\n${target}`).slice(0, 32);
}

/**
 * Hashes everything of a mention that is shown. The author's decision applies to one version.
 *
 * @returns 16 hex digits
 */
export function versionOf({ identity, timestamp, type, author, text, under }: StoredMention): string {
  const { name, url, photo } = author;
  return hashOf(JSON.stringify([identity, timestamp, type, name, url, photo, text, under])).slice(0, 16);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Applies events to the mentions.
 *
 * Anyone can send a mention again. Its contents are then updated, but it keeps its state: a rejected mention stays
 * rejected, even if its source retracted it in between. If the author approves each mention, a changed one is held
 * again. A later request cannot move it to another post.
 *
 * @param mentions - changed in place
 * @param events - oldest first
 * @param shownPerHost - mentions of one host shown per day; the rest is held
 */
export function applyEvents(mentions: Mentions, events: readonly MentionEvent[], shownPerHost: number): void {
  const changes = new MentionChanges(mentions, events, shownPerHost);
  for (const event of events) changes.apply(event);
}

class MentionChanges {
  readonly #mentions: Mentions;
  readonly #shownPerHost: number;
  readonly #duplicates: DuplicateIndex;
  /** Numbers of shown mentions by day and host. */
  readonly #shown = new Map<string, number>();

  constructor(mentions: Mentions, events: readonly MentionEvent[], shownPerHost: number) {
    this.#mentions = mentions;
    this.#shownPerHost = shownPerHost;
    this.#duplicates = new DuplicateIndex(mentions);
    const days = new Set(events.map(({ at }) => dayOf(at)));
    for (const { identity, received, state } of mentions.values()) {
      if (state !== "held" && days.has(dayOf(received))) this.#count(identity, received);
    }
  }

  apply(event: MentionEvent): void {
    if (event.kind === "kept") {
      this.#keep(event);
      return;
    }
    const mention = this.#mentions.get(event.id);
    if (!mention) return;
    if (event.kind === "moderated") this.#moderate(mention, event);
    else if (event.kind === "forgotten" || mention.state !== "rejected") this.#mentions.delete(event.id);
  }

  #keep({ at, mention: { hold, received = at, ...found } }: Extract<MentionEvent, { kind: "kept" }>): void {
    const id = idOf(found);
    const known = this.#mentions.get(id);
    const duplicates = this.#duplicates.duplicatesOf(found, id);
    // An approved mention stays as it is rather than being held again under another URL.
    const replaced = duplicates.filter(
      (old) => supersedes(found, old) && updated(old, found, hold).state === old.state,
    );
    if (!known && replaced.length < duplicates.length) return;
    for (const old of replaced) this.#mentions.delete(old.id);
    const before = known ?? replaced[0];
    if (before) {
      this.#set({ ...updated(before, found, hold), id });
      return;
    }
    const isHeld = hold === "always" || (hold === "when many" && this.#isHostOverLimit(found.identity, at));
    this.#set({ ...found, id, state: isHeld ? "held" : "shown", received });
    if (!isHeld) this.#count(found.identity, received);
  }

  #moderate(mention: StoredMention, { state, version }: Extract<MentionEvent, { kind: "moderated" }>): void {
    // The mention changed since the author saw it, so the new contents were not approved.
    if (state === "shown" && version !== null && version !== versionOf(mention)) return;
    this.#mentions.set(mention.id, { ...mention, state });
  }

  #set(mention: StoredMention): void {
    this.#mentions.set(mention.id, mention);
    this.#duplicates.add(mention);
  }

  #isHostOverLimit(identity: string, at: string): boolean {
    return (this.#shown.get(dayAndHost(identity, at)) ?? 0) >= this.#shownPerHost;
  }

  #count(identity: string, at: string): void {
    const key = dayAndHost(identity, at);
    this.#shown.set(key, (this.#shown.get(key) ?? 0) + 1);
  }
}

/** A stored mention with its source's current contents. */
function updated(
  known: StoredMention,
  found: Omit<NewMention, "hold" | "received">,
  hold: NewMention["hold"],
): StoredMention {
  const { id, given, state, received } = known;
  // A post named by the source follows the source; one named by the first request stays.
  const kept = known.about ? null : known.under;
  const next = { ...found, id, given, state, received, under: found.about ? found.under : kept };
  const mustBeHeld = hold === "always" && state === "shown" && versionOf(next) !== versionOf(known);
  return mustBeHeld ? { ...next, state: "held" } : next;
}

function dayAndHost(identity: string, at: string): string {
  return `${dayOf(at)} ${new URL(identity).hostname}`;
}

function dayOf(at: string): string {
  return at.slice(0, 10);
}
