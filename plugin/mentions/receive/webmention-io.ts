// plugin/mentions/receive/webmention-io.ts: reader of webmention.io's exports.
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { isMentionUrl } from "../../feed/mention.js";
import type { MentionType } from "../../site/mention-list.js";

/** A mention that another service verified. */
export interface ImportedMention {
  source: string;
  target: string;
  type: MentionType;
  author: { name: string; url: string; photo: string | null };
  /** At most 500 characters. */
  text: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown. */
  published: string | null;
  /** When that service received it, in the same format. */
  received: string | null;
}

const maybe = v.optional(v.nullable(v.string()));
const Author = v.optional(v.nullable(v.object({ name: maybe, url: maybe, photo: maybe })));

/** An entry of `mentions.jf2`. */
const Entry = v.object({
  "wm-source": v.string(),
  "wm-target": v.string(),
  "wm-property": maybe,
  "wm-private": v.optional(v.nullable(v.boolean())),
  "wm-received": maybe,
  url: maybe,
  author: Author,
  published: maybe,
  name: maybe,
  content: v.optional(v.nullable(v.object({ text: maybe }))),
});

/** An entry of the older `mentions.json`. */
const Link = v.object({
  source: v.string(),
  target: v.string(),
  private: v.optional(v.nullable(v.boolean())),
  verified_date: maybe,
  data: v.optional(v.nullable(v.object({ author: Author, url: maybe, published: maybe, name: maybe, content: maybe }))),
  activity: v.optional(v.nullable(v.object({ type: maybe }))),
});

const Export = v.union([v.object({ children: v.array(Entry) }), v.object({ links: v.array(Link) })]);

const TYPES: Record<string, MentionType> = {
  "in-reply-to": "reply",
  "like-of": "like",
  "repost-of": "repost",
  "bookmark-of": "bookmark",
  reply: "reply",
  like: "like",
  repost: "repost",
  bookmark: "bookmark",
};

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
      'This is not an export from webmention.io: expected its mentions.jf2, an object with a list "children".',
    );
  }
  const found = "children" in result.output ? result.output.children.map(fromEntry) : result.output.links.map(fromLink);
  return found.flatMap((mention) => mention ?? []);
}

function fromEntry(entry: v.InferOutput<typeof Entry>): ImportedMention | null {
  if (entry["wm-private"]) return null;
  return importedMention(entry["wm-source"], entry["wm-target"], entry["wm-property"], {
    ...entry,
    text: entry.content?.text ?? entry.name,
    received: entry["wm-received"],
  });
}

function fromLink({ source, target, data, activity, ...link }: v.InferOutput<typeof Link>): ImportedMention | null {
  if (link.private) return null;
  return importedMention(source, target, activity?.type, {
    ...data,
    text: data?.content ?? data?.name,
    received: link.verified_date,
  });
}

interface ExportedFields {
  author?: v.InferOutput<typeof Author>;
  url?: string | null | undefined;
  published?: string | null | undefined;
  text?: string | null | undefined;
  received?: string | null | undefined;
}

function importedMention(
  source: string,
  target: string,
  type: string | null | undefined,
  fields: ExportedFields,
): ImportedMention | null {
  const page = isWeb(fields.url) ? fields.url : source;
  if (!isWeb(page) || !isWeb(target)) return null;
  const { name, url, photo } = fields.author ?? {};
  const host = new URL(page).host;
  return {
    source: page,
    target,
    type: TYPES[type ?? ""] ?? "mention",
    author: {
      name: shortened(name || host, 100),
      url: isWeb(url) ? url : page,
      photo: isWeb(photo) ? photo : null,
    },
    text: shortened(fields.text ?? "", 500),
    published: instantOf(fields.published),
    received: instantOf(fields.received),
  };
}

function isWeb(url: string | null | undefined): url is string {
  return typeof url === "string" && /^https?:/i.test(url) && url.length <= 2000 && isMentionUrl(url);
}

function shortened(text: string, length: number): string {
  const characters = [...text.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, " ").trim()];
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : characters.join("");
}

function instantOf(date: string | null | undefined): string | null {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? null : `${new Date(time).toISOString().slice(0, 19)}Z`;
}
