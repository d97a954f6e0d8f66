// plugin/eleventy/twt-markdown.ts: Markdown of twts, where it differs from the Markdown writer.

/** Only what would make or hide a mention is escaped: a wire form that the author wanted as text, and what opens code. */
export function escapeText(text: string): string {
  return text.replace(/@</g, "@\\<").replace(/`/g, "\u02cb");
}

/** A link that shows its own URL is that URL; the other ones are Markdown without titles, which one peer rewrites. */
export function linkText(label: string, url: string): string {
  const address = url.replace(/^mailto:/, "");
  const isBare = withoutScheme(label) === withoutScheme(address);
  if (address === "") return label;
  return isBare || label === "" ? address : `[${label}](${url.replace(/[()\s\\]/g, percentEncode)})`;
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, "").replace(/\/$/, "");
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
