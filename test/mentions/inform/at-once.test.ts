import { beforeEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../../plugin/store/memory.js";
import { type Mailbox, mailbox } from "../../helpers/mailbox.js";
import { FEED, type FeedServer, feedServer, type ReceiverOptions, receiver } from "../../helpers/receiver.js";
import { type Telephone, telephone } from "../../helpers/telephone.js";
import { ALICE, ARMORED, INBOX, sealed } from "../../messages/inbox/alices-inbox.js";

const HOUR = 3600_000;
const MINUTE = 60_000;

let bob: FeedServer;
let box: Mailbox;
let phone: Telephone;
/** The number of Bob's twts. */
let sent: number;

beforeEach(async () => {
  bob = await feedServer({});
  sent = 0;
  [box, phone] = await Promise.all([mailbox(), telephone()]);
});

function alice(options: ReceiverOptions = {}) {
  const environment = {
    TWTXT_SMTP_URL: `smtp://${box.host}:${box.port}`,
    TWTXT_MAIL_TO: "alice@alice.example",
    TWTXT_WEBHOOK_URL: phone.url,
    ...options.environment,
  };
  const site = receiver({ neighbours: [bob], mentions: { limits: { shownPerHost: 1000 } }, ...options, environment });
  return {
    ...site,
    /** Bob mentions Alice in a new twt. */
    async receiveMention(text: string) {
      sent += 1;
      const timestamp = new Date(Date.parse("2026-11-19T18:00:00Z") + sent * 1000).toISOString().replace(".000", "");
      bob.twts[timestamp] = `@<alice ${FEED}> ${text}`;
      const { status } = await site.mentioned({ source: bob.twt(timestamp), target: FEED });
      expect(status).toBe(200);
      return { timestamp };
    },
    async receiveMessage(body: Uint8Array) {
      const request = new Request(INBOX, { method: "POST", body: Buffer.from(body) });
      expect((await site.answer(request)).status).toBe(202);
    },
  };
}

const INBOX_OPTIONS: ReceiverOptions = {
  key: ALICE.publicKey,
  inbox: { users: ["alice"], messages: 1000, megabytes: 64, retentionDays: 0, subscribe: null, guests: null },
};
const NO_MAIL = { TWTXT_SMTP_URL: "", TWTXT_MAIL_TO: "" };
const quotes = () => box.mails.map(({ text }) => text.match(/(?<=> @<alice \S+> ).*/g));

describe("news after a quiet hour", () => {
  it("is reported immediately by mail and webhook, without an hourly run; later news waits for a digest", async () => {
    const site = alice();
    await site.receiveMention("first");
    await site.settled();
    expect(quotes()).toEqual([["first"]]);
    expect(phone.notes).toEqual([expect.stringContaining("first")]);

    for (const text of ["second", "third"]) {
      site.clock.time += 10 * MINUTE;
      await site.receiveMention(text);
    }
    await site.settled();
    expect([box.mails.length, phone.notes.length]).toEqual([1, 1]);

    site.clock.time += HOUR;
    await site.services.runScheduled();
    expect(phone.notes[1]).toMatch(/third\n.*second/);
    expect(box.mails).toHaveLength(1);
    site.clock.time += 24 * HOUR;
    await site.services.runScheduled();
    expect(quotes()).toEqual([["first"], ["third", "second"]]);
    expect(phone.notes).toHaveLength(2);
  });

  it("is reported immediately again after the next quiet hour", async () => {
    const site = alice();
    await site.receiveMention("first");
    await site.settled();
    site.clock.time += HOUR + MINUTE;
    await site.receiveMention("second");
    await site.settled();
    expect(quotes()).toEqual([["first"], ["second"]]);
    expect(phone.notes).toHaveLength(2);
  });

  it("is reported once if many mentions arrive at the same time", async () => {
    const site = alice();
    await Promise.all(Array.from({ length: 20 }, (_, n) => site.receiveMention(`number ${n}`)));
    await site.settled();
    expect([box.mails.length, phone.notes.length]).toEqual([1, 1]);
  });

  it("is not reported again when the same mention is sent again", async () => {
    const site = alice();
    const { timestamp } = await site.receiveMention("first");
    await site.settled();
    site.clock.time += 3 * HOUR;
    expect((await site.mentioned({ source: bob.twt(timestamp), target: FEED })).status).toBe(200);
    await site.settled();
    await site.services.runScheduled();
    expect([box.mails.length, phone.notes.length]).toEqual([1, 1]);
  });

  it("does not delay the response to the sender, even with a slow webhook", async () => {
    const site = alice();
    const release = phone.hold();
    await site.receiveMention("first");
    await expect.poll(() => phone.notes.length).toBe(1);
    await site.receiveMention("second");
    release();
    await site.settled();
    expect(phone.notes).toHaveLength(1);
    expect(site.log.join("\n")).not.toContain("notified");
  });

  it("is reported once by two processes with one store", async () => {
    const store = memoryStore();
    const [one, other] = [alice({ store }), alice({ store })];
    await Promise.all([one.receiveMention("first"), other.receiveMention("second")]);
    await Promise.all([one.settled(), other.settled()]);
    expect([box.mails.length, phone.notes.length]).toEqual([1, 1]);
    one.clock.time += 25 * HOUR;
    await one.services.runScheduled();
    expect(quotes().flat().sort()).toEqual(["first", "second"]);
  });

  it("is reported by another process's hourly run if the first process ended", async () => {
    const store = memoryStore();
    const options = { store, environment: NO_MAIL };
    const [killed, next] = [alice(options), alice(options)];
    const release = phone.hold();
    await killed.receiveMention("first");
    await expect.poll(() => phone.notes.length).toBe(1);

    await next.services.runScheduled();
    expect(phone.notes).toHaveLength(1);
    next.clock.time += HOUR;
    const run = next.services.runScheduled();
    await expect.poll(() => phone.notes.length).toBe(2);
    release();
    await run;
    expect(phone.notes[1]).toBe(phone.notes[0]);
    next.clock.time += HOUR;
    await next.services.runScheduled();
    expect(phone.notes).toHaveLength(2);
  });

  it("is reported by the next hourly run if the mail server was down", async () => {
    const site = alice();
    box.refusal = "not now";
    await site.receiveMention("first");
    await site.settled();
    expect(site.log.join("\n")).toContain("not now");
    box.refusal = null;
    site.clock.time += HOUR;
    await site.services.runScheduled();
    expect(quotes()).toEqual([["first"]]);
  });

  it("is retried at most every ten minutes while a webhook is down", async () => {
    const site = alice({ environment: { TWTXT_WEBHOOK_URL: "http://127.0.0.1:1/" } });
    for (let n = 0; n < 10; n += 1) {
      await site.receiveMention(`number ${n}`);
      await site.settled();
    }
    expect(site.log.filter((line) => line.includes("Notification by"))).toHaveLength(1);
  });

  it("is neither reported nor recorded if no mail or webhook is configured", async () => {
    const store = memoryStore();
    const site = alice({ store, environment: { ...NO_MAIL, TWTXT_WEBHOOK_URL: "" } });
    await site.receiveMention("first");
    await site.settled();
    expect(await store.keys("inform/")).toEqual([]);
  });
});

describe("a sealed message after a quiet hour", () => {
  it("is reported immediately, and later ones in the digest", async () => {
    const site = alice(INBOX_OPTIONS);
    await site.receiveMessage(ARMORED);
    await site.settled();
    expect(phone.notes).toEqual([expect.stringMatching(/^1 new sealed message\./)]);
    expect(box.mails).toHaveLength(1);

    site.clock.time += MINUTE;
    await site.receiveMessage(sealed(1));
    await site.receiveMention("hello");
    await site.settled();
    expect([box.mails.length, phone.notes.length]).toEqual([1, 1]);
    site.clock.time += HOUR;
    await site.services.runScheduled();
    expect(phone.notes[1]).toMatch(/^1 new sealed message\.[^\n]*\nbob: .*hello/);
  });

  it("is reported once if it is delivered again", async () => {
    const site = alice(INBOX_OPTIONS);
    await site.receiveMessage(ARMORED);
    await site.settled();
    site.clock.time += 3 * HOUR;
    await site.receiveMessage(ARMORED);
    await site.settled();
    expect([box.mails.length, phone.notes.length]).toEqual([1, 1]);
  });
});
