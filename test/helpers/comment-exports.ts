// test/helpers/comment-exports.ts: the same comments as exports of Disqus, WordPress and isso, in their published formats.
import { rmSync } from "node:fs";
import { openDatabase } from "../../plugin/store/sqlite-driver.js";

export interface OldComment {
  id: number;
  parent?: number;
  page: keyof typeof OLD_PAGES;
  name: string;
  site?: string;
  /** As HTML of Disqus and WordPress. */
  html: string;
  /** As Markdown of isso; default: the HTML. */
  markdown?: string;
  state?: "spam" | "deleted" | "waiting";
  time: string;
}

/** How the other systems name the pages. */
export const OLD_PAGES = {
  quinces: "http://old.example/posts/quinces/index.html",
  medlars: "https://www.elsewhere.example/posts/medlars.html?utm_source=feed",
  about: "https://alice.example/about",
  gone: "https://old.example/2014/05/gone/",
} as const;

const minute = (n: number) => new Date(Date.UTC(2014, 4, 6, 7, n, 8)).toISOString().replace(".000", "");

/** 33 approved comments and 3 others. A comment can stand before the one that it answers. */
export const OLD_COMMENTS: readonly OldComment[] = [
  {
    id: 3,
    parent: 2,
    page: "quinces",
    name: "Zoë",
    html: "三 👩‍👩‍👧 ]]&gt; &amp;amp;",
    markdown: "三 👩‍👩‍👧 ]]> &amp;amp;",
    time: minute(3),
  },
  {
    ...{ id: 1, page: "quinces", name: "Jürgen Groß", site: "https://juergen.example/über?a=1&b=2", time: minute(1) },
    html: 'Grüße aus Köln! 🍐 <b>Toll</b> &amp; <a href="https://example.org/?a=1&amp;b=2" onclick="steal()">hier</a><script>steal()</script><img src="x" onerror="steal()">',
    markdown: "Grüße aus Köln! 🍐 **Toll** & [hier](https://example.org/?a=1&b=2)<script>steal()</script>",
  },
  {
    id: 2,
    parent: 1,
    page: "quinces",
    name: "Tom & <Jerry>",
    site: "tom.example",
    html: "First line\n\nSecond",
    time: minute(2),
  },
  {
    id: 4,
    parent: 1,
    page: "quinces",
    name: "Regret",
    html: "A regrettable sentence",
    state: "deleted",
    time: minute(4),
  },
  { id: 5, parent: 4, page: "quinces", name: "eve@mail.example", html: "Answer to what was deleted", time: minute(5) },
  { id: 6, page: "quinces", name: "Pills", html: "Buy pills", state: "spam", time: minute(6) },
  { id: 7, page: "quinces", name: "Waiting", html: "Not yet seen", state: "waiting", time: minute(7) },
  { id: 8, page: "medlars", name: "", site: "javascript:steal()", html: "Nameless", time: minute(8) },
  { id: 9, page: "about", name: "Dana", html: "About you", time: minute(9) },
  { id: 10, parent: 9, page: "about", name: "Eve", html: "About me", time: minute(10) },
  { id: 11, page: "gone", name: "Lost", html: "Where is it?", time: minute(11) },
  ...Array.from({ length: 25 }, (_, n) => ({
    ...{ id: 12 + n, parent: n % 5 === 0 ? 8 : 11 + n, page: "medlars" as const, name: `Reader ${n}` },
    ...{ html: `Text ${n}`, time: minute(12 + n) },
  })),
];

const escapeXml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const cdata = (text: string) => `<![CDATA[${text.replaceAll("]]>", "]]]]><![CDATA[>")}]]>`;
const privateOf = (id: number) => ({ email: `secret${id}@mail.example`, address: `198.51.100.${id}` });

/** As Disqus sends it. */
export function disqusExport(comments: readonly OldComment[] = OLD_COMMENTS): string {
  const threads = Object.entries(OLD_PAGES).map(
    ([page, url], n) => `
  <thread dsq:id="${900 + n}">
    <id>${page === "quinces" ? "218 http://old.example/?p=218" : ""}</id>
    <forum>alice</forum>
    <category dsq:id="77"/>
    <link>${escapeXml(url)}</link>
    <title>About ${page} &amp; more</title>
    <message/>
    <createdAt>2014-05-01T07:00:00Z</createdAt>
    <author><email>owner@mail.example</email><name>Alice</name><isAnonymous>false</isAnonymous><username>alice</username></author>
    <ipAddress>203.0.113.1</ipAddress>
    <isClosed>false</isClosed>
    <isDeleted>false</isDeleted>
  </thread>`,
  );
  const posts = comments.map(({ id, parent, page, name, html, state, time }) => {
    const { email, address } = privateOf(id);
    return `
  <post dsq:id="${id}">
    <id>wp_id=${id}</id>
    <message>${cdata(`<p>${html.replace("\n\n", "</p><p>")}</p>`)}</message>
    <createdAt>${time}</createdAt>
    <isDeleted>${state === "deleted"}</isDeleted>
    <isSpam>${state === "spam"}</isSpam>${state === "waiting" ? "\n    <isApproved>false</isApproved>" : ""}
    <author><email>${email}</email><name>${escapeXml(name)}</name><isAnonymous>true</isAnonymous></author>
    <ipAddress>${address}</ipAddress>
    <thread dsq:id="${900 + Object.keys(OLD_PAGES).indexOf(page)}"/>${parent ? `\n    <parent dsq:id="${parent}"/>` : ""}
  </post>`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/disqus-internals" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://disqus.com http://disqus.com/api/schemas/1.0/disqus.xsd">
  <category dsq:id="77"><forum>alice</forum><title>General</title><isDefault>true</isDefault></category>${threads.join("")}${posts.join("")}
</disqus>
`;
}

/** As `wp-admin/includes/export.php` writes it, with a pingback. URLs are not escaped. */
export function wordpressExport(comments: readonly OldComment[] = OLD_COMMENTS): string {
  const states = { spam: "spam", deleted: "trash", waiting: "0" };
  const toComment = ({ id, parent = 0, name, site = "", html, state, time }: OldComment, type = "comment") => {
    const { email, address } = privateOf(id);
    const date = time.replace("T", " ").replace("Z", "");
    return `
    <wp:comment>
      <wp:comment_id>${id}</wp:comment_id>
      <wp:comment_author>${cdata(escapeXml(name))}</wp:comment_author>
      <wp:comment_author_email>${email}</wp:comment_author_email>
      <wp:comment_author_url>${site}</wp:comment_author_url>
      <wp:comment_author_IP>${address}</wp:comment_author_IP>
      <wp:comment_date>${date.replace("07:", "09:")}</wp:comment_date>
      <wp:comment_date_gmt>${date}</wp:comment_date_gmt>
      <wp:comment_content>${cdata(html.replaceAll("\n", "\r\n"))}</wp:comment_content>
      <wp:comment_approved>${state ? states[state] : 1}</wp:comment_approved>
      <wp:comment_type>${type}</wp:comment_type>
      <wp:comment_parent>${parent}</wp:comment_parent>
      <wp:comment_user_id>0</wp:comment_user_id>
      <wp:commentmeta><wp:meta_key>akismet_result</wp:meta_key><wp:meta_value>${cdata("false")}</wp:meta_value></wp:commentmeta>
    </wp:comment>`;
  };
  const ping: OldComment = { id: 999, page: "about", name: "Bob's blog", html: "[...] linked [...]", time: minute(50) };
  const items = Object.entries(OLD_PAGES).map(([page, url], n) => {
    const own = comments.filter((comment) => comment.page === page).map((comment) => toComment(comment));
    return `
  <item>
    <title>${page}</title>
    <link>${escapeXml(url)}</link>
    <pubDate>Thu, 01 May 2014 07:00:00 +0000</pubDate>
    <dc:creator>${cdata("alice")}</dc:creator>
    <guid isPermaLink="false">http://old.example/?p=${n}</guid>
    <content:encoded>${cdata("<p>The post</p>".repeat(100))}</content:encoded>
    <wp:post_id>${n}</wp:post_id>
    <wp:status>publish</wp:status>
    <wp:post_type>post</wp:post_type>${own.join("")}${page === "about" ? toComment(ping, "pingback") : ""}
  </item>`;
  });
  return `\uFEFF<?xml version="1.0" encoding="UTF-8" ?>
<!-- This is a WordPress eXtended RSS file generated by WordPress as an export of your site. -->
<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:wfw="http://wellformedweb.org/CommentAPI/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/">
<channel>
  <title>Alice</title>
  <link>http://old.example</link>
  <wp:wxr_version>1.2</wp:wxr_version>
  <wp:author><wp:author_email>owner@mail.example</wp:author_email></wp:author>${items.join("")}
</channel>
</rss>
`;
}

/** As `isso/db/` creates it, with names and sites as HTML. Spam is deleted there. */
export function writeIssoDatabase(file: string, comments: readonly OldComment[] = OLD_COMMENTS): void {
  rmSync(file, { force: true });
  const database = openDatabase(file);
  database.exec(`CREATE TABLE threads (id INTEGER PRIMARY KEY, uri VARCHAR(256) UNIQUE, title VARCHAR(256));
    CREATE TABLE comments (tid REFERENCES threads(id), id INTEGER PRIMARY KEY, parent INTEGER, created FLOAT NOT NULL,
      modified FLOAT, mode INTEGER, remote_addr VARCHAR, text VARCHAR, author VARCHAR, email VARCHAR, website VARCHAR,
      likes INTEGER DEFAULT 0, dislikes INTEGER DEFAULT 0, voters BLOB NOT NULL, notification INTEGER NOT NULL DEFAULT 0);`);
  const pages = Object.values(OLD_PAGES).map((url) => new URL(url).pathname);
  for (const [n, path] of pages.entries()) {
    database.prepare("INSERT INTO threads VALUES (?, ?, ?)").all(n + 1, path, "Title");
  }
  const insert = database.prepare("INSERT INTO comments VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, 0, 0, x'00', 0)");
  for (const { id, parent, page, name, site, html, markdown, state, time } of comments) {
    const { email, address } = privateOf(id);
    const mode = state === "waiting" ? 2 : state ? 4 : 1;
    const tid = Object.keys(OLD_PAGES).indexOf(page) + 1;
    const words = [markdown ?? html, escapeXml(name) || null, email, site ? escapeXml(site) : null];
    insert.all(tid, id, parent ?? null, Date.parse(time) / 1000 + 0.25, mode, address, ...(words as string[]));
  }
  database.close();
}
