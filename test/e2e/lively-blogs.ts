// test/e2e/lively-blogs.ts: the posts of three people, for the screenshots of the web client.
import { post } from "../helpers/site.js";

const HOUR_MS = 3_600_000;

export function hoursAgo(hours: number): string {
  return new Date(Date.now() - hours * HOUR_MS).toISOString().replace(/\.\d+Z$/, "Z");
}

/** The files of posts, from the posts by their age in hours. */
function posts(texts: Record<number, string | { title: string; summary: string }>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).map(([hours, content]) => {
      const date = hoursAgo(Number(hours));
      const isNote = typeof content === "string";
      const own = isNote ? {} : { title: content.title, summary: content.summary };
      const name = isNote ? date.replace(/\D/g, "") : content.title.toLowerCase().replace(/\W+/g, "-");
      return [
        `posts/${name}.md`,
        post({ ...own, date, tags: "posts", layout: "post.njk" }, isNote ? content : content.summary),
      ];
    }),
  );
}

export const ALICES_POSTS = posts({
  190: {
    title: "Quinces",
    summary: "A slow jelly, and why I stopped peeling.",
  },
  71: "First frost. The dahlias went black overnight, as they do, and the kale looks pleased with itself.",
  28: "The green bicycle has a bell again. It rings by itself on cobbles, which is most of the town.",
});

export const BOBS_POSTS = posts({
  120: "The 17:05 from platform two has a dining car again. The soup is better than the punctuality.",
  52: "Thursday’s sky, from the signal box: a red that no one ordered.",
  5: "Does anyone still have a quince or two? Ours were gone by Tuesday.",
});

export const CAROLS_POSTS = posts({
  98: "Repair café on Saturday: nineteen lamps, four toasters, and one accordion that we sent home unrepaired.",
  20: "Sharpened every knife in the house. Now we cook with great respect.",
});

/** The feed of Erin, who has no blog and replies to Alice. @param alice - the URL of Alice's feed */
export function erinsFeed(alice: string): string {
  const mention = `@<alice ${alice}>`;
  return [
    "# nick = erin",
    `${hoursAgo(44)}\t${mention} kale tastes best after the *first* frost. Ask it yourself.`,
    `${hoursAgo(9)}\tThe library has a seed shelf now: take a bag, bring a bag. I took eleven.`,
    "",
  ].join("\n");
}
