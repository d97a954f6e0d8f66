// plugin/mentions/verify/said.ts: how a stranger's words and addresses are kept.
import { nameLine, plainLines, shortened } from "../plain-text.js";

const TEXT_LIMIT = 500;
const NAME_LIMIT = 100;
const URL_LIMIT = 2048;
/** Of longer texts the rest is not looked at: it would be cut off anyway. */
const READ_LIMIT = 8192;

/** What is said, at most 500 characters; lines are separated by LF. */
export function textSaid(raw: string): string {
  return shortened(plainLines(raw.slice(0, READ_LIMIT)).join("\n").trim(), TEXT_LIMIT);
}

/** A name in one line, at most 100 characters; empty where nothing is left of it that anybody sees. */
export function nameSaid(raw: string): string {
  return shortened(nameLine(raw.slice(0, READ_LIMIT)), NAME_LIMIT);
}

/** @returns `null` for what is no http or https URL, holds credentials, or is longer than 2,048 characters */
export function webUrlSaid(raw: string | undefined, base?: string): string | null {
  if (raw === undefined || raw.trim() === "" || raw.length > URL_LIMIT || !URL.canParse(raw, base)) return null;
  const url = new URL(raw, base);
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  return isWeb && url.username === "" && url.password === "" && url.href.length <= URL_LIMIT ? url.href : null;
}
