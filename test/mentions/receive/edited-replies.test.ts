import { describe, expect, it } from "vitest";
import { SiteConversations } from "../../../plugin/eleventy/mentions/conversations.js";
import { twtHashes } from "../../../plugin/feed/hash.js";
import { Journal } from "../../../plugin/mentions/receive/journal.js";
import { ReceivedMentions } from "../../../plugin/mentions/receive/received.js";
import { FEED, type FeedServer, feedServer, PAGE, PAGES, receiver, TWT } from "../../helpers/receiver.js";
import { newMention } from "../../helpers/stored-mentions.js";

const [FIRST, SECOND] = ["2026-11-19T18:40:02Z", "2026-11-19T18:50:02Z"];

/** A reply as it stands under the post: its author, or "-" for an empty place, and the replies to it. */
type Outline = [name: string, ...replies: Outline[]];

/** The answers under the post, as a build arranges them. */
async function answersUnderPost(alice: ReturnType<typeof receiver>): Promise<Outline[]> {
  const outline = ({ author, isRemoved, replies }: ReturnType<SiteConversations["of"]>["replies"][number]): Outline => [
    isRemoved ? "-" : author.name,
    ...replies.map(outline),
  ];
  return new SiteConversations(await alice.mentions(PAGE), []).of(PAGE).replies.map(outline);
}

/** The mentions in Alice's store, as another process has them. Its clock runs on. */
function storedMentions({ store, clock, log }: ReturnType<typeof receiver>): ReceivedMentions {
  const now = () => {
    clock.time += 10_000;
    return clock.time;
  };
  const journal = new Journal({
    store,
    now,
    shownPerHost: 10_000,
    log: (line) => void log.push(line),
    twts: PAGES.twts,
  });
  return new ReceivedMentions({ journal, now, onChange: async () => {} });
}

function hashOf(feed: FeedServer, timestamp: string): string {
  return twtHashes(feed.feedUrl, { timestamp, text: feed.twts[timestamp] ?? "" }).v1;
}

/** Bob has replied to the post, and Carol to Bob. */
async function conversation() {
  const bob = await feedServer({ [FIRST]: `(#${TWT.hashes[0]}) @<alice ${FEED}> I like qinces` });
  const carol = await feedServer({
    [SECOND]: `(#${hashOf(bob, FIRST)}) @<bob ${bob.feedUrl}> @<alice ${FEED}> So do I`,
  });
  const alice = receiver({ neighbours: [bob, carol] });
  const tellBobs = (target = FEED) => alice.mentioned({ source: bob.twt(FIRST), target });
  const tellCarols = () => alice.mentioned({ source: carol.twt(SECOND), target: FEED });
  for (const answer of [await tellBobs(), await tellCarols()]) expect(answer).toMatchObject({ status: 200 });
  expect(await answersUnderPost(alice)).toEqual([["bob", ["bob"]]]);
  return { alice, bob, carol, tellBobs, tellCarols };
}

describe("an answer to a reply", () => {
  it("stays under the post when the reply is edited, again and again", async () => {
    const { alice, bob, tellBobs } = await conversation();
    for (const text of ["I like quinces", "I like quinces!", "I like quinces, very much"]) {
      bob.twts = { [FIRST]: `(#${TWT.hashes[0]}) @<alice ${FEED}> ${text}` };
      expect(await tellBobs()).toMatchObject({ status: 200 });
    }
    expect(await answersUnderPost(alice)).toEqual([["bob", ["bob"]]]);
  });

  it("stays under the post at an empty place when the reply is deleted", async () => {
    const { alice, bob, tellBobs } = await conversation();
    bob.twts = { [SECOND]: "something else" };
    expect(await tellBobs()).toMatchObject({ status: 200 });
    expect(await answersUnderPost(alice)).toEqual([["-", ["bob"]]]);
    const [place] = (await alice.mentions()).filter(({ isRemoved }) => isRemoved);
    expect(place).toMatchObject({ text: "", html: null, author: { name: "", url: "", photo: null } });
    expect(JSON.stringify(await alice.mentions())).not.toContain("qinces");
  });

  it("stays under the post when the reply is rejected or held, and when it is shown again", async () => {
    const { alice } = await conversation();
    const received = storedMentions(alice);
    const { mentions } = await received.list({ limit: 10 });
    const id = mentions.find(({ text }) => text.includes("qinces"))?.id ?? "";
    for (const state of ["rejected", "held"] as const) {
      await received.moderate(id, state, null);
      expect(await answersUnderPost(alice)).toEqual([["-", ["bob"]]]);
    }
    await received.moderate(id, "shown", null);
    expect(await answersUnderPost(alice)).toEqual([["bob", ["bob"]]]);
  });

  it("is alone in the lists of the author: an empty place is no mention", async () => {
    const { alice, bob, tellBobs } = await conversation();
    bob.twts = { [SECOND]: "something else" };
    await tellBobs();
    const received = storedMentions(alice);
    expect((await received.list({ limit: 10 })).mentions.map(({ state }) => state)).toEqual(["shown"]);
    expect((await received.list({ limit: 10, state: "shown" })).mentions).toHaveLength(1);
    expect(await tellBobs()).toMatchObject({ status: 400, code: "no-such-twt" });
  });

  it("leaves no place of a removed reply when it is removed itself", async () => {
    const { alice, bob, carol, tellBobs, tellCarols } = await conversation();
    bob.twts = { [SECOND]: "something else" };
    await tellBobs();
    carol.twts = { [FIRST]: "something else" };
    await tellCarols();
    expect(await alice.mentions()).toEqual([]);
  });

  it("finds the reply again when that was removed for a while and then changed", async () => {
    const { alice, bob, tellBobs } = await conversation();
    bob.twts = { [SECOND]: "something else" };
    await tellBobs();
    bob.twts = { [FIRST]: `(#${TWT.hashes[0]}) @<alice ${FEED}> I like quinces` };
    await tellBobs();
    expect(await answersUnderPost(alice)).toEqual([["bob", ["bob"]]]);
  });

  it("stays when the journal was compacted in between", async () => {
    const { alice, bob, tellBobs } = await conversation();
    const { journal } = storedMentions(alice);
    for (const [twts, answers] of [
      [{ [FIRST]: `(#${TWT.hashes[0]}) @<alice ${FEED}> I like quinces` }, [["bob", ["bob"]]]],
      [{ [SECOND]: "something else" }, [["-", ["bob"]]]],
    ] as const) {
      await journal.compact();
      bob.twts = twts;
      await tellBobs();
      await journal.compact();
      expect(await answersUnderPost(receiver({ store: alice.store }))).toEqual(answers);
    }
  });
});

describe("a chain of 2,000 answers", () => {
  it("stays under the post when the first one is removed", async () => {
    const alice = receiver();
    const received = storedMentions(alice);
    for (let n = 1; n <= 2000; n += 1) {
      const [hash, subject] = [`hash${n}`, n === 1 ? (TWT.hashes[0] ?? "") : `hash${n - 1}`];
      const place = n === 1 ? { under: PAGE } : {};
      await received.journal.add({
        kind: "kept",
        at: new Date(Date.parse("2026-11-20T09:00:00Z") + n).toISOString(),
        mention: newMention(n, { type: "reply", hash, hashV1: hash, subject, ...place }),
      });
    }
    const listed = async () => {
      const { mentions } = await received.list({ state: "shown", target: PAGE, limit: 3000, withPlaces: true });
      return mentions.map(({ state, type }) => `${state} ${type}`);
    };
    expect(await listed()).toEqual(Array.from({ length: 2000 }, () => "shown reply"));
    const first = (await received.list({ limit: 3000 })).mentions.at(-1);
    await received.remove(first?.id ?? "");
    expect(await listed()).toEqual([...Array.from({ length: 1999 }, () => "shown reply"), "removed reply"]);
  });
});

describe("a mention that was told for the feed and for a post", () => {
  const both = `@<alice ${FEED}> I like quinces, see ${PAGE}`;

  it.each([
    ["the feed first", [FEED, PAGE]],
    ["the post first", [PAGE, FEED]],
  ])("stays under the post when only the mention of the feed is edited away, %s", async (_, targets) => {
    const bob = await feedServer({ [FIRST]: both });
    const alice = receiver({ neighbours: [bob] });
    for (const target of targets) await alice.mentioned({ source: bob.twt(FIRST), target });
    const received = (await alice.mentions(PAGE)).map((mention) => mention.received);
    expect(received).toHaveLength(1);

    bob.twts = { [FIRST]: `I like quinces, see ${PAGE}` };
    alice.clock.time += 3600_000;
    expect(await alice.mentioned({ source: bob.twt(FIRST), target: FEED })).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toMatchObject([
      { target: PAGE, text: `I like quinces, see ${PAGE}`, received: received[0] },
    ]);

    bob.twts = { [FIRST]: "I like quinces" };
    expect(await alice.mentioned({ source: bob.twt(FIRST), target: PAGE })).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toEqual([]);
  });

  it("stays rejected when the mention of the feed is edited away", async () => {
    const bob = await feedServer({ [FIRST]: both });
    const alice = receiver({ neighbours: [bob] });
    const received = storedMentions(alice);
    await alice.mentioned({ source: bob.twt(FIRST), target: FEED });
    await received.moderate((await received.list({ limit: 1 })).mentions[0]?.id ?? "", "rejected", null);
    alice.clock.time += 1000;
    bob.twts = { [FIRST]: `I like quinces, see ${PAGE}` };
    await alice.mentioned({ source: bob.twt(FIRST), target: FEED });
    expect(await alice.mentions()).toEqual([]);
    expect((await received.list({ limit: 2 })).mentions).toMatchObject([{ state: "rejected", target: PAGE }]);
  });
});
