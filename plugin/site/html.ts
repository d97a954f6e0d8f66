// plugin/site/html.ts: text on its way into a page.

/** A text as HTML shows it, in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** A link to somebody mentioned, the way it stands in every page. */
export function mentionLink({ nick, url }: { nick: string; url: string }): string {
  return `<a href="${escapeHtml(url)}" class="u-mention">@${escapeHtml(nick)}</a>`;
}
