// plugin/cli/message/wrap.ts: text as lines that stand below our own and cannot pass for them.
import { shownSafely } from "../terminal.js";

const INDENT = "  ";
/** Below so many columns there is no room for a text. */
const LEAST = 20;
/** How long a line is that goes to no terminal. */
const WITHOUT_TERMINAL = 160;
/** From Hangul on, most characters take two columns. */
const FIRST_WIDE = 0x1100;
const TAB = 8;

/**
 * A text of somebody else's, line by line, each indented. On a terminal long lines are broken here: where the terminal
 * did it, the rest of one would stand at the margin like a line of ours.
 *
 * @param columns - of the terminal; `null` for no terminal
 */
export function indented(text: string, columns: number | null): string[] {
  const room = columns === null ? Number.POSITIVE_INFINITY : Math.max(LEAST, columns - INDENT.length);
  return text.split("\n").flatMap((line) => brokenAt(room, shownSafely(line)).map((part) => INDENT + part));
}

/**
 * A line of ours with the beginning of somebody else's text behind it, or below it where there is no room.
 *
 * @param columns - of the terminal; `null` for no terminal
 */
export function followedBy(text: string, ours: string, columns: number | null): string[] {
  const line = text.split("\n").find((one) => one.trim() !== "") ?? "";
  if (line === "") return [ours.trimEnd()];
  const room = (columns ?? WITHOUT_TERMINAL) - ours.length - INDENT.length;
  if (room >= LEAST) return [`${ours}  ${cut(line.trim(), room)}`];
  return [ours.trimEnd(), INDENT + cut(line.trim(), Math.max(LEAST, (columns ?? 0) - INDENT.length))];
}

function cut(line: string, room: number): string {
  const safe = shownSafely(line);
  if (brokenAt(room, safe, false).length === 1) return safe;
  return `${brokenAt(room - 1, safe, false)[0]}…`;
}

/** @param byWords - whether a line is broken after its last space, where it has one */
function brokenAt(room: number, line: string, byWords = true): string[] {
  const parts: string[] = [];
  let part = "";
  let taken = 0;
  for (const character of line) {
    const width = widthOf(character);
    if (taken + width > room) {
      const end = byWords ? part.lastIndexOf(" ") + 1 || part.length : part.length;
      parts.push(part.slice(0, end));
      part = part.slice(end);
      taken = [...part].reduce((sum, one) => sum + widthOf(one), 0);
    }
    part += character;
    taken += width;
  }
  return [...parts, part];
}

/** More rather than less: what joins the character before it counts too. */
function widthOf(character: string): number {
  if (character === "\t") return TAB;
  return (character.codePointAt(0) ?? 0) >= FIRST_WIDE ? 2 : 1;
}
