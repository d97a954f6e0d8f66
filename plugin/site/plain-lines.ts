// plugin/site/plain-lines.ts: untrusted text as lines, and shortened.

/** Every line break that a reader may recognize, as Python's splitlines() does. */
const LINE_END = /\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/;
const CONTROL = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

export function plainLines(text: string): string[] {
  return text
    .toWellFormed()
    .split(LINE_END)
    .map((line) => line.replace(/\t/g, " ").replace(CONTROL, ""));
}

/** A text cut to at most `limit` characters, at the last space unless that is far from the limit. */
export function shortenedAtWord(text: string, limit: number): string {
  const cut = shortened(text, limit);
  if (cut === text) return text;
  const end = cut.search(/\s\S*$/);
  return end < cut.length * 0.8 ? cut : `${cut.slice(0, end).trimEnd()}…`;
}

/** A text cut to at most `limit` characters. */
export function shortened(text: string, limit: number): string {
  const characters = [...text];
  return characters.length <= limit
    ? text
    : `${characters
        .slice(0, limit - 1)
        .join("")
        .trimEnd()}…`;
}
