// plugin/author/mentions/shown-mentions.ts: the newest mentions that the author's site shows. Reading them needs no key.
import { loopbackHostOf } from "../../http/hosts.js";
import { mentionPages } from "../../http/read-mention-list.js";
import type { PublicMention } from "../../site/mention-list.js";
import type { HostSettings } from "../../site/site.js";
import type { OwnSiteChoice } from "../choice.js";
import { networkOf } from "../network.js";

/** Three requests. */
const MAX_MENTIONS = 300;

/**
 * Reads the newest 300 mentions, newest first; none from a site that does not receive its mentions itself.
 *
 * @throws TwtxtError `unreachable`, and others of the guard
 */
export async function shownMentions(
  settings: Pick<HostSettings, "isReceiver" | "hasEndpoints" | "urls">,
  choice: Pick<OwnSiteChoice, "url" | "allow-private-host">,
  signal: AbortSignal,
): Promise<PublicMention[]> {
  if (!settings.isReceiver || !settings.hasEndpoints) return [];
  const { pathname, origin } = new URL(settings.urls.mentionsJson);
  const url = (choice.url === undefined ? origin : new URL(choice.url).origin) + pathname;
  const { ask } = networkOf({ "allow-private-host": [...choice["allow-private-host"], ...loopbackHostOf(url)] });
  const newest: PublicMention[] = [];
  for await (const mentions of mentionPages(ask, url, signal)) {
    newest.push(...mentions);
    if (newest.length >= MAX_MENTIONS) break;
  }
  return newest.slice(0, MAX_MENTIONS);
}
