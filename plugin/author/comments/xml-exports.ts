// plugin/author/comments/xml-exports.ts: reads the exports of Disqus (XML 1.0) and WordPress (WXR 1.0 to 1.2).
import { decodeReferences } from "../../site/html.js";
import type { ExportedComment, LeftOut } from "./comment-import.js";
import { readXmlRecords, type XmlRecord } from "./xml-records.js";

const DISQUS_THREAD = "disqus/thread";
const DISQUS_POST = "disqus/post";
const WORDPRESS_ITEM = "rss/channel/item";
const WORDPRESS_COMMENT = "rss/channel/item/wp:comment";

type Fields = XmlRecord["fields"];
type Thread = Pick<ExportedComment, "pages"> & { isDeleted: boolean };

/** Reads an export, see help.disqus.com and `wp-admin/includes/export.php`. @throws TwtxtError `bad-file` */
export async function* readXmlExport(chunks: AsyncIterable<string>): AsyncGenerator<ExportedComment> {
  const threads = new Map<string, Thread>();
  const paths = [DISQUS_THREAD, DISQUS_POST, WORDPRESS_ITEM, WORDPRESS_COMMENT];
  for await (const { path, fields, above } of readXmlRecords(chunks, paths)) {
    if (path === DISQUS_THREAD) threads.set(fields.get("@dsq:id") ?? "", readThread(fields));
    if (path === DISQUS_POST) yield readPost(fields, threads.get(fields.get("thread@dsq:id") ?? ""));
    if (path === WORDPRESS_COMMENT) yield readComment(fields, above?.fields ?? fields);
  }
}

/** Identifiers are free texts: paths, or as that of the plugin for WordPress, `218 http://alice.example/?p=218`. */
function readThread(fields: Fields): Thread {
  const id = fields.get("id")?.trim() ?? "";
  const [url] = /https?:\/\/\S+/.exec(id) ?? [];
  const path = /\s/.test(id) ? undefined : `/${id.replace(/^\/+/, "")}`;
  const pages = [fields.get("link")?.trim() ?? "", url ?? path ?? ""].filter((page) => page.length > 1);
  return { pages, isDeleted: isTrue(fields, "isDeleted") };
}

function readPost(fields: Fields, thread: Thread | undefined): ExportedComment {
  const parent = fields.get("parent@dsq:id");
  return {
    id: `disqus ${fields.get("@dsq:id")}`,
    parent: parent === undefined ? null : `disqus ${parent}`,
    leftOut: findPostReason(fields, thread),
    pages: thread?.pages ?? [],
    name: fields.get("author/name") || fields.get("author/username") || "",
    site: "",
    html: fields.get("message") ?? "",
    time: Date.parse(fields.get("createdAt")?.trim().replace(/Z?$/, "Z") ?? ""),
  };
}

/** Newer exports have `isApproved`. */
function findPostReason(fields: Fields, thread: Thread | undefined): LeftOut | null {
  if (isTrue(fields, "isSpam")) return "marked as spam";
  if (thread?.isDeleted || isTrue(fields, "isDeleted")) return "deleted";
  return fields.get("isApproved")?.trim() === "false" ? "not approved" : null;
}

function isTrue(fields: Fields, name: string): boolean {
  return fields.get(name)?.trim() === "true";
}

function readComment(fields: Fields, item: Fields): ExportedComment {
  const read = (name: string) => fields.get(`wp:comment_${name}`)?.trim() ?? "";
  // Without a time zone, the local time of the blog is all that there is.
  const time = Date.parse(`${read("date_gmt").replace(" ", "T")}Z`);
  return {
    id: `wordpress ${read("id")}`,
    parent: ["", "0"].includes(read("parent")) ? null : `wordpress ${read("parent")}`,
    leftOut: findCommentReason(read("approved"), read("type")),
    pages: ["link", "guid"].flatMap((name) => item.get(name)?.trim() || []),
    name: decodeName(read("author")),
    site: read("author_url"),
    html: toParagraphs(read("content")),
    time: Number.isNaN(time) ? Date.parse(`${read("date").replace(" ", "T")}Z`) : time,
  };
}

/** @param state - also `post-trashed`, of a deleted post */
function findCommentReason(state: string, type: string): LeftOut | null {
  if (state === "spam") return "marked as spam";
  if (state !== "1") return /trash(ed)?$/.test(state) ? "deleted" : "not approved";
  return ["pingback", "trackback"].includes(type) ? "by pingback or trackback" : null;
}

/** WordPress and isso store names as HTML. */
export function decodeName(html: string): string {
  return decodeReferences(html.replaceAll("&#039;", "'")) ?? html;
}

/** Comments are stored as typed: with inline HTML, and line ends that WordPress shows as such. */
function toParagraphs(text: string): string {
  const paragraphs = text.split(/\r?\n[ \t]*\r?\n\s*/);
  return paragraphs.map((lines) => `<p>${lines.replace(/\r?\n/g, "<br>")}</p>`).join("\n");
}
