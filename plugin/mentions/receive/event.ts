// plugin/mentions/receive/event.ts: what happens to mentions, and what follows from it.
import { createHash } from "node:crypto";
import type { MentionState, ProvenMention, StoredMention } from "../mention.js";
import { KnownSources, supersedes } from "./known-sources.js";

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
  /** The author has decided about the version that was listed; `null` where the decision named none. */
  | { kind: "moderated"; at: string; id: string; state: Exclude<MentionState, "held">; version: string | null }
  /** The author wants it gone, and remembers nothing of it. */
  | { kind: "forgotten"; at: string; id: string };

/** The mentions that are known, by their ids. */
export type Mentions = Map<string, StoredMention>;

/** The same for the same twt and target, however often it is sent. PROTOCOL 2.4, "The answer". */
export function idOf({ identity, instant, target }: Pick<NewMention, "identity" | "instant" | "target">): string {
  return hashOf(`${identity}\n${instant ?? ""}\n${target}`).slice(0, 32);
}

/**
 * Names what of a mention is shown: its text, who says it, its URLs, and under which post. A decision is about one version.
 *
 * @returns 16 hex digits
 */
export function versionOf({ identity, timestamp, type, author, text, under }: StoredMention): string {
  const { name, url, photo } = author;
  return hashOf(JSON.stringify([identity, timestamp, type, name, url, photo, text, under])).slice(0, 16);
}

/** The short name of a version of a mention, which `eleventy-twtxt mentions approve` takes: the starts of its id and version. */
export function decisionName(id: string, version: string | null): string {
  return [id, version].flatMap((part) => part?.slice(0, 8) ?? []).join(".");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Lets events happen to mentions.
 *
 * Anyone can send a mention again. It then takes on what its source says now, but keeps its state: a rejected one stays
 * rejected, also after the source took it back for a while. Where the author approves each mention, a changed one is
 * held again. A later request cannot move it under another post.
 *
 * @param mentions - changed in place
 * @param events - oldest first
 * @param shownPerHost - how many of one host are shown a day before the rest is held
 */
export function apply(mentions: Mentions, events: readonly MentionEvent[], shownPerHost: number): void {
  const days = new Set(events.map(({ at }) => dayOf(at)));
  const tally = new Tally([...mentions.values()].filter(({ received }) => days.has(dayOf(received))));
  const sources = new KnownSources(mentions);
  for (const event of events) {
    if (event.kind === "kept") keep(mentions, event, { tally, sources, shownPerHost });
    else if (event.kind === "forgotten") mentions.delete(event.id);
    else {
      const mention = mentions.get(event.id);
      if (!mention) continue;
      if (event.kind === "moderated") moderate(mentions, mention, event);
      else if (mention.state !== "rejected") mentions.delete(event.id);
    }
  }
}

function keep(
  mentions: Mentions,
  { at, mention: { hold, received = at, ...found } }: Extract<MentionEvent, { kind: "kept" }>,
  { tally, sources, shownPerHost }: { tally: Tally; sources: KnownSources; shownPerHost: number },
): void {
  const id = idOf(found);
  const known = mentions.get(id);
  const twins = sources.twinsOf(found, id);
  // What was approved stays as it is rather than waiting once more under another URL.
  const replaced = twins.filter((twin) => supersedes(found, twin) && again(twin, found, hold).state === twin.state);
  if (!known && replaced.length < twins.length) return;
  for (const twin of replaced) mentions.delete(twin.id);
  const before = known ?? replaced[0];
  if (before) {
    const next = { ...again(before, found, hold), id };
    mentions.set(id, next);
    sources.add(next);
    return;
  }
  const isHeld = hold === "always" || (hold === "when many" && tally.of(found.identity, at) >= shownPerHost);
  const mention: StoredMention = { ...found, id, state: isHeld ? "held" : "shown", received };
  mentions.set(id, mention);
  sources.add(mention);
  if (!isHeld) tally.count(found.identity, received);
}

/** A mention that is known already, as its source says it now. */
function again(
  known: StoredMention,
  found: Omit<NewMention, "hold" | "received">,
  hold: NewMention["hold"],
): StoredMention {
  const { id, given, state, received } = known;
  // The post that the source itself named goes with its word; the one that the first request named stays.
  const stays = known.about ? null : known.under;
  const next = { ...found, id, given, state, received, under: found.about ? found.under : stays };
  const mustBeHeld = hold === "always" && state === "shown" && versionOf(next) !== versionOf(known);
  return mustBeHeld ? { ...next, state: "held" } : next;
}

function moderate(
  mentions: Mentions,
  mention: StoredMention,
  { state, version }: Extract<MentionEvent, { kind: "moderated" }>,
): void {
  // It has changed since the author saw it: what would be shown now was never approved.
  if (state === "shown" && version !== null && version !== versionOf(mention)) return;
  mentions.set(mention.id, { ...mention, state });
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
