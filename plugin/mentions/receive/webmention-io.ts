// plugin/mentions/receive/webmention-io.ts: reader of webmention.io's exports.
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { isMentionUrl } from "../../feed/mention.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import type { MentionType } from "../../site/mention-list.js";
import { shortened } from "../../site/plain-lines.js";
import { NAME_LIMIT, TEXT_LIMIT } from "../verify/source-text.js";
import type { ImportedMention } from "./import-mentions.js";

const maybe = v.nullish(v.string(), "");
const isTrue = v.nullish(v.boolean(), false);
const Author = v.nullish(v.object({ name: maybe, url: maybe, photo: maybe }), {});

/** An entry of `mentions.jf2`. */
const Entry = v.pipe(
  v.object({
    "wm-source": v.string(),
    "wm-target": v.string(),
    "wm-property": maybe,
    "wm-private": isTrue,
    "wm-received": maybe,
    url: maybe,
    author: Author,
    published: maybe,
    name: maybe,
    content: v.nullish(v.object({ text: v.nullish(v.string()) }), {}),
  }),
  v.transform(({ name, content, ...entry }) => ({
    ...entry,
    source: entry["wm-source"],
    target: entry["wm-target"],
    type: entry["wm-property"],
    isPrivate: entry["wm-private"],
    received: entry["wm-received"],
    text: content.text ?? name,
  })),
);

/** An entry of the older `mentions.json`. */
const Link = v.pipe(
  v.object({
    source: v.string(),
    target: v.string(),
    private: isTrue,
    verified_date: maybe,
    data: v.nullish(
      v.object({ author: Author, url: maybe, published: maybe, name: maybe, content: v.nullish(v.string()) }),
      {},
    ),
    activity: v.nullish(v.object({ type: maybe }), {}),
  }),
  v.transform(({ data: { content, name, ...data }, ...link }) => ({
    ...data,
    source: link.source,
    target: link.target,
    type: link.activity.type,
    isPrivate: link.private,
    received: link.verified_date,
    text: content ?? name,
  })),
);

type ExportedMention = v.InferOutput<typeof Entry> | v.InferOutput<typeof Link>;

const Export = v.union([v.object({ children: v.array(Entry) }), v.object({ links: v.array(Link) })]);

const TYPES = new Map<string, MentionType>([
  ["in-reply-to", "reply"],
  ["like-of", "like"],
  ["repost-of", "repost"],
  ["bookmark-of", "bookmark"],
  ["reply", "reply"],
  ["like", "like"],
  ["repost", "repost"],
  ["bookmark", "bookmark"],
]);

/**
 * Reads an export from `https://webmention.io/api/mentions.jf2` or `mentions.json`.
 *
 * @returns the public mentions with http or https sources, in the order of the file
 * @throws TwtxtError `bad-file` for another format
 */
export function mentionsOfWebmentionIo(json: unknown): ImportedMention[] {
  const result = v.safeParse(Export, json);
  if (!result.success) {
    throw new TwtxtError(
      "bad-file",
      'This is not an export: expected mentions.jf2 of webmention.io, an object with a list "children", or the output of `mentions export`.',
    );
  }
  const entries: ExportedMention[] = "children" in result.output ? result.output.children : result.output.links;
  return entries.filter(({ isPrivate }) => !isPrivate).flatMap((entry) => importedMention(entry) ?? []);
}

function importedMention({ target, type, author, text, ...entry }: ExportedMention): ImportedMention | null {
  const source = isWeb(entry.url) ? entry.url : entry.source;
  if (!isWeb(source) || !isWeb(target)) return null;
  const { name, url, photo } = author;
  return {
    source,
    target,
    type: TYPES.get(type) ?? "mention",
    author: {
      name: cleaned(name || new URL(source).host, NAME_LIMIT),
      url: isWeb(url) ? url : source,
      photo: isWeb(photo) ? photo : null,
    },
    text: cleaned(text, TEXT_LIMIT),
    published: instantOf(entry.published),
    received: instantOf(entry.received),
  };
}

function isWeb(url: string): boolean {
  return /^https?:/i.test(url) && url.length <= 2000 && isMentionUrl(url);
}

function cleaned(text: string, limit: number): string {
  return shortened(text.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, " ").trim(), limit);
}

function instantOf(date: string): string | null {
  const time = Date.parse(date);
  return Number.isNaN(time) ? null : formatTimestamp(time);
}
