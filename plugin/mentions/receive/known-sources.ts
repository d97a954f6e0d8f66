// plugin/mentions/receive/known-sources.ts: finds a mention that is stored already, told by another URL or for another target.
import type { StoredMention } from "../mention.js";

/** What is compared of a mention. */
type Told = Pick<
  StoredMention,
  "identity" | "isDeclared" | "instant" | "published" | "author" | "text" | "target" | "under"
>;

/**
 * The mentions that are known, by host and time.
 *
 * A feed may have two URLs and say so nowhere, a page may answer by http and https, the index of a blog repeats what its
 * posts say, and a twt that names a feed and a post of ours is told for both.
 *
 * @see PROTOCOL 2.4, "The proof"
 */
export class KnownSources {
  readonly #mentions: ReadonlyMap<string, StoredMention>;
  #ids: Map<string, string[]> | undefined;

  constructor(mentions: ReadonlyMap<string, StoredMention>) {
    this.#mentions = mentions;
  }

  /** @returns other mentions that say the same in the same place, or that the author has rejected */
  twinsOf(told: Told, id: string): StoredMention[] {
    const others = (this.#index().get(indexKeyOf(told)) ?? []).filter((other) => other !== id);
    return others.flatMap((other) => this.#mentions.get(other) ?? []).filter((known) => isTwin(known, told));
  }

  add(mention: StoredMention): void {
    const ids = this.#index();
    if (!ids.get(indexKeyOf(mention))?.includes(mention.id)) addTo(ids, mention);
  }

  /** Made when the first mention comes: other events need none. */
  #index(): Map<string, string[]> {
    if (!this.#ids) {
      this.#ids = new Map();
      for (const mention of this.#mentions.values()) addTo(this.#ids, mention);
    }
    return this.#ids;
  }
}

/**
 * Whether a mention takes the place of its twin: it is the same source and stands in more places, or it is a twt and the
 * twin a page of the same author. The index of a blog forgets what its feed keeps. A page never takes the place of
 * another source, because it can name any author and any time.
 */
export function supersedes(told: Told, twin: StoredMention): boolean {
  if (twin.state === "rejected" || !isWithin(twin, told)) return false;
  return isSameSource(twin, told) ? !isWithin(told, twin) : isPageOf(twin, told);
}

function isTwin(known: StoredMention, told: Told): boolean {
  if (!isSameSource(known, told)) return isNotModified(known, told);
  const isRejected = known.state === "rejected";
  if (known.target === told.target || (isRejected && told.instant !== null)) return true;
  return hasSameWords(known, told) && (isRejected || isWithin(told, known) || isWithin(known, told));
}

function isSameSource(known: Told, told: Told): boolean {
  return known.instant === told.instant && withoutScheme(known.identity) === withoutScheme(told.identity);
}

/**
 * Whether a source with another URL repeats a known one. A host may have several users: a feed that names its own URL is
 * no copy of another feed, and a page in another user's name does not stand for the twt itself.
 */
function isNotModified(known: StoredMention, told: Told): boolean {
  if (!hasSameWords(known, told)) return false;
  const isRejected = known.state === "rejected";
  if (told.instant === null) return isRejected || isWithin(told, known);
  if (known.instant === null) return isPageOf(known, told) && (isRejected || isWithin(known, told));
  return !told.isDeclared && (isRejected || isWithin(told, known) || isWithin(known, told));
}

/** Whether a page says that it is by the author of a twt. */
function isPageOf(page: Told, twt: Told): boolean {
  return page.instant === null && twt.instant !== null && page.author.url === twt.author.url;
}

/** @returns `false` for a page that does not say when it was published: two likes of one host read alike */
function hasSameWords(known: Told, told: Told): boolean {
  return (
    timeOf(told) !== null &&
    timeOf(told) === timeOf(known) &&
    told.text !== "" &&
    told.text === known.text &&
    told.author.name === known.author.name &&
    hostOf(told) === hostOf(known)
  );
}

/** Whether the second stands in each place where the first one stands. */
function isWithin(first: Told, second: Told): boolean {
  const places = [second.target, second.under];
  return places.includes(first.target) && (first.under === null || places.includes(first.under));
}

function addTo(ids: Map<string, string[]>, mention: StoredMention): void {
  const key = indexKeyOf(mention);
  const others = ids.get(key);
  if (others) others.push(mention.id);
  else ids.set(key, [mention.id]);
}

/** The same for all twins. */
function indexKeyOf(told: Told): string {
  const time = timeOf(told);
  return time === null ? withoutScheme(told.identity) : `${hostOf(told)} ${time}`;
}

function timeOf({ instant, published }: Told): string | null {
  return instant ?? published;
}

/** An identity is in its normal spelling, so that its text tells what `URL` would, a hundred times faster. */
function hostOf({ identity }: Told): string {
  const start = identity.indexOf("//") + 2;
  const end = identity.indexOf("/", start);
  return end < 0 ? identity.slice(start) : identity.slice(start, end);
}

function withoutScheme(url: string): string {
  return url.slice(url.indexOf("//"));
}
