// plugin/author/notes/mentionable-feeds.ts: the feeds that the author may want to mention, for completion while a note is typed.
import { ifTwtxtError } from "../../errors.js";
import { formatMention, isMentionUrl, isNick, type Mention } from "../../feed/mention.js";
import { readGuestKey } from "../../keys/guest.js";
import { Contacts } from "../../messages/lookup/contacts.js";
import type { FollowedFeed } from "../../options/follow.js";
import { findShortMention } from "../../text/markdown-mentions.js";
import { loadAuthor } from "../author.js";
import type { Machine, OwnSiteChoice } from "../machine.js";
import type { Site } from "../site.js";
import { openTimelineStore, readKnownMentions } from "../timeline/live-timeline.js";
import type { KnownNick } from "./complete-nick.js";
import { hasTemplateCode } from "./notes.js";

/** Authors of mentions, as the timeline has read them last, and contacts. @throws TwtxtError `store-failed` */
export async function listMentionable(site: Site, choice: OwnSiteChoice, machine: Machine): Promise<Mention[]> {
  const mentions = await readKnownMentions(openTimelineStore(site, machine));
  const authors = mentions.map(({ author }) => ({ nick: author.name, url: author.url }));
  return [...authors, ...(await listContactSites(choice, machine).catch(ifTwtxtError(() => [])))];
}

/** A contact has an address but no feed, so a mention leads to the site. */
async function listContactSites(choice: OwnSiteChoice, machine: Machine): Promise<Mention[]> {
  const { store } = await loadAuthor(choice, machine);
  const contacts = await new Contacts(store, machine.now).list();
  return contacts.flatMap(({ address }) => {
    const [user = "", host = ""] = address.split("@");
    return readGuestKey(address) === null ? [{ nick: user, url: `https://${host}/` }] : [];
  });
}

/**
 * Lists the feeds that the author may want to mention: those that the site follows, then others.
 *
 * @param others - from strangers; those without a valid nick, or with a URL that cannot be mentioned, are left out
 */
export function knownNicks(followed: readonly FollowedFeed[], others: readonly Mention[]): KnownNick[] {
  const known = new Map<string, KnownNick>();
  for (const { nick, url } of [...followed, ...others]) {
    if (nick === null || !isNick(nick) || !isMentionUrl(url) || hasTemplateCode(nick + url) || known.has(url)) continue;
    const isResolved = findShortMention(`@${nick}`, 0, followed)?.url === url;
    known.set(url, { nick, url, written: isResolved ? `@${nick}` : formatMention({ nick, url }) });
  }
  return [...known.values()];
}
