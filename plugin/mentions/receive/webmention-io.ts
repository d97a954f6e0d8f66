// plugin/mentions/receive/webmention-io.ts: reader of webmention.io's exports.
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { isMentionUrl } from "../../feed/mention.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { MENTION_TYPES } from "../../site/mention-list.js";
import { shortened } from "../../site/plain-lines.js";
import { NAME_LIMIT, TEXT_LIMIT } from "../verify/source-text.js";
import { HTML_LIMIT, type ImportedMention } from "./import-mentions.js";

const maybe = v.nullish(v.string(), "");
const isTrue = v.nullish(v.boolean(), false);
const Author = v.nullish(v.object({ name: maybe, url: maybe, photo: maybe }), {});
const Content = v.nullish(v.union([v.string(), v.object({ text: maybe, html: maybe, value: maybe })]));

/** An entry of `mentions.jf2`, with `wm-source`, of the older `mentions.json`, with `data`, or of go-jamming. */
const Entry = v.object({
  ...{ "wm-source": maybe, source: maybe, "wm-target": maybe, target: maybe },
  ...{ "wm-property": maybe, type: maybe, activity: v.nullish(v.object({ type: maybe }), {}) },
  ...{ "wm-private": isTrue, private: isTrue },
  ...{ "wm-received": maybe, verified_date: maybe, published: maybe },
  ...{ url: maybe, name: maybe, author: Author, content: Content },
  data: v.nullish(v.object({ author: Author, url: maybe, published: maybe, name: maybe, content: Content }), {}),
});
type Entry = v.InferOutput<typeof Entry>;

/** The names of the list in exports, in the pages of `mentions.jf2`, and in caches of plugins and recipes for Eleventy. */
const LISTS = ["children", "links", "webmentions", "json"];

/** The mentions of an export, and the number of entries that are private or that nothing can be read from. */
export interface WebmentionExport {
  mentions: ImportedMention[];
  unreadable: number;
}

/**
 * Reads an export of webmention.io: `https://webmention.io/api/mentions.jf2`, one or more of its pages, `mentions.json`,
 * or what plugins for Eleventy have cached of them. In a cache of eleventy-fetch, it is the file that ends in `.json`.
 *
 * The identity of a mention is its `wm-source`: Bridgy has a page for each like, and the `url` of all of them is the
 * liked post. The `url` is shown.
 *
 * @returns the public mentions with http or https sources, in the order of the file
 * @throws TwtxtError `bad-file` for another format
 */
export function readWebmentionExport(json: unknown): WebmentionExport {
  const entries = readEntries(json, 0);
  const found = entries?.map((entry) => v.safeParse(Entry, entry)) ?? [];
  const mentions = found.flatMap(({ success, output }) => (success ? (readMention(output as Entry) ?? []) : []));
  const isMention = (entry: unknown) => ["wm-source", "source"].some((name) => typeof Object(entry)[name] === "string");
  if (entries === null || (entries.length > 0 && !entries.some(isMention))) {
    throw new TwtxtError(
      "bad-file",
      'This is not an export: expected mentions.jf2 of webmention.io, a list of its entries, an object with a list "children", "links" or "webmentions", or the output of `mentions export`.',
    );
  }
  return { mentions, unreadable: entries.length - mentions.length };
}

/** @returns `null` for anything but a list, or an object with one; lists of such objects are joined */
function readEntries(json: unknown, depth: number): unknown[] | null {
  if (Array.isArray(json)) return json.flatMap((each) => (depth < 2 && readEntries(each, depth + 1)) || [each]);
  if (typeof json !== "object" || json === null) return null;
  const list = Object.entries(json).find(([name, value]) => LISTS.includes(name) && Array.isArray(value))?.[1];
  return list === undefined ? null : readEntries(list, depth + 1);
}

/** @returns `null` for a private entry, and for one without a source or target on the web */
function readMention({ data, content = data.content, ...entry }: Entry): ImportedMention | null {
  const source = entry["wm-source"] || entry.source || entry.url;
  const target = entry["wm-target"] || entry.target;
  if (entry["wm-private"] || entry.private || !isWeb(source) || !isWeb(target)) return null;
  const { name, url, photo } = data.author.name || data.author.url ? data.author : entry.author;
  const shown = data.url || entry.url;
  const type = entry["wm-property"] || entry.activity.type || entry.type;
  const [text, html] = readContent(content);
  return {
    source,
    target,
    ...(isWeb(shown) && shown !== source && { url: shown }),
    type: MENTION_TYPES.find((name) => name === type.replace("in-reply-to", "reply").replace(/-of$/, "")) ?? "mention",
    author: {
      name: cleaned(name || new URL(source).host, NAME_LIMIT),
      url: isWeb(url) ? url : isWeb(shown) ? shown : source,
      photo: isWeb(photo) ? photo : null,
    },
    text: cleaned(text || data.name || entry.name, TEXT_LIMIT),
    ...(html !== "" && html.length <= HTML_LIMIT && { html }),
    published: toInstant(data.published || entry.published),
    received: toInstant(entry["wm-received"] || entry.verified_date),
  };
}

function readContent(content: Entry["content"]): [text: string, html: string] {
  if (typeof content !== "object" || content === null) return [content ?? "", ""];
  return [content.text || content.value, content.html];
}

function isWeb(url: string): boolean {
  return /^https?:/i.test(url) && url.length <= 2000 && isMentionUrl(url);
}

function cleaned(text: string, limit: number): string {
  return shortened(text.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, " ").trim(), limit);
}

function toInstant(date: string): string | null {
  const time = Date.parse(date);
  return Number.isNaN(time) ? null : formatTimestamp(time);
}
