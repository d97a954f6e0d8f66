// plugin/mentions/verify/quoted-text.ts: limits for names, texts and URLs quoted from other sites.

import { canParseUrl } from "../../url.js";
import { nameLine, plainLines, shortened } from "../plain-text.js";

const TEXT_LIMIT = 500;
const NAME_LIMIT = 100;
const URL_LIMIT = 2048;
/** Longer texts are cut before processing. */
const READ_LIMIT = 8192;

/** A text of at most 500 characters; lines are separated by LF. */
export function quoteText(raw: string): string {
  return shortened(plainLines(raw.slice(0, READ_LIMIT)).join("\n").trim(), TEXT_LIMIT);
}

/** A name in one line of at most 100 characters; empty if nothing visible is left. */
export function quoteName(raw: string): string {
  return shortened(nameLine(raw.slice(0, READ_LIMIT)), NAME_LIMIT);
}

/** @returns `null` for anything but an http or https URL without credentials of at most 2,048 characters */
export function webUrlOrNull(raw: string | undefined, base?: string): string | null {
  if (raw === undefined || raw.trim() === "" || raw.length > URL_LIMIT || !canParseUrl(raw, base)) return null;
  const url = new URL(raw, base);
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  return isWeb && url.username === "" && url.password === "" && url.href.length <= URL_LIMIT ? url.href : null;
}
