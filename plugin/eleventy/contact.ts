// plugin/eleventy/contact.ts: contact page, which explains how to send private messages to the authors.
import type { Settings } from "../options.js";
import { escapeHtml } from "../site/html.js";
import type { OwnPages } from "./own-pages.js";
import { inboxOptions } from "./served-options.js";
import type { Inbox } from "./site-files.js";

const TITLE = "Contact";

/**
 * The HTML with instructions for each author with an inbox; empty if there is none.
 */
export function contactHtml(inboxes: readonly Inbox[]): string {
  const cards = inboxes.filter(({ endpoint }) => endpoint !== null).map(cardHtml);
  return cards.length === 0 ? "" : `<div class="twtxt-contact">\n${cards.join("\n")}\n</div>`;
}

/** The contact page; empty if the options turn it off. */
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
  return `<p>Write to <strong class="twtxt-address">${shown}</strong> in private. Your message is encrypted on your own machine, and only the recipient can read it, not even this site.</p>
<pre><code>npx --package eleventy-plugin-twtxt eleventy-twtxt message send ${shown}</code></pre>
<p>To verify the recipient, compare the key: <code class="twtxt-key">${escapeHtml(key)}</code></p>`;
}
