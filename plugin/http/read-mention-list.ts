// plugin/http/read-mention-list.ts: reads the public list of a site's mentions.
import { TwtxtError } from "../errors.js";
import { type MentionList, parseMentionList } from "../site/mention-list.js";
import type { Ask } from "./guard.js";
import { parseJson } from "./one-line.js";

const PAGE_BYTES = 1024 * 1024;
const MAX_PAGES = 1000;

/**
 * The shown mentions of a site, newest first, page by page.
 *
 * @param url - of `/mentions.json`
 * @throws TwtxtError as {@link readMentionList}
 */
export async function* mentionPages(ask: Ask, url: string, signal: AbortSignal): AsyncIterable<MentionList> {
  let after = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const list = await readMentionList(ask, `${url}?limit=100${after}`, PAGE_BYTES, signal);
    yield list;
    if (list.next === null) return;
    after = `&after=${encodeURIComponent(list.next)}`;
  }
}

/** @throws TwtxtError `unreachable` for anything but a list of mentions, and as the guard */
export async function readMentionList(
  ask: Ask,
  url: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<MentionList> {
  const response = await ask(url, { maxBytes, signal });
  if (response.status !== 200) {
    response.close();
    throw new TwtxtError("unreachable", `${url} answers ${response.status}.`);
  }
  const list = parseMentionList(parseJson(String(await response.bytes())));
  if (list) return list;
  throw new TwtxtError("unreachable", `${url} is not a list of mentions.`);
}
