// test/helpers/list-options.ts: what a build of alice.example passes to the HTML of its lists.
import { type MentionListOptions, writeOnce } from "../../plugin/eleventy/mentions/mention-html.js";
import { ENGLISH } from "../../plugin/options/words.js";
import { dateFormat } from "../../plugin/site/mention-markup.js";

type Changes = Partial<MentionListOptions> & Pick<MentionListOptions, "target">;

export function listOptions<T extends Changes>(changes: T): MentionListOptions & Pick<T, "target"> {
  return {
    ...{ json: "/mentions.json", script: "/twtxt-mentions.js", style: "/twtxt.css", endpoint: null },
    feed: { url: "https://alice.example/twtxt.txt", nick: "alice" },
    ...{ findTitle: () => null, pictures: new Map(), words: ENGLISH, lang: "en", timeZone: "UTC" },
    ...{ headingLevel: 2, once: writeOnce(), dates: dateFormat("en", "UTC") },
    ...changes,
  };
}
