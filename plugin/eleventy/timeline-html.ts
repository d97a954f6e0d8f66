// plugin/eleventy/timeline-html.ts: the timeline as HTML, with the component that updates it.
import { mentionEntry, type Thread } from "../site/conversation.js";
import { element, type MarkupElement } from "../site/html.js";
import { mentionItem, mentionList, replyList, type Said } from "../site/mention-markup.js";
import { saidOf, type Timeline } from "../site/timeline.js";
import { newestThreads, unreadList } from "../site/timeline-markup.js";
import { componentHtml, contextOf, lines, type MentionListOptions } from "./mention-html.js";

/** The conversations, the one with the newest twt first, and the feeds that could not be read. */
export function timelineHtml(timeline: Timeline, options: MentionListOptions): string {
  const context = contextOf(options);
  const saidByKey = new Map(timeline.twts.map(saidOf).map((said) => [mentionEntry(said).key, said]));
  const itemOf = ({ entry, replies }: Thread<ReturnType<typeof mentionEntry>>): MarkupElement => {
    const items = replies.map(itemOf);
    return mentionItem(saidByKey.get(entry.key) as Said, context, items.length > 0 ? [replyList(items)] : []);
  };
  const items = newestThreads([...saidByKey.values()].map(mentionEntry)).map(itemOf);
  const none = element("p", { class: "twtxt-none", ...(items.length > 0 && { hidden: "" }) }, options.words.noTwts);
  const unread = timeline.unread.length > 0 ? [unreadList(timeline, context, options.lang), "\n"] : [];
  const content = [mentionList(lines(items)), "\n", none, "\n", ...unread];
  return componentHtml(content, { ...options, updated: timeline.updated });
}
