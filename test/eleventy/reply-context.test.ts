import { mf2 } from "microformats-parser";
import { describe, expect, it } from "vitest";
import { twtHash } from "../../plugin/feed/hash.js";
import { longMention } from "../helpers/long-conversation.js";
import { loopbackServer } from "../helpers/loopback.js";
import { post, site } from "../helpers/site.js";

const BASE = `<!doctype html><html lang="en"><head><title>x</title></head><body><article class="h-entry">`;
const LAYOUTS = {
  "_includes/post.njk": `${BASE}<div class="e-content">{{ content | safe }}</div>{% twtxtMentions %}</article></body></html>`,
  "_includes/above.njk": `${BASE}{% twtxtContext %}<div class="e-content">{{ content | safe }}</div>{% twtxtMentions %}</article></body></html>`,
};
const AT = "2026-11-19T10:00:01Z";
const reply = (replyTo: string, layout = "post.njk") =>
  post({ date: "2026-11-19T11:00:00Z", tags: "posts", replyTo, layout }, "They are well.");

/** What a page says that its post answers. */
function contextIn(page: string): string | null {
  const [, section] = /<section class="twtxt-context">([\s\S]*?)<\/section>/.exec(page) ?? [];
  return (
    section
      ?.replace(/<[^>]*>|\s+/g, " ")
      .replace(/\s+/g, " ")
      .trim() ?? null
  );
}

describe("the page of a reply", () => {
  it("shows what it answers: a twt of the author's own feed, of a followed feed, or a received mention", async () => {
    const text = "How are the quinces?";
    const bob = await loopbackServer((_, response) => response.end(`${AT}\t${text}\n`));
    const server = await loopbackServer((_, response) => {
      const mention = longMention(`${server.url}/twtxt.txt`, 1, { text: "And the *hens*?", hash: "carol22" });
      response.end(JSON.stringify({ mentions: [{ ...mention, type: "mention" }], next: null }));
    });
    const own = twtHash(`${server.url}/twtxt.txt`, { timestamp: "2026-11-18T09:00:00Z", text: "Frost tonight." });
    const built = await site({
      files: {
        ...LAYOUTS,
        "frost.md": post({ date: "2026-11-18T09:00:00Z", tags: "posts", layout: "post.njk" }, "Frost tonight."),
        "to-own.md": reply(`${own} ${server.url}/twtxt.txt`),
        "to-bob.md": reply(`${twtHash(`${bob.url}/`, { timestamp: AT, text })} ${bob.url}/`),
        "to-carol.md": reply(`carol22 https://bob1.example/twtxt.txt`),
        "to-nobody.md": reply("abcdefg https://dave.example/twtxt.txt"),
      },
      options: `{ url: "${server.url}", host: "node", timeline: true, follow: [{ nick: "bob", url: "${bob.url}/" }] }`,
    });
    const contextOf = (name: string) => contextIn(built.read(`${name}/index.html`));

    expect(contextOf("to-own")).toBe("In reply to alice Author Nov 18, 2026 Frost tonight.");
    expect(contextOf("to-bob")).toBe(`In reply to bob Nov 19, 2026 ${text}`);
    expect(contextOf("to-carol")).toMatch(/^In reply to bob 1.* Jan 2, 2026 And the hens ?\?$/);
    expect(contextOf("to-nobody")).toBeNull();
    expect(contextOf("frost")).toBeNull();
    const [entry] = mf2(built.read("to-bob/index.html"), { baseUrl: server.url }).items;
    expect(entry?.properties["in-reply-to"]).toMatchObject([
      { type: ["h-cite"], properties: { url: [`${bob.url}/#:~:text=${AT}`], content: [text] } },
    ]);
    expect(JSON.stringify(entry?.properties.content)).not.toContain("quinces");
  });

  it("shows it once: above the post with twtxtContext, else above the mentions", async () => {
    const own = twtHash("https://alice.example/twtxt.txt", { timestamp: "2026-11-18T09:00:00Z", text: "Frost." });
    const built = await site({
      files: {
        ...LAYOUTS,
        "frost.md": post({ date: "2026-11-18T09:00:00Z", tags: "posts" }, "Frost."),
        "above.md": reply(`${own} https://alice.example/twtxt.txt`, "above.njk"),
        "below.md": reply(`${own} https://alice.example/twtxt.txt`),
      },
    });
    const orderOf = (name: string) => built.read(`${name}/index.html`).match(/twtxt-context|They are well/g);

    expect(orderOf("above")).toEqual(["twtxt-context", "They are well"]);
    expect(orderOf("below")).toEqual(["They are well", "twtxt-context"]);
  });
});
