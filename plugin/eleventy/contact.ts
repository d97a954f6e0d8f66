// plugin/eleventy/contact.ts: tells readers of the site how to write to its authors in private.
import type { Settings } from "../options.js";
import { escapeHtml } from "../site/html.js";
import type { OwnPages } from "./own-pages.js";
import { inboxOptions } from "./served-options.js";
import type { Inbox } from "./site-files.js";

const TITLE = "Contact";

/**
 * How to write to each author who can be written to.
 *
 * @returns HTML; empty where nobody can
 */
export function contactHtml(inboxes: readonly Inbox[]): string {
  const cards = inboxes.filter(({ endpoint }) => endpoint !== null).map(cardHtml);
  return cards.length === 0 ? "" : `<div class="twtxt-contact">\n${cards.join("\n")}\n</div>`;
}

/** @returns none for a site without an author who can be written to, or that wants no such page */
export function contactPage(settings: Pick<Settings, "inbox">, inboxes: () => readonly Inbox[]): OwnPages[] {
  const { page: path, layout } = inboxOptions(settings);
  if (settings.inbox === false || path === false) return [];
  const html = () => contactHtml(inboxes());
  return [
    {
      name: "contact",
      title: TITLE,
      path,
      option: "inbox.page",
      layout,
      count: () => (html() === "" ? 0 : 1),
      content: () => `${html()}\n`,
    },
  ];
}

function cardHtml({ address, key }: Inbox): string {
  const shown = escapeHtml(address);
  return `<p>Write to <strong class="twtxt-address">${shown}</strong> in private. What you send is sealed on your own machine, and nobody else can read it, this site included.</p>
<pre><code>npx --package eleventy-plugin-twtxt eleventy-twtxt message send ${shown}</code></pre>
<p>To make sure that it is the right one, compare the key: <code class="twtxt-key">${escapeHtml(key)}</code></p>`;
}
