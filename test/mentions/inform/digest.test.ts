import { beforeEach, describe, expect, it } from "vitest";
import { type Channel, notifyAuthor } from "../../../plugin/mentions/inform/digest.js";
import { digestMail, digestNote } from "../../../plugin/mentions/inform/digest-text.js";
import { mailChannel, mailSettings } from "../../../plugin/mentions/inform/mail.js";
import { webhookChannel } from "../../../plugin/mentions/inform/webhook.js";
import type { StoredMention } from "../../../plugin/mentions/mention.js";
import { toMentionVersion } from "../../../plugin/mentions/receive/event.js";
import { SiteIndex } from "../../../plugin/mentions/receive/site-index.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { type Mailbox, mailbox } from "../../helpers/mailbox.js";
import { deadUrl } from "../../helpers/ports.js";
import { listOf, storedMention } from "../../helpers/stored-mentions.js";

const PAGE = "https://alice.example/mentions/";
const HOUR = 3600_000;
const START = Date.parse("2026-01-02T10:00:00.000Z");

let stored: StoredMention[];
let store: Store;
let time: number;
let log: string[];
let box: Mailbox;

beforeEach(async () => {
  stored = [];
  store = memoryStore();
  time = START;
  log = [];
  box = await mailbox();
});

const QUINCES = "https://alice.example/posts/quinces/";
const siteIndex = new SiteIndex({
  feeds: ["https://alice.example/twtxt.txt"],
  pages: [QUINCES, "https://alice.example/about/"],
  titles: { [QUINCES]: "Quinces\nare ripe" },
  twts: [],
});
const mailTo = (url: string, to = "alice@alice.example") =>
  mailChannel(url, to, { page: PAGE, digestHours: 24, siteIndex, links: null });
const toWebhook = (url: string) => webhookChannel(url, { page: PAGE, links: null });
const toBox = () => mailTo(`smtp://${box.host}:${box.port}`);

interface Run extends Partial<Pick<Parameters<typeof notifyAuthor>[0], "inboxes" | "refused" | "store">> {
  /** `null` for none; mail to {@link box} by default. */
  mail?: Channel | null;
  webhook?: Channel;
}

/** One hourly run. */
function run({ mail = toBox(), webhook, ...change }: Run = {}) {
  return notifyAuthor({
    list: listOf(stored),
    inboxes: async () => [],
    store,
    now: () => time,
    channels: [...(mail ? [mail] : []), ...(webhook ? [webhook] : [])],
    log: (line) => log.push(line),
    ...change,
  });
}

/** Runs now and then every `everyHours`, for this many hours. */
async function runFor(hours: number, change: Run = {}, everyHours = 1) {
  for (let hour = 0; hour < hours; hour += everyHours) {
    await run(change);
    time += everyHours * HOUR;
  }
}

/** Adds a mention received now, after all others. */
function addMention(text: string, change: Partial<StoredMention> = {}): StoredMention {
  const received = new Date(time + stored.length).toISOString();
  const mention = storedMention({ text, received, identity: `https://bob.example/${stored.length}.txt`, ...change });
  stored.push(mention);
  return mention;
}

describe("private messages", () => {
  const inbox = (count: number, fullness = 0.1) => ({
    inboxes: async () => [
      {
        user: "alice",
        fullness,
        messages: Array.from({ length: count }, (_, i) => ({ created: new Date(START + i).toISOString() })),
      },
    ],
  });

  it("are counted once each, without further details", async () => {
    await run(inbox(3));
    expect(box.mails.map(({ headers }) => headers.subject)).toEqual(["3 new sealed messages"]);
    expect(box.mails[0]?.text.trim()).toBe("3 new sealed messages. To read: npx eleventy-twtxt message list");
    time += 25 * HOUR;
    await run(inbox(3));
    expect(box.mails).toHaveLength(1);
    await run(inbox(4));
    expect(box.mails.at(-1)?.headers.subject).toBe("1 new sealed message");
  });

  it("share a mail and a webhook notification with mentions", async () => {
    addMention("hello");
    const notes: unknown[] = [];
    await run({
      ...inbox(1),
      webhook: {
        ...toWebhook(""),
        send: async (news) => void notes.push(digestNote(news, { page: PAGE, links: null })),
      },
    });
    expect(box.mails[0]?.headers.subject).toBe("1 new mention of alice.example, 1 new sealed message");
    expect(box.mails[0]?.text).toContain("> hello");
    expect(notes).toEqual([
      {
        title: "1 new mention of alice.example, 1 new sealed message",
        click: PAGE,
        text: "1 new sealed message. To read: npx eleventy-twtxt message list\nbob: hello",
      },
    ]);
  });

  it("are reported again if the mail server was down", async () => {
    const down: Channel = { ...toBox(), send: () => Promise.reject(new Error("down")) };
    await run({ ...inbox(2), mail: down });
    expect(log).toEqual([expect.stringContaining("Notification by mail failed")]);
    time += HOUR;
    await run(inbox(2));
    expect(box.mails.map(({ headers }) => headers.subject)).toEqual(["2 new sealed messages"]);
  });

  it("that nearly fill an inbox cause one warning, until there was room again", async () => {
    const days = [
      [10, 0.79],
      [10, 0.8],
      [10, 0.9],
      [10, 0.5],
      [10, 0.85],
    ] as const;
    for (const [count, fullness] of days) {
      await run(inbox(count, fullness));
      time += 25 * HOUR;
    }
    expect(box.mails.map(({ headers }) => headers.subject)).toEqual([
      "10 new sealed messages",
      "An inbox at alice.example is nearly full",
      "An inbox at alice.example is nearly full",
    ]);
    expect(box.mails[1]?.text).toContain("The inbox of alice is more than 80% full.");
  });
});

it("a refused account on another network is told once, until the network has accepted it", async () => {
  let refused: Record<string, string> = { mastodon: "mastodon.example answers 401" };
  for (const fault of [refused, refused, {}, refused]) {
    refused = fault;
    await run({ refused: async () => refused });
    time += 25 * HOUR;
  }
  expect(box.mails.map(({ headers }) => headers.subject)).toEqual([
    "Copies of posts of alice.example are refused",
    "Copies of posts of alice.example are refused",
  ]);
  expect(box.mails[0]?.text).toContain("Mastodon refuses your account, so copies of your posts wait.");
});

describe("the mail", () => {
  it("contains author, text and post, and how to show a held mention", async () => {
    addMention("are yours ripe?\n\nmine are", { target: "https://alice.example/about/" });
    const held = addMention("buy this", {
      state: "held",
      id: "c".repeat(32),
      author: { name: "eve", url: "https://eve.example/", photo: null },
    });
    addMention("", { type: "like", under: null, target: QUINCES, timestamp: null });
    addMention("so are mine", { type: "reply", under: QUINCES });
    addMention("not this one", { state: "rejected" });
    await run();

    expect(box.mails).toHaveLength(1);
    const [mail] = box.mails;
    expect(mail).toMatchObject({ from: "alice@alice.example", to: ["alice@alice.example"] });
    expect(mail?.headers).toMatchObject({
      subject: "4 new mentions of alice.example",
      "auto-submitted": "auto-generated",
      "content-type": "text/plain; charset=utf-8",
    });
    expect(mail?.text.trim()).toBe(
      `bob replied to "Quinces are ripe"
> so are mine
https://bob.example/3.txt#:~:text=2026-01-02T03:04:05Z


bob likes "Quinces are ripe"
https://bob.example/2.txt


eve, via bob.example mentioned you
> buy this
https://bob.example/1.txt#:~:text=2026-01-02T03:04:05Z
Held. To show it: npx eleventy-twtxt mentions approve cccccccc.${toMentionVersion(held).slice(0, 8)}


bob mentioned https://alice.example/about/
> are yours ripe?
>
> mine are
https://bob.example/0.txt#:~:text=2026-01-02T03:04:05Z


All mentions: https://alice.example/mentions/`,
    );
  });

  it("quotes a comment without the hash and the mention that its twt begins with", () => {
    const author = { name: "Dana", url: "https://alice.example/guests/anon-0123456789abcdef.txt", photo: null };
    const text = "(#abcdefg) @<alice https://alice.example/twtxt.txt> What a harvest!";
    const comment = storedMention({ author: { ...author, guest: true }, text, type: "reply", state: "held" });
    const news = { id: "0".repeat(32), mentions: [comment], sealed: 0, filling: [] };
    const siteIndex = { feedUrl: "https://alice.example/twtxt.txt", addTitle: <M>(mention: M) => mention };
    const { text: mail } = digestMail(news, { page: "https://alice.example/mentions/", siteIndex, links: null });
    expect(mail).toContain("\n> What a harvest!\n");
    expect(mail).toContain("npx eleventy-twtxt mentions approve");
  });

  it("uses the singular for one mention", async () => {
    addMention("hello");
    await run();
    expect(box.mails[0]?.headers.subject).toBe("1 new mention of alice.example");
  });

  it("quotes at most 50 mentions of any length and counts the rest", async () => {
    const text = "\u{1f344}".repeat(250);
    for (let n = 0; n < 60; n += 1)
      addMention(text, { author: { name: text, url: "https://bob.example/", photo: null } });
    await run();
    const [mail] = box.mails;
    expect(mail?.headers.subject).toBe("60 new mentions of alice.example");
    expect(mail?.text.match(new RegExp(`^> ${text}$`, "gmu"))).toHaveLength(50);
    expect(mail?.text).toContain("And 10 more. All of them: https://alice.example/mentions/");
    expect(Buffer.byteLength(mail?.text ?? "")).toBeLessThan(100_000);
  });
});

describe("digests", () => {
  const subjects = () => box.mails.map(({ headers }) => headers.subject);

  it("are sent immediately for the first mention, then at most once per digestHours with all later mentions", async () => {
    await run();
    addMention("first");
    await run();
    for (let half = 0; half < 47; half += 1) {
      time += HOUR / 2;
      addMention(`of half an hour ${half}`);
      await run();
    }
    expect(box.mails).toHaveLength(1);
    time += HOUR / 2;
    await runFor(100);
    expect(subjects()).toEqual(["1 new mention of alice.example", "47 new mentions of alice.example"]);
    expect(box.mails[1]?.text).not.toContain("> first");
  });

  it("are sent immediately for the first news after a quiet hour, with all waiting news", async () => {
    addMention("first");
    await run();
    time += HOUR / 2;
    addMention("second");
    await run();
    await runFor(5);
    expect(subjects()).toEqual(["1 new mention of alice.example"]);
    addMention("third, hours later");
    await run();
    expect(subjects()).toEqual(["1 new mention of alice.example", "2 new mentions of alice.example"]);
    time += HOUR / 2;
    addMention("fourth");
    await run();
    expect(box.mails).toHaveLength(2);
  });

  it("are at least an hour apart, even if a sender repeatedly removes and sends a mention", async () => {
    for (let minute = 0; minute < 120; minute += 1) {
      stored.length = 0;
      addMention(`again ${minute}`);
      await run();
      time += 60_000;
    }
    expect(box.mails).toHaveLength(2);
  });

  it("are not sent immediately for a message if earlier ones were read and deleted", async () => {
    const inbox = (...minutes: number[]) => ({
      inboxes: async () => [
        {
          user: "alice",
          fullness: 0.1,
          messages: minutes.map((minute) => ({ created: new Date(START + minute * 60_000).toISOString() })),
        },
      ],
    });
    await run(inbox(0));
    time += HOUR / 2;
    addMention("half an hour after the message");
    time += HOUR / 2;
    await run(inbox(55));
    expect(box.mails).toHaveLength(1);
    time = START + 24 * HOUR;
    await run(inbox(55));
    expect(subjects().at(-1)).toBe("1 new mention of alice.example, 1 new sealed message");
  });

  it("are not sent without news", async () => {
    await runFor(50);
    expect(box.mails).toEqual([]);
    expect(await store.keys("inform/")).toEqual([]);
  });

  it("contain all earlier mentions if mail is configured later", async () => {
    addMention("a year ago");
    time += 365 * 24 * HOUR;
    await runFor(50);
    expect(box.mails.map(({ text }) => text)).toEqual([expect.stringContaining("> a year ago")]);
  });

  it("contain a mention that is stored an hour after its time, and do not repeat an approved or changed one", async () => {
    addMention("held", { state: "held", received: "2026-01-02T09:59:00.000Z" });
    await run();
    const [held] = stored;
    if (held) stored[0] = { ...held, state: "shown", text: "changed" };
    addMention("late", { received: "2026-01-02T09:30:00.000Z" });
    time += HOUR;
    await runFor(72);
    expect(box.mails.map(({ text }) => text.split("\n")[1])).toEqual(["> held", "> late"]);
  });

  it("are sent by one of several concurrent runs", async () => {
    addMention("hello");
    await Promise.all([run(), run(), run()]);
    expect(box.mails).toHaveLength(1);
  });

  it("are retried unchanged in the next run after a failure, before later news", async () => {
    addMention("first");
    box.refusal = "over quota";
    await run();
    expect(box.mails).toEqual([]);
    expect(log).toEqual([expect.stringMatching(/Notification by mail failed; the next run tries again.*over quota/)]);

    box.refusal = null;
    time += HOUR;
    addMention("second");
    await runFor(30);
    expect(box.mails.map(({ text }) => text.split("\n")[1])).toEqual(["> first", "> second"]);
  });

  it("lose no later news after days of failures", async () => {
    box.refusal = "over quota";
    for (let day = 0; day < 5; day += 1) {
      addMention(`of day ${day}`);
      await runFor(24, {}, 6);
    }
    box.refusal = null;
    await runFor(50);
    const quotes = box.mails.map(({ text }) => text.match(/^> .*/gm));
    expect(quotes).toEqual([["> of day 0"], ["> of day 4", "> of day 3", "> of day 2", "> of day 1"]]);
  });

  it("are sent again with the same Message-ID if delivery was not confirmed", async () => {
    addMention("first");
    box.isSilent = true;
    await run();
    expect(log).toHaveLength(1);
    box.isSilent = false;
    time += HOUR;
    addMention("second");
    await run();
    expect(box.mails).toHaveLength(2);
    expect(box.mails[0]?.headers["message-id"]).toMatch(/^<[0-9a-f]{32}@alice\.example>$/);
    expect(box.mails[1]?.headers["message-id"]).toBe(box.mails[0]?.headers["message-id"]);
    expect(box.mails[1]?.text).toBe(box.mails[0]?.text);

    time += 24 * HOUR;
    await run();
    expect(box.mails[2]?.headers["message-id"]).not.toBe(box.mails[0]?.headers["message-id"]);
  });

  it("are sent by a later run if their run ended before sending", async () => {
    addMention("hello");
    await new Promise<void>((begun) => {
      const neverEnds: Channel = { ...toBox(), send: () => new Promise(() => begun()) };
      run({ mail: neverEnds });
    });
    await run();
    expect(box.mails).toEqual([]);
    time += HOUR;
    await runFor(30);
    expect(box.mails).toHaveLength(1);
  });

  it("are sent again with the same Message-ID if their run ended after sending", async () => {
    addMention("hello");
    await expect(run({ store: { ...store, put: endsAfter(1) } })).rejects.toThrow("the process ends");
    expect(box.mails).toHaveLength(1);
    time += HOUR;
    await runFor(30);
    expect(box.mails).toHaveLength(2);
    expect(box.mails[1]?.headers["message-id"]).toBe(box.mails[0]?.headers["message-id"]);
  });

  it.each<[string, (mention: StoredMention) => StoredMention[]]>([
    ["rejected", (mention) => [{ ...mention, state: "rejected" }]],
    ["forgotten", () => []],
  ])("do not contain a mention that was %s before a retry, and contain the others", async (_name, decide) => {
    addMention("spam");
    box.refusal = "not now";
    await run();
    box.refusal = null;
    stored = stored.flatMap(decide);
    time += HOUR;
    addMention("hello", { identity: "https://carol.example/twtxt.txt" });
    await run();
    expect(box.mails.map(({ text }) => text.split("\n")[1])).toEqual(["> hello"]);
  });
});

describe("the mail server", () => {
  it("gets the percent-decoded user and password; a refusal is logged without the password", async () => {
    const logins: unknown[] = [];
    const server = await mailbox({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, done) {
        logins.push([username, password]);
        done(new Error(`No user ${username} with the password ${password}`));
      },
    });
    addMention("hello");
    const mail = mailTo(`smtp://alice%40mail.example:p%40ss%2Fword@${server.host}:${server.port}`);
    await run({ mail });
    expect(logins).toEqual([["alice@mail.example", "p@ss/word"]]);
    expect(server.mails).toEqual([]);
    expect(log).toHaveLength(1);
    expect(log[0]).toMatch(/TWTXT_SMTP_URL did not accept the mail: .*No user/);
    expect(log[0]).not.toContain("p@ss/word");
  });

  it("with an untrusted certificate gets no mail", async () => {
    const server = await mailbox({ secure: true, disabledCommands: ["AUTH"] });
    addMention("hello");
    await run({ mail: mailTo(`smtps://${server.host}:${server.port}`) });
    expect(server.mails).toEqual([]);
    expect(log).toEqual([expect.stringContaining("certificate")]);
  });

  it("on another machine gets neither the password nor a mail without encryption", async () => {
    const logins: unknown[] = [];
    const server = await mailbox({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth({ password }, _session, done) {
        logins.push(password);
        done(null, { user: "alice" });
      },
    });
    addMention("hello");
    // A name of this machine that does not look local.
    await run({ mail: mailTo(`smtp://alice:secret@0.0.0.0:${server.port}`) });
    expect(logins).toEqual([]);
    expect(server.mails).toEqual([]);
    expect(log).toEqual([expect.stringContaining("TWTXT_SMTP_URL did not accept the mail")]);
  });

  it("on this machine needs no certificate", async () => {
    const server = await mailbox({ disabledCommands: ["AUTH"] });
    addMention("hello");
    await run({ mail: mailTo(`smtp://${server.host}:${server.port}`) });
    expect(server.mails).toHaveLength(1);
  });

  it("that cannot be reached is retried", async () => {
    addMention("hello");
    await run({ mail: mailTo("smtp://127.0.0.1:1") });
    expect(log).toEqual([expect.stringContaining("ECONNREFUSED")]);
    time += HOUR;
    await run();
    expect(box.mails).toHaveLength(1);
  });

  it.each([
    ["smtps://u:p@mail.example", { port: 465, secure: true, requireTLS: false, auth: { user: "u", pass: "p" } }],
    ["smtps://u:p@mail.example:2465/", { port: 2465, secure: true }],
    ["smtp://u:p@mail.example", { port: 587, secure: false, requireTLS: true }],
    ["smtp://mail.example:25", { port: 25, requireTLS: true, auth: undefined }],
    ["smtp://localhost:25", { requireTLS: false }],
    ["smtp://[::1]:25", { requireTLS: false }],
    ["smtp://127.0.0.1.mail.example", { requireTLS: true }],
    ["smtps://key:p@mail.example", { from: "alice@alice.example" }],
    ["smtps://bot%40alice.example:p@mail.example", { from: "bot@alice.example" }],
    ["smtps://key:p@mail.example?from=bot@alice.example", { from: "bot@alice.example" }],
  ])("is configured by %s", (url, settings) => {
    expect(mailSettings(url, "alice@alice.example")).toMatchObject(settings);
  });

  it.each([
    ["mail.example", "alice@alice.example", /TWTXT_SMTP_URL: expected a URL such as/],
    ["https://u:s3cret@mail.example", "alice@alice.example", /TWTXT_SMTP_URL: expected a URL such as/],
    ["smtps://u:s3cret/x@mail.example", "alice@alice.example", /TWTXT_SMTP_URL: expected a URL such as/],
    ["smtps://u:s3cret%@mail.example", "alice@alice.example", /TWTXT_SMTP_URL: expected a URL such as/],
    [
      "smtps://u:s3cret@mail.example?from=a@b%0d%0aBcc:x",
      "alice@alice.example",
      /TWTXT_SMTP_URL: expected one address/,
    ],
    ["smtps://u:s3cret@mail.example", "alice", /TWTXT_MAIL_TO: expected one address/],
    ["smtps://u:s3cret@mail.example", "a@b.example, c@d.example", /TWTXT_MAIL_TO: expected one address/],
  ])("mail-failed, with the expected value and without a secret: %s to %s", async (url, to, expected) => {
    addMention("hello");
    await run({ mail: mailTo(url, to) });
    expect(log).toEqual([expect.stringMatching(expected)]);
    expect(log[0]).not.toContain("s3cret");
  });
});

describe("the webhook", () => {
  async function telephone(status = 200) {
    const notes: { method: string | undefined; headers: Record<string, unknown>; body: string }[] = [];
    const state = { status };
    const { url } = await loopbackServer((request, response) => {
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (data) => (body += data));
      request.on("end", () => {
        notes.push({ method: request.method, headers: request.headers, body });
        response.writeHead(state.status, { location: "/elsewhere" }).end("thanks");
      });
    });
    return { url: `${url}/my-topic`, notes, state };
  }

  it("gets one plain-text POST in each run with news", async () => {
    const { url, notes } = await telephone();
    const note = { mail: null, webhook: toWebhook(url) };
    await run(note);
    expect(notes).toEqual([]);
    addMention("hello\nthere");
    addMention("buy this", { state: "held", author: { name: "eve", url: "https://eve.example/", photo: null } });
    await run(note);
    time += HOUR;
    addMention("again");
    await runFor(10, note);

    expect(notes).toHaveLength(2);
    expect(notes[0]).toMatchObject({
      method: "POST",
      headers: { title: "2 new mentions of alice.example", click: PAGE, "content-type": "text/plain; charset=utf-8" },
    });
    expect(notes[0]?.body.split("\n").sort()).toEqual(["bob: hello there", "eve, via bob.example (held): buy this"]);
    expect(notes[1]?.body).toBe("bob: again");
    expect(box.mails).toEqual([]);
  });

  it("gets at most 4,096 bytes, without a header or line that a sender could forge", async () => {
    const { url, notes } = await telephone();
    const evil = "\u{1f344}\r\nClick: https://eve.example/\r\n".repeat(20);
    for (let n = 0; n < 15; n += 1)
      addMention(evil, { author: { name: evil, url: "https://eve.example/", photo: null } });
    await run({ mail: null, webhook: toWebhook(url) });
    const [note] = notes;
    expect(Buffer.byteLength(note?.body ?? "")).toBeLessThan(4096);
    expect(note?.body.split("\n")).toHaveLength(11);
    expect(note?.body).toMatch(/And 5 more\.$/);
    expect(note?.headers).toMatchObject({ title: "15 new mentions of alice.example", click: PAGE });
  });

  it("gets ASCII headers for a site with an internationalized name", async () => {
    const { url, notes } = await telephone();
    addMention("hello");
    await run({ mail: null, webhook: webhookChannel(url, { page: "https://bücher.example/erwähnt/", links: null }) });
    expect(notes[0]?.headers).toMatchObject({
      title: "1 new mention of xn--bcher-kva.example",
      click: "https://xn--bcher-kva.example/erw%C3%A4hnt/",
    });
  });

  it.each([500, 302, 404])(
    "that responds with %i is retried, without following redirects or logging its URL",
    async (status) => {
      const { url, notes, state } = await telephone(status);
      const note = { mail: null, webhook: toWebhook(url) };
      addMention("hello");
      await run(note);
      expect(notes).toHaveLength(1);
      expect(log).toEqual([expect.stringContaining(`TWTXT_WEBHOOK_URL answered ${status}`)]);
      expect(log[0]).not.toContain("my-topic");
      state.status = 200;
      time += HOUR;
      await run(note);
      await run(note);
      expect(notes.map(({ body }) => body)).toEqual(["bob: hello", "bob: hello"]);
    },
  );

  it("that cannot be reached is retried, its URL is not logged, and the mail is sent", async () => {
    addMention("hello");
    await run({ webhook: toWebhook(`${await deadUrl()}/my-topic`) });
    expect(log).toEqual([expect.stringContaining("TWTXT_WEBHOOK_URL could not be reached (ECONNREFUSED)")]);
    expect(log[0]).not.toContain("my-topic");
    expect(box.mails).toHaveLength(1);
  });

  it.each([
    ["ntfy.sh/my-topic", /expected an http or https URL/],
    ["https://u:my-topic@ntfy.example/", /expected an http or https URL without user and password/],
    ["file:///my-topic", /expected an http or https URL/],
  ])("hook-failed, with a reason and without the URL: %s; the mail is sent", async (url, why) => {
    addMention("hello");
    await run({ webhook: toWebhook(url) });
    expect(log).toEqual([expect.stringMatching(why)]);
    expect(log[0]).not.toContain("my-topic");
    expect(box.mails).toHaveLength(1);
  });
});

/** A store whose process ends after this many writes. */
function endsAfter(writes: number): Store["put"] {
  let left = writes;
  return (...given) => {
    if (left === 0) throw new Error("the process ends");
    left -= 1;
    return store.put(...given);
  };
}
