// plugin/site/visible-name.ts: the name that a reader states. PROTOCOL 2.6, 3.5

/** Longer names are cut. */
export const VISIBLE_NAME_LENGTH = 60;
/** The name of a guest who states none. Pages show their word for a guest instead. */
export const GUEST = "guest";
/** Line ends and other space, and control characters. */
const SPACE = /[\s\p{Cc}\p{Zl}\p{Zp}\u2800\u3164\uffa0]+/gu;
/** Changes of direction and invisible characters. The joiners U+200C and U+200D stay: names and emoji need them. */
const INVISIBLE = /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** @returns at most 60 characters in one line; `null` for a name without a visible character */
export function cleanName(text: string): string | null {
  const line = text.toWellFormed().replace(SPACE, " ").replace(INVISIBLE, "").trim();
  const name = [...line].slice(0, VISIBLE_NAME_LENGTH).join("").trim();
  return isVisible(name) ? name : null;
}

export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}
