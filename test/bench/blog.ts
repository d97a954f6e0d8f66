// test/bench/blog.ts: generator of reproducible blogs of any size.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Blog {
  posts: number;
  /** Without titles, a twt is made from the body's HTML. */
  isTitled: boolean;
}

const FIRST_POST = Date.parse("2011-01-03T08:00:00Z");
const LAST_POST = Date.parse("2024-12-20T20:00:00Z");

const WORDS =
  "garden river static plain quiet morning letter paper folder branch window kettle signal market winter copper ladder meadow reader thread builds writes keeps finds carries follows answers mends slowly often again never together under beside through without".split(
    " ",
  );

/**
 * Writes a blog: posts in Markdown, a page that lists them, and two layouts, of which a configuration chooses one as `post`.
 *
 * @param folder - is created, with a link to the `node_modules` that contain Eleventy
 */
export function writeBlog(folder: string, blog: Blog, nodeModules: string): void {
  const files = {
    "package.json": '{"type":"module"}\n',
    "_includes/page.njk": LAYOUT,
    "_includes/mentions.njk": LAYOUT.replace("</main>", "{% twtxtMentions %}</main>"),
    "index.njk": INDEX,
    "posts/posts.json": `${JSON.stringify({ layout: "post", tags: "posts" })}\n`,
  };
  mkdirSync(folder, { recursive: true });
  symlinkSync(nodeModules, join(folder, "node_modules"));
  for (const [path, content] of Object.entries(files)) write(join(folder, path), content);
  for (let i = 0; i < blog.posts; i += 1) {
    const { path, content } = post(i, blog);
    write(join(folder, path), content);
  }
}

/** The path of a post's page. @param posts - the number of posts of the blog */
export function permalinkOf(i: number, posts: number): string {
  return `/posts/${dateOf(i, posts).slice(0, 4)}/post-${i + 1}/`;
}

function post(i: number, { posts, isTitled }: Blog): { path: string; content: string } {
  const words = wordsFrom(i + 1);
  const date = dateOf(i, posts);
  const title = isTitled ? [`title: ${capital(words(5))}`, `summary: ${capital(words(14))}.`] : [];
  const frontMatter = ["---", ...title, `date: ${date}`, "---"].join("\n");
  const body = isTitled
    ? `${paragraph(words)}\n\n## ${capital(words(4))}\n\n${paragraph(words)}\n\n- ${words(6)}\n- ${words(5)}\n\n${paragraph(words)}`
    : `${paragraph(words)}\n\n${capital(words(12))}: *${words(3)}*.`;
  return { path: `posts/${date.slice(0, 4)}/post-${i + 1}.md`, content: `${frontMatter}\n\n${body}\n` };
}

/** The dates are spread evenly over the years, each at a different second. */
function dateOf(i: number, posts: number): string {
  const time = FIRST_POST + Math.floor(((LAST_POST - FIRST_POST) / posts) * i);
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

function paragraph(words: (count: number) => string): string {
  return `${capital(words(18))}, **${words(2)}** and ${words(9)}.\nThe [${words(3)}](https://example.com/${words(1)}) ${words(12)}, as \`${words(1)}\` ${words(10)}.`;
}

const LAYOUT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>{{ title or "A note" }}</title>
    <link rel="stylesheet" href="/style.css">
  </head>
  <body>
    <header><a href="/">Alice</a></header>
    <main>
      <h1>{{ title }}</h1>
      <time datetime="{{ page.date.toISOString() }}">{{ page.date.toDateString() }}</time>
      {{ content | safe }}
    </main>
  </body>
</html>
`;

const INDEX = `---
layout: post
title: Alice
---
<ul>
{%- for post in collections.posts | reverse %}
  <li><a href="{{ post.url }}">{{ post.data.title or post.fileSlug }}</a></li>
{%- endfor %}
</ul>
`;

/** A source of words that depends only on its seed. */
export function wordsFrom(seed: number): (count: number) => string {
  let state = seed >>> 0;
  const next = () => {
    // A linear congruential generator with the constants of Numerical Recipes.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return WORDS[(state >>> 16) % WORDS.length];
  };
  return (count) => Array.from({ length: count }, next).join(" ");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function write(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
