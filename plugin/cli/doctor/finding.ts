// plugin/cli/doctor/finding.ts: what the doctor sees, in words for a blogger.

/** One thing that was looked at. */
export interface Finding {
  /** `fix` for what peers stumble over, `note` for what the author may want to know. */
  level: "ok" | "note" | "fix";
  /** A sentence. */
  what: string;
  /** What to do about it, a sentence or two. */
  todo?: string;
}

const LONGEST_QUOTE = 160;
const LONGEST = 1000;

export const ok = (what: string): Finding => ({ level: "ok", what: visible(what) });
export const note = (what: string, todo: string): Finding => ({
  level: "note",
  what: visible(what),
  todo: visible(todo),
});
export const fix = (what: string, todo: string): Finding => ({
  level: "fix",
  what: visible(what),
  todo: visible(todo),
});

/** What somebody else has written, within a sentence of ours. */
export function quoted(text: string): string {
  return `"${cut(text, LONGEST_QUOTE)}"`;
}

/** A number of things. */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`;
}

/** What cannot be seen, or moves what follows on a terminal, is shown by its number. */
function visible(text: string): string {
  return cut(text, LONGEST).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
