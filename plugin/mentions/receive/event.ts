// plugin/mentions/receive/event.ts: the stored events of mentions, and how they change the list.
import { hash } from "node:crypto";
import * as v from "valibot";
import { parseJson } from "../../store/json.js";
import { PlacedMention, type StoredMention, StoredTime } from "../mention.js";
import { toSource } from "../reference.js";
import { supersedes } from "./duplicates.js";
import type { MentionView } from "./mention-view.js";

/** A verified mention before it is stored. */
const NewMention = v.object({
  ...PlacedMention.entries,
  /** Whether it waits for approval: `never` for allowed sources, `always` if the author approves each one, else if its host sends many. */
  hold: v.picklist(["never", "always", "when many"]),
  /** When another service received it, `YYYY-MM-DDThh:mm:ss.sssZ`; default now. */
  received: v.exactOptional(StoredTime),
  /** The id of the mention of another target that it replaces: its source no longer names that one. */
  replaces: v.exactOptional(v.string()),
});
export type NewMention = v.InferOutput<typeof NewMention>;

const change = { at: StoredTime, id: v.string() };

/** An immutable record of a change. It is stored before the request is answered. */
const MentionEvent = v.variant("kind", [
  v.object({ kind: v.literal("kept"), at: StoredTime, mention: NewMention }),
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

/** Names of earlier versions that are kept. */
const FORMER_LIMIT = 40;

/** The id of a mention, the same for each repeat. PROTOCOL 2.4, "The answer". */
export function toMentionId({
  identity,
  instant,
  target,
}: Pick<NewMention, "identity" | "instant" | "target">): string {
  return hash("sha256", `${identity}\n${instant ?? ""}\n${target}`).slice(0, 32);
}

/**
 * Hashes everything of a mention that is shown. The author's decision applies to one version.
 *
 * @returns 16 hex digits
 */
export function toMentionVersion(mention: StoredMention): string {
  const { identity, timestamp, type, author, text, html, subject, under, published } = mention;
  const { name, url, photo } = author;
  // The HTML of a twt follows from its text, and so does what it answers. A page has links of its own.
  const content = timestamp === null ? [text, html, subject] : [text];
  const shown = [identity, timestamp, type, name, url, photo, content, under, published];
  // Only if there are any, so that earlier decisions about mentions without these links stay valid.
  const links = mention.url || author.page ? [mention.url ?? null, author.page ?? null] : [];
  return hash("sha256", JSON.stringify([...shown, ...links])).slice(0, 16);
}

/**
 * Applies an event to the mentions.
 *
 * Anyone can send a mention again. Its contents are then updated, but it keeps its state: a rejected mention stays
 * rejected, even if its source retracted it in between. If the author approves each mention, a changed one is held
 * again. A later request cannot move it to another post.
 *
 * @param view - changed in place; events are applied oldest first
 * @param shownPerHost - mentions of one host shown per day; the rest is held
 */
export function applyEvent(view: MentionView, event: MentionEvent, shownPerHost: number): void {
  const mention = event.kind === "kept" ? undefined : view.get(event.id);
  if (event.kind === "kept") keep(view, event, shownPerHost);
  else if (!mention) return;
  else if (event.kind === "moderated") moderate(view, mention, event);
  else if (event.kind === "forgotten") view.delete(event.id);
  // What a reader deletes is gone, whatever the author decided.
  else if (mention.state !== "rejected" || mention.author.guest) remove(view, mention);
}

function keep(
  view: MentionView,
  { at, mention: { hold, received = at, replaces, ...found } }: Extract<MentionEvent, { kind: "kept" }>,
  shownPerHost: number,
): void {
  const id = toMentionId(found);
  const stored = view.get(id);
  // A status that was also sent as a mention: the first record stays.
  if (stored && stored.state !== "removed" && (stored.copy === undefined) !== (found.copy === undefined)) return;
  const replacedTarget = take(view, replaces);
  const known = stored?.state === "removed" ? replacedTarget : (stored ?? replacedTarget);
  const duplicates = view.findDuplicates(found, id);
  // An approved mention stays as it is rather than being held again under another URL.
  const replaced = duplicates.filter(
    (old) => supersedes(found, old) && updated(old, found, { hold, at }).state === old.state,
  );
  if (!known && replaced.length < duplicates.length) return;
  for (const old of replaced) view.delete(old.id);
  const before = known ?? replaced[0];
  const isOverLimit = view.countShown(found, at) >= shownPerHost;
  const state = hold === "always" || (hold === "when many" && isOverLimit) ? "held" : "shown";
  const isNew = before === undefined;
  view.set(
    isNew
      ? { ...found, ...formerNames(stored, found), id, state, received }
      : { ...updated(before, found, { hold, at }), id },
  );
}

/** Keeps the place of a reply, which others may have answered. Nothing else can be answered. */
function remove(view: MentionView, mention: StoredMention): void {
  if (mention.type !== "reply") view.delete(mention.id);
  else view.set({ ...mention, state: "removed", ...NO_CONTENTS });
}

function take(view: MentionView, id: string | undefined): StoredMention | undefined {
  const mention = id === undefined ? undefined : view.get(id);
  if (mention) view.delete(mention.id);
  return mention?.state === "removed" ? undefined : mention;
}

function moderate(
  view: MentionView,
  mention: StoredMention,
  { state, version }: Extract<MentionEvent, { kind: "moderated" }>,
): void {
  if (mention.state === "removed") return;
  // The mention changed since the author saw it, so the new contents were not approved.
  if (state === "shown" && version !== null && version !== toMentionVersion(mention)) return;
  view.set({ ...mention, state });
}

/** What remains of a removed mention's contents. */
export const NO_CONTENTS = { author: { name: "", url: "", photo: null }, text: "", html: null };

type FoundMention = Omit<NewMention, "hold" | "received" | "replaces">;

/** The names of earlier versions: what is found now has other hashes after an edit, or another URL. */
function formerNames(known: StoredMention | undefined, found: FoundMention): Pick<StoredMention, "former"> {
  if (!known) return {};
  const present = new Set([found.hash, found.hashV1, toSource(found)]);
  const names = [...(known.former ?? []), known.hash, known.hashV1, toSource(known)];
  const former = [...new Set(names)].filter((name) => name !== null && !present.has(name)) as string[];
  return former.length > 0 ? { former: former.slice(-FORMER_LIMIT) } : {};
}

/** A stored mention with its source's current contents. */
function updated(
  known: StoredMention,
  found: FoundMention,
  { hold, at }: Pick<NewMention, "hold"> & { at: string },
): StoredMention {
  const { id, given, state, received, changed } = known;
  // A post named by the source follows the source; one named by the first request stays.
  const kept = known.about ? null : known.under;
  const older = { ...(known.copy !== undefined && { copy: known.copy }), ...(changed && { changed }) };
  const place = { id, given, state, received, under: found.about ? found.under : kept, ...older };
  // That of a twt is in its text; that of a page comes from an import only.
  const shownUrl = known.url === undefined || found.timestamp !== null ? {} : { url: known.url };
  const next: StoredMention = { ...shownUrl, ...found, ...formerNames(known, found), ...place };
  if (toMentionVersion(next) === toMentionVersion(known)) return next;
  return { ...next, changed: at, ...(hold === "always" && state === "shown" && { state: "held" }) };
}
