import { describe, expect, it } from "vitest";
import { openReaders } from "../../../plugin/host/answers.js";
import { signRequest } from "../../../plugin/http/sign-request.js";
import { READERS } from "../../../plugin/mentions/answers/readers.js";
import { chooseAnswerWords } from "../../../plugin/options/answer-translations.js";
import type { AnswerWords } from "../../../plugin/options/answer-words.js";
import { ALICE, COMMENTS, comment, commentRequest, DANA, decide, EVE, managed, own } from "../../helpers/commenter.js";
import { HOSTILE_TEXTS } from "../../helpers/hostile-texts.js";
import { type Mailbox, mailbox, type ReceivedMail } from "../../helpers/mailbox.js";
import { PAGE, PAGES, type Receiver, type ReceiverOptions, receiver, TWT } from "../../helpers/receiver.js";
import { sealed } from "../../messages/inbox/alices-inbox.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ADDRESS = "dana@dana.example";
const ANSWERS = "https://alice.example/answers";
const INBOX = {
  users: ["alice"],
  messages: 10,
  megabytes: 1,
  retentionDays: 0,
  subscribe: null,
  guests: { messages: 10, days: 90, mail: true },
  contactPage: "https://alice.example/contact/",
};

interface Site extends Receiver {
  box: Mailbox;
  /** Runs the jobs, after so many milliseconds. */
  run(later?: number): Promise<void>;
  stored(): Promise<Record<string, { address: string; isConfirmed: boolean; threads: Record<string, object> }>>;
}

async function site({ mentions = {}, environment, ...others }: ReceiverOptions = {}, box?: Mailbox): Promise<Site> {
  const server = box ?? (await mailbox());
  const alice = receiver({
    key: ALICE.publicKey,
    mentions: { comments: { mail: true, trust: 0 }, ...mentions },
    environment: environment ?? { TWTXT_SMTP_URL: `smtp://${server.host}:${server.port}?from=blog@alice.example` },
    ...others,
  });
  return {
    ...alice,
    box: server,
    async run(later = 0) {
      alice.clock.time += later;
      await alice.services.runScheduled();
      await alice.settled();
    },
    async stored() {
      const value = await alice.store.get(READERS);
      return value ? JSON.parse(Buffer.from(value.bytes).toString()) : {};
    },
  };
}

/** Comments with an address, and waits for the mail. */
async function commentWithMail(alice: Site, text = "What a harvest!", mail = ADDRESS, sent = {}) {
  const answer = await comment(alice, { text, name: "Dana", mail }, sent);
  await alice.settled();
  return answer;
}

function linkOf({ text }: ReceivedMail): string {
  const links = text.match(/https:\/\/alice\.example\/answers\/\S+/g) ?? [];
  expect(links).toHaveLength(1);
  return links[0] ?? "";
}

async function open(alice: Site, link: string, form?: Record<string, string>) {
  const body = form && new URLSearchParams(form).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const response = await alice.answer(new Request(link, body === undefined ? {} : { method: "POST", headers, body }));
  return { status: response.status, html: await response.text(), headers: response.headers };
}

/** A shown comment of Dana's, with a confirmed address. */
async function confirmed(alice: Site): Promise<{ id: string; hash: string; link: string }> {
  const { json } = await commentWithMail(alice);
  const link = linkOf(alice.box.mails[0] as ReceivedMail);
  await open(alice, link, { do: "confirm" });
  await decide(alice, json.id, "shown");
  const [shown] = await own(alice);
  alice.box.mails.length = 0;
  return { id: json.id ?? "", hash: String(shown?.hash), link };
}

async function answer(alice: Site, hash: string, text: string, name = "Eve") {
  const { json } = await comment(alice, { text, name, "reply-to": hash }, { signer: EVE });
  await decide(alice, json.id, "shown");
}

/** A request of a guest to the endpoint of answers. */
async function ask(alice: Site, method: "GET" | "POST" | "DELETE", mail?: string, signer = DANA) {
  const response = await alice.answer(
    commentRequest(alice, mail === undefined ? null : { mail }, { method, url: ANSWERS, signer })(),
  );
  await alice.settled();
  return { status: response.status, json: Object(await response.json()) };
}

describe("an address of a reader", () => {
  it("gets one mail with one link, and no other until the button behind it is pressed", async () => {
    const alice = await site();
    const { status, json } = await commentWithMail(alice);
    expect([status, json.mail]).toEqual([202, "waiting"]);
    expect(alice.box.mails).toHaveLength(1);
    const [mail] = alice.box.mails as [ReceivedMail];
    expect([mail.from, mail.to]).toEqual(["blog@alice.example", [ADDRESS]]);
    expect(mail.headers.subject).toBe("Confirm: answers from alice.example by mail");
    const link = linkOf(mail);

    await decide(alice, json.id, "shown");
    await answer(alice, String((await own(alice))[0]?.hash), "Indeed!");
    for (let i = 0; i < 3; i += 1) expect((await open(alice, link)).html).toContain('value="confirm"');
    await alice.run(2 * HOUR);
    expect(alice.box.mails).toHaveLength(1);

    expect((await open(alice, link, { do: "confirm" })).status).toBe(303);
    expect((await open(alice, link)).html).toContain("dana@dana.example is told when there is an answer");
    expect((await own(alice)).length).toBe(1);
    await alice.run();
    expect(alice.box.mails).toHaveLength(2);
  });

  it("is told the author, text and link of an answer, of the site's author too, and of each once", async () => {
    const page = "https://alice.example/notes/thanks/";
    const alice = await site();
    const { hash } = await confirmed(alice);
    const reply = {
      ...TWT,
      timestamp: "2026-11-20T09:30:00Z",
      hashes: ["zzzzzzz", "zzzzzzzzzzzz"],
      page,
      replyTo: hash,
    };
    const after = await site(
      {
        store: alice.store,
        pages: { ...PAGES, pages: [...PAGES.pages, page], twts: [TWT, reply], titles: { [page]: "Thanks, Dana" } },
      },
      alice.box,
    );
    await answer(after, hash, "Indeed!\nWhat a harvest.");
    await comment(after, { text: "My own second thought", "reply-to": hash });
    await after.run();
    const text = after.box.mails[0]?.text ?? "";
    expect(text).toContain(
      `Answers to your comment on ${PAGE}:\n\nEve\n> Indeed!\n> What a harvest.\n${PAGE}\n\nalice\n> Thanks, Dana\n${page}\n\n`,
    );
    expect(text).not.toContain("second thought");
    await after.run(3 * HOUR);
    expect(after.box.mails).toHaveLength(1);
  });

  it("gets at most one mail for a post in an hour", async () => {
    const alice = await site();
    const { hash } = await confirmed(alice);
    await answer(alice, hash, "One");
    await alice.run();
    await answer(alice, hash, "Two");
    await alice.run(59 * MINUTE);
    expect(alice.box.mails).toHaveLength(1);
    await answer(alice, hash, "Three");
    await alice.run(MINUTE);
    expect(alice.box.mails).toHaveLength(2);
    expect(alice.box.mails[1]?.headers.subject).toBe("New answers to you at alice.example: 2");
    expect(alice.box.mails[1]?.text).toMatch(/> Two[\s\S]*> Three/);
    expect(alice.box.mails[1]?.text).not.toContain("> One");
  });

  it("can end it with one click in the mail program, by the link, and by the key", async () => {
    const alice = await site();
    const { link, hash } = await confirmed(alice);
    await answer(alice, hash, "One");
    await alice.run();
    const { headers } = alice.box.mails[0] as ReceivedMail;
    expect(headers["list-unsubscribe"]).toBe(`<${link}>`);
    expect(headers["list-unsubscribe-post"]).toBe("List-Unsubscribe=One-Click");
    expect(headers["auto-submitted"]).toBe("auto-generated");
    for (let i = 0; i < 2; i += 1) {
      expect(await open(alice, link, { "List-Unsubscribe": "One-Click" })).toMatchObject({ status: 204, html: "" });
      expect(await alice.stored()).toEqual({});
    }
    expect((await open(alice, link)).status).toBe(410);

    const other = await site();
    const { link: second } = await confirmed(other);
    expect(await open(other, second, { do: "stop" })).toMatchObject({ status: 200 });
    expect(await other.stored()).toEqual({});
    const third = await site();
    await confirmed(third);
    expect(await ask(third, "DELETE")).toEqual({ status: 200, json: { mail: null } });
    expect(await third.stored()).toEqual({});
  });

  it("is confirmed and ended by its own link only, on a page that no other site and no search engine sees", async () => {
    const alice = await site();
    await commentWithMail(alice);
    const link = linkOf(alice.box.mails[0] as ReceivedMail);
    const forged = link.replace(/k=.*/, `k=${"A".repeat(24)}`);
    expect((await open(alice, forged, { do: "confirm" })).status).toBe(410);
    expect((await open(alice, forged, { "List-Unsubscribe": "One-Click" })).status).toBe(204);
    expect(Object.values(await alice.stored())).toMatchObject([{ isConfirmed: false }]);
    const { headers } = await open(alice, link);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("private, no-store");
    expect(headers.get("x-robots-tag")).toBe("noindex");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect((await open(alice, link, { do: "else" })).status).toBe(400);
  });

  it("is confirmed and ended on pages that name the language of their words", async () => {
    const alice = await site({ lang: "de-AT" });
    await commentWithMail(alice);
    const link = linkOf(alice.box.mails[0] as ReceivedMail);
    for (const { html } of [await open(alice, link), await open(alice, link, { do: "stop" })]) {
      expect(html).toMatch(/<html lang="de-AT">[\s\S]*<h1>.*(?:Antworten|verschickt)/);
    }
  });

  it("stays as it is when a stranger opens the link of a name that every object has", async () => {
    const alice = await site();
    const { link } = await confirmed(alice);
    const before = await alice.stored();
    for (const name of ["toString", "constructor", "__proto__"]) {
      for (const form of [undefined, { do: "confirm" }, { do: "stop" }]) {
        expect((await open(alice, `${ANSWERS}/${name}?k=`, form)).status).toBe(410);
      }
    }
    expect(await alice.stored()).toEqual(before);
    expect((await open(alice, link)).status).toBe(200);
  });

  it("of an unsigned form is told, too, and an invalid one is refused before the comment is stored", async () => {
    const alice = await site();
    expect((await commentWithMail(alice, "By hand", ADDRESS, { isForm: true })).status).toBe(303);
    expect(alice.box.mails).toHaveLength(1);
    for (const mail of [
      "dana",
      "a@b\r\nBcc: eve@eve.example",
      "a@b,eve@eve.example",
      '"x"@a.example',
      `${"a".repeat(250)}@b.example`,
      "a@b\u0000",
    ]) {
      expect((await commentWithMail(alice, "Hello", mail)).status).toBe(400);
    }
    const { text } = await commentWithMail(alice, "Hello", "dana", { isForm: true });
    expect(text).toContain('name="mail" type="email"');
    expect(await managed(alice, "held")).toHaveLength(1);
  });

  it("is nowhere to be seen: not in lists, feeds, the log, nor another guest's list", async () => {
    const alice = await site();
    const { id } = await confirmed(alice);
    await alice.run();
    const urls = [
      "https://alice.example/mentions.json",
      "https://alice.example/mentions.atom",
      `https://alice.example/guests/${DANA.publicKey}.txt`,
    ];
    const texts = await Promise.all(urls.map(async (url) => (await alice.answer(new Request(url))).text()));
    const lists = await Promise.all(
      [DANA, EVE].map((signer) =>
        comment(alice, null, { method: "GET", url: `${COMMENTS}?guest=${signer.publicKey}`, signer }),
      ),
    );
    const all = JSON.stringify([texts, lists.map(({ text }) => text), alice.log, await managed(alice, "shown")]);
    expect(all).toContain(id);
    expect(all).not.toContain("dana@");
    expect(lists.map(({ json }) => json.mail)).toEqual(["on", undefined]);
  });
});

describe("an address is deleted", () => {
  it("two days later if it was not confirmed, and after a year without use", async () => {
    const alice = await site();
    await commentWithMail(alice);
    await alice.run();
    await alice.run(DAY);
    await alice.run(DAY);
    expect(Object.keys(await alice.stored())).toHaveLength(1);
    await alice.run(HOUR);
    expect(await alice.stored()).toEqual({});

    const other = await site();
    await confirmed(other);
    const { readers } = openReaders({ store: other.store, now: () => other.clock.time });
    // The clock has not jumped: the jobs have run each hour.
    const runAfter = async (time: number) => {
      other.clock.time += time;
      await readers.prune(() => true, 0);
    };
    await runAfter(365 * DAY);
    expect(Object.keys(await other.stored())).toHaveLength(1);
    await runAfter(HOUR);
    expect(await other.stored()).toEqual({});
  });

  it("with the reader's last comment: by the reader at once, by the author with the next run", async () => {
    const alice = await site();
    const { id } = await confirmed(alice);
    const second = await commentWithMail(alice, "Second");
    expect(alice.box.mails).toHaveLength(0);
    await comment(alice, null, { method: "DELETE", url: `${COMMENTS}/${id}` });
    expect(Object.keys(await alice.stored())).toHaveLength(1);
    await comment(alice, null, { method: "DELETE", url: `${COMMENTS}/${second.json.id}` });
    expect(await alice.stored()).toEqual({});

    const other = await site();
    const { json } = await commentWithMail(other);
    await decide(other, json.id, "rejected");
    await other.run();
    expect(await other.stored()).toEqual({});
  });
});

describe("the mails that strangers can cause", () => {
  it("are one to an address in a day, with the same answer to the second reader", async () => {
    const alice = await site();
    const first = await commentWithMail(alice, "One");
    for (const [i, mail] of [ADDRESS, "DANA@dana.example", "dana+blog@dana.example"].entries()) {
      const again = await commentWithMail(alice, `Again ${i}`, mail, { signer: EVE });
      expect([again.status, again.json.mail]).toEqual([first.status, first.json.mail]);
      expect((await ask(alice, "GET", undefined, EVE)).json).toEqual({ mail: "waiting" });
    }
    expect(alice.box.mails).toHaveLength(1);
    await alice.run(DAY);
    await commentWithMail(alice, "Tomorrow", ADDRESS);
    expect(alice.box.mails).toHaveLength(2);
  });

  it("are ten in a day by one network address, and a hundred by all", async () => {
    const alice = await site({ mentions: { comments: { mail: true, perDay: 10_000 } } });
    for (let i = 0; i < 12; i += 1) {
      const { status, json } = await comment(alice, { text: `${i}`, mail: `r${i}@x.example` }, { signer: null });
      expect([status, json.mail]).toEqual([202, "waiting"]);
    }
    await alice.settled();
    expect(alice.box.mails).toHaveLength(10);
    const { readers } = openReaders({ store: alice.store, now: () => alice.clock.time });
    for (let i = 0; i < 100; i += 1) {
      const wish = { guest: `anon-${i}`, address: `s${i}@x.example`, thread: PAGE, comment: "1" };
      await readers.add(wish, { network: `198.51.100.${i % 20}`, spend: async () => {} });
    }
    expect(await readers.listDue()).toHaveLength(90);
  });

  it("go to a thousand stored addresses at most", async () => {
    const alice = await site();
    await commentWithMail(alice);
    const [reader] = Object.values(await alice.stored());
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`anon-${i}`, reader]));
    await alice.store.put(READERS, Buffer.from(JSON.stringify(many)));
    const { status, json } = await commentWithMail(alice, "Full", "eve@eve.example", { signer: EVE });
    expect([status, json.mail]).toEqual([202, "waiting"]);
    expect(Object.keys(await alice.stored())).toHaveLength(1000);
  });

  it("have no hostile text in headers, and quote each line of it", async () => {
    const alice = await site({ mentions: { comments: { mail: true, perDay: 10_000 } } });
    const { hash } = await confirmed(alice);
    for (const text of HOSTILE_TEXTS.slice(0, 15)) {
      const { json } = await comment(alice, { text, name: text.slice(0, 60), "reply-to": hash }, { signer: EVE });
      if (json.state === "held") await decide(alice, json.id, "shown");
    }
    await alice.run();
    const [mail] = alice.box.mails as [ReceivedMail];
    expect(mail.headers.subject).toMatch(/^New answers to you at alice\.example: \d+$/);
    expect(mail.headerNames.toSorted()).toEqual(
      expect.arrayContaining(["auto-submitted", "from", "list-unsubscribe", "list-unsubscribe-post", "subject", "to"]),
    );
    const lines = mail.text.split("\n").filter((line) => line.startsWith("https://"));
    expect(lines.every((line) => line === PAGE || line.startsWith(ANSWERS))).toBe(true);
  });
});

describe("a mail to a reader", () => {
  it("is sent once by two processes", async () => {
    const alice = await site();
    const { hash } = await confirmed(alice);
    await answer(alice, hash, "One");
    const other = await site({ store: alice.store }, alice.box);
    await Promise.all([alice.run(), other.run(), alice.run(), other.run()]);
    expect(alice.box.mails).toHaveLength(1);
  });

  it("that the server refuses is sent again after ten minutes, and the log does not name the address", async () => {
    const alice = await site();
    alice.box.refusal = `no such user ${ADDRESS}`;
    await commentWithMail(alice);
    expect(alice.log.join("\n")).toContain("A mail to a reader failed");
    expect(alice.log.join("\n")).not.toContain(ADDRESS);
    alice.box.refusal = null;
    await alice.run(9 * MINUTE);
    expect(alice.box.mails).toHaveLength(0);
    await alice.run(2 * MINUTE);
    expect(alice.box.mails).toHaveLength(1);
  });

  it.each(["de", "fr", "es", "it", "nl", "ja", "zh"])("in %s has the same places as in English", (lang) => {
    const placesOf = (words: AnswerWords) =>
      Object.entries(words).map(([name, text]) => [name, [...text.matchAll(/\{\w+\}/g)].map(String).sort()]);
    expect(chooseAnswerWords(lang)).not.toEqual(chooseAnswerWords("en"));
    expect(Object.fromEntries(placesOf(chooseAnswerWords(lang)))).toEqual(
      Object.fromEntries(placesOf(chooseAnswerWords("en"))),
    );
  });

  it("is off by default: the address is not stored, and there is no endpoint", async () => {
    const alice = await site({ mentions: { comments: true } });
    const { status, json } = await commentWithMail(alice);
    expect([status, json.mail, await alice.stored()]).toEqual([202, undefined, {}]);
    expect((await alice.answer(new Request(ANSWERS))).status).toBe(404);
  });
});

describe("a guest's address for private messages", () => {
  /** Alice writes to Dana. */
  async function deliver(alice: Site, number: number) {
    const body = sealed(number);
    const url = `https://alice.example/inbox/${DANA.publicKey}`;
    const headers = signRequest({ method: "POST", url, headers: {}, body: Buffer.from(body) }, ALICE, alice.clock.time);
    const response = await alice.answer(new Request(url, { method: "POST", headers, body }));
    expect(response.status).toBe(202);
    await alice.settled();
  }

  it("is told that an answer waits, and nothing of it, at most once an hour", async () => {
    const alice = await site({ inbox: INBOX, mentions: { comments: false } });
    expect(await ask(alice, "POST", ADDRESS)).toEqual({ status: 202, json: { mail: "waiting" } });
    await deliver(alice, 1);
    await alice.run();
    expect(alice.box.mails).toHaveLength(1);
    await open(alice, linkOf(alice.box.mails[0] as ReceivedMail), { do: "confirm" });
    expect((await ask(alice, "GET")).json).toEqual({ mail: "on" });
    await alice.run();
    expect(alice.box.mails).toHaveLength(2);
    const { headers, text } = alice.box.mails[1] as ReceivedMail;
    expect(headers.subject).toBe("A private answer waits for you at alice.example");
    expect(text).toMatch(
      /^To read it, open this page in the browser in which you wrote:\n\nhttps:\/\/alice\.example\/contact\/\n\n/,
    );
    await deliver(alice, 2);
    await alice.run(30 * MINUTE);
    expect(alice.box.mails).toHaveLength(2);
    await alice.run(30 * MINUTE);
    expect(alice.box.mails).toHaveLength(3);
    await alice.run(2 * HOUR);
    expect(alice.box.mails).toHaveLength(3);
  });

  it("needs the guest's signature, which counts once", async () => {
    const alice = await site({ inbox: INBOX });
    const unsigned = new Request(ANSWERS, { method: "POST", body: JSON.stringify({ mail: ADDRESS }) });
    expect((await alice.answer(unsigned)).status).toBe(401);
    const request = commentRequest(alice, { mail: ADDRESS }, { url: ANSWERS });
    expect((await alice.answer(request())).status).toBe(202);
    expect((await alice.answer(request())).status).toBe(401);
    expect((await ask(alice, "POST", "no address")).status).toBe(400);
    await alice.settled();
  });
});
