import { describe, expect, it } from "vitest";
import { type Channel, notifyAuthor } from "../../../plugin/mentions/inform/digest.js";
import { mailChannel } from "../../../plugin/mentions/inform/mail.js";
import { ntfyChannel } from "../../../plugin/mentions/inform/ntfy.js";
import { webhookChannel } from "../../../plugin/mentions/inform/webhook.js";
import type { StoredMention } from "../../../plugin/mentions/mention.js";
import { SiteIndex } from "../../../plugin/mentions/receive/site-index.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { HOSTILE_TEXTS } from "../../helpers/hostile-texts.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { mailbox } from "../../helpers/mailbox.js";
import { listOf, storedMention } from "../../helpers/stored-mentions.js";

const PAGE = "https://alice.example/mentions/";
/** The maximum number of mentions in a mail, so that each text is quoted. */
const QUOTED = 50;
const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const TYPES = ["mention", "reply", "like", "repost", "bookmark"] as const;
/** The line above each quotation: only the name is from the sender. */
const HEADLINE = /^.{1,80}(?:, via bob\.example)? (?:mentioned you|replied to you|(?:likes|reposted|bookmarked) this)$/;

/** Each text as the text of a mention and as its author's name, in groups that fit into one mail. */
const MAILS = Array.from({ length: Math.ceil(HOSTILE_TEXTS.length / QUOTED) }, (_, n) =>
  HOSTILE_TEXTS.slice(n * QUOTED, (n + 1) * QUOTED).map(
    (text, i): StoredMention =>
      storedMention({
        text,
        author: { name: text, url: "https://bob.example/", photo: null },
        type: TYPES[i % TYPES.length] ?? "mention",
        state: i % 2 === 0 ? "shown" : "held",
        received: new Date(Date.UTC(2026, 0, 2, 3, 4, i)).toISOString(),
      }),
  ),
);

/** Notifies Alice once. */
async function notify(mentions: readonly StoredMention[], channel: Channel): Promise<void> {
  const now = () => Date.parse("2026-01-02T10:00:00.000Z");
  const log = (line: string) => expect.fail(line);
  await notifyAuthor({
    list: listOf(mentions),
    inboxes: async () => [],
    store: memoryStore(),
    now,
    channels: [channel],
    log,
  });
}

describe("hostile texts in a notification", () => {
  it("add no header, part or unquoted line to a plain-text mail", async () => {
    const box = await mailbox();
    const channel = mailChannel(`smtp://${box.host}:${box.port}`, "alice@alice.example", {
      page: PAGE,
      digestHours: 24,
      siteIndex: new SiteIndex({ feeds: ["https://alice.example/twtxt.txt"], pages: [], twts: [] }),
      links: null,
    });
    await notify([storedMention()], channel);
    for (const mentions of MAILS) await notify(mentions, channel);

    const [ordinary, ...hostile] = box.mails;
    expect(hostile).toHaveLength(MAILS.length);
    for (const [n, { headers, headerNames, text, from, to }] of hostile.entries()) {
      const count = MAILS[n]?.length ?? 0;
      expect(headerNames).toEqual(ordinary?.headerNames);
      expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
      expect(headers.subject).toBe(`${count} new mentions of alice.example`);
      expect([from, to]).toEqual(["alice@alice.example", ["alice@alice.example"]]);
      expect(text).not.toMatch(CONTROL);
      const passages = text.trimEnd().split("\n\n\n");
      expect(passages.pop()).toBe(`All mentions: ${PAGE}`);
      expect(passages).toHaveLength(count);
      for (const passage of passages) expectPassage(passage.split("\n"));
    }
  });

  it("add no header to a webhook and no field to ntfy, and stay on separate lines", async () => {
    const bodies: { headers: Record<string, unknown>; text: string }[] = [];
    const server = await loopbackServer((request, response) => {
      let text = "";
      request.on("data", (data) => (text += data));
      request.on("end", () => response.end(void bodies.push({ headers: request.headers, text })));
    });
    for (const mentions of MAILS) {
      await notify(mentions, webhookChannel(server.url, { page: PAGE, links: null }));
      await notify(mentions, ntfyChannel(`${server.url}/topic`, { page: PAGE, links: null }));
      const [hook, ntfy] = bodies.splice(0);
      expect(hook?.headers).toMatchObject({ title: `${mentions.length} new mentions of alice.example`, click: PAGE });
      const { message, ...fields } = JSON.parse(ntfy?.text ?? "");
      expect(Object.keys(fields)).toEqual(["topic", "title", "click", "tags"]);
      expect(message).toBe(hook?.text);
      expect(message).not.toMatch(CONTROL);
      const lines = message.split("\n");
      expect(lines).toHaveLength(11);
      expect(lines.at(-1)).toBe(`And ${mentions.length - 10} more.`);
    }
  });
});

/** Expects a headline, quoted lines, the source, and how to show a held mention. */
function expectPassage([headline, ...lines]: readonly string[]): void {
  expect(headline).toMatch(HEADLINE);
  const rest = lines.filter((line) => !/^>(?: |$)/.test(line));
  expect(rest[0]).toMatch(/^https:\/\/bob\.example\/\S+$/);
  expect(
    rest.slice(1).filter((line) => !/^Held\. To show it: npx eleventy-twtxt mentions approve [\w.]+$/.test(line)),
  ).toEqual([]);
}
