// plugin/web-url.ts: URLs of the web from strangers and settings. Beside url.ts, because lists of mentions do not need it.
import { canParseUrl } from "./url.js";

const URL_LIMIT = 2048;

/** @returns `null` for anything but an http or https URL without credentials of at most 2,048 characters */
export function webUrlOrNull(raw: string | undefined, base?: string): string | null {
  if (raw === undefined || raw.trim() === "" || raw.length > URL_LIMIT || !canParseUrl(raw, base)) return null;
  const { href, protocol, username, password } = new URL(raw, base);
  const isPlain = /^https?:$/.test(protocol) && username === "" && password === "";
  return isPlain && href.length <= URL_LIMIT ? href : null;
}
