import { join } from "node:path";
import { expect, it } from "vitest";
import { messagesRoom } from "../../plugin/client/messages/messages-room.js";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { parseKey } from "../../plugin/keys/key.js";
import { nameEvent } from "../../plugin/messages/guest-name.js";
import { formatMessage } from "../../plugin/messages/plaintext.js";
import { seal } from "../../plugin/messages/sealing.js";
import { EntryRecord } from "../../plugin/messages/send/outbox-entry.js";
import { update } from "../../plugin/store/json.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { type Correspondent, correspondents } from "../cli/correspondent.js";
import { describeWithoutKeychain } from "../cli/machine.js";
import { eventually } from "../helpers/eventually.js";
import { clientOfPerson } from "./client.js";
import { textsIn } from "./files-below.js";
import { shownText, type Visitor, visitorOf } from "./visitor.js";

const clientOf = (person: Correspondent) => clientOfPerson(person, [messagesRoom]);

/** Delivers a message as the contact page does. */
async function writeAsGuest(to: Correspondent, seed: number, { text, name }: { text: string; name: string | null }) {
  const sender = toSecretKey(new Uint8Array(32).fill(seed));
  const from = to.guest(seed).address;
  const event = name === null ? null : nameEvent(name);
  const plain = formatMessage({ time: "2026-11-20T09:00:00Z", from, text, events: event ? [event] : [] });
  const body = seal(new TextEncoder().encode(plain), { sender, recipients: [parseKey(to.kex)] });
  const headers = { "content-type": "application/octet-stream" };
  expect((await fetch(to.endpoint, { method: "POST", body, headers })).status).toBe(202);
}

/** Advances the time, so that the next attempts are due. */
async function makeDue({ machine, address }: Correspondent): Promise<void> {
  const store = new SqliteStore(join(machine.folder, "data/eleventy-twtxt/messages", address.replaceAll(":", "+")));
  for (const key of await store.keys("outbox/")) {
    await update(store, key, EntryRecord, (entry) => {
      return entry && { ...entry, recipients: entry.recipients.map((one) => ({ ...one, next: 0 })) };
    });
  }
}

async function visitorAt(person: Correspondent): Promise<Visitor> {
  return visitorOf(await clientOf(person), "/messages");
}

function conversation({ address }: Pick<Correspondent, "address">): string {
  return `/messages/with/${encodeURIComponent(address)}`;
}

describeWithoutKeychain("the room of messages", () => {
  it("shows conversations, unread ones first, and remembers which the author has seen", async () => {
    const { alice, bob, carol } = await correspondents(["alice", "bob", "carol"]);
    await bob.message("send", alice.address, "From bob.");
    await carol.message("send", alice.address, "From carol.");
    const visitor = await visitorAt(alice);

    const list = shownText((await visitor.get("/messages")).text);
    expect(list).toMatch(
      new RegExp(`${carol.address} verified 1 unread .*From carol\\. .*${bob.address} .*From bob\\.`),
    );
    const page = shownText((await visitor.get(conversation(carol))).text);
    expect(page).toContain(`Verified: signed with the key of ${carol.address}, which its site publishes.`);
    expect(page).toContain("From carol.");

    const later = shownText((await visitor.get("/messages")).text);
    expect(later).toMatch(new RegExp(`${bob.address} verified 1 unread.*${carol.address} verified (?!1 unread)`));
    const anotherClient = await visitorAt(alice);
    const shown = shownText((await anotherClient.get("/messages")).text);
    expect(shown.match(/verified 1 unread/g)).toHaveLength(1);
    expect(shown).toContain("Messages 1 unread");
  });

  it("shows the newest messages of a long conversation first", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"], { inbox: { messages: 10_000 } });
    const sender = toSecretKey(new Uint8Array(32).fill(2));
    for (let minute = 0; minute < 105; minute += 1) {
      const time = new Date(Date.UTC(2026, 10, 1, 0, minute)).toISOString().replace(".000", "");
      const text = new TextEncoder().encode(formatMessage({ time, from: bob.address, text: `Message ${minute}.` }));
      const body = seal(text, { sender, recipients: [parseKey(alice.kex)] });
      const headers = { "content-type": "application/octet-stream" };
      expect((await fetch(alice.endpoint, { method: "POST", body, headers })).status).toBe(202);
    }
    const visitor = await visitorAt(alice);
    const text = await eventually(async () => {
      const page = await visitor.get(conversation(bob));
      expect(page.text).toContain("Show earlier messages (5)");
      return page.text;
    });
    expect(shownText(text)).toMatch(/ Message 5\. .* Message 104\. /);
    expect(text).not.toContain("Message 4.");
    const all = await visitor.get(`${conversation(bob)}?show=200`);
    expect(shownText(all.text)).toMatch(/Message 0\. .* Message 104\. /);
    expect(all.text).not.toContain("Show earlier");
  });

  it("sends a message, shows the author's copy and a reply that arrives meanwhile, and writes no plaintext to the disk", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const visitor = await visitorAt(alice);
    const begun = await visitor.submit("/messages", { address: bob.address.toUpperCase() });
    expect(shownText(begun.text)).toContain(`Your first message to ${bob.address}.`);

    const sent = await visitor.submit(conversation(bob), { text: "See you at nine?\r\nOr later." });
    expect(shownText(sent.text)).toMatch(
      new RegExp(`Delivered to ${bob.address}\\..*You .*See you at nine\\? Or later\\.`),
    );
    expect(await bob.messageJson("list")).toMatchObject([{ text: "See you at nine?\nOr later.", trust: "verified" }]);

    await bob.message("send", alice.address, "Nine: https://bob.example/nine. OK?");
    await eventually(async () => expect((await visitor.get(conversation(bob))).text).toContain("Nine: "));
    const { text } = await visitor.get(conversation(bob));
    expect(text).toContain(
      '<a href="https://bob.example/nine" rel="nofollow ugc noopener" target="_blank">https://bob.example/nine</a>. OK?',
    );
    expect(text).toContain("See you at nine?");
    const texts = textsIn(alice.machine.folder);
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.filter((each) => /See you at|bob\.example\/nine/.test(each))).toEqual([]);
  });

  it("looks up a new address before a message is written, shows what is wrong, and keeps the text of a message that could not be sent", async () => {
    const { alice } = await correspondents(["alice"]);
    const visitor = await visitorAt(alice);
    const address = `nobody@${alice.host}`;
    const unknown = await visitor.submit("/messages", { address });
    expect(shownText(unknown.text)).toContain(`${address} publishes no key for messages: `);
    expect(unknown.text).toContain(`value="${address}"`);
    const hidden = await visitor.submit("/messages", { address: "bob@127.0.0.1:1" });
    expect(shownText(hidden.text)).toMatch(
      /not public\. .* start the client again with --allow-private-host 127\.0\.0\.1:1/,
    );
    const wrong = await visitor.submit("/messages", { address: "bob" });
    expect(wrong.text).toContain("&quot;bob&quot; is not an address such as bob@bob.example.");
    expect(wrong.text).toContain('value="bob"');

    const nobody = conversation({ address });
    const failed = await visitor.submit(nobody, { text: "A <long> text" });
    expect(failed.status).toBe(200);
    expect(shownText(failed.text)).toContain(`Not sent: `);
    expect(failed.text).toContain("A &lt;long&gt; text</textarea>");
    expect((await visitor.get(nobody)).text).toContain(">\nA &lt;long&gt; text</textarea>");
  });

  it("lists undelivered messages with the reason, retries and discards them, and shows what to do about one without further retries", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const visitor = await visitorAt(alice);
    bob.failWithStatus = 503;
    const sent = await visitor.submit(conversation(bob), { text: "Later then." });
    expect(shownText(sent.text)).toMatch(
      /Not delivered yet to .*503.* is retried .*Later then\. Not delivered yet: it answers 503; next attempt after/,
    );
    const waiting = await visitor.get("/messages/outbox");
    expect(shownText(waiting.text)).toMatch(/Later then\. .*503.*next attempt after/);

    bob.failWithStatus = null;
    expect(shownText((await visitor.submit("/messages/outbox/retry")).text)).toContain(`Delivered to ${bob.address}.`);
    expect(await bob.messageJson("list")).toMatchObject([{ text: "Later then." }]);

    bob.failWithStatus = 503;
    await visitor.submit(conversation(bob), { text: "Never mind." });
    const { text } = await visitor.get("/messages/outbox");
    const [, id = ""] = /name="id" value="([0-9a-f]{64})"/.exec(text) ?? [];
    const discarded = await visitor.submit("/messages/outbox/discard", { id });
    expect(shownText(discarded.text)).toMatch(/Discarded\. Not delivered to \S+ Everything was delivered\./);

    bob.failWithStatus = 403;
    const refused = shownText((await visitor.submit(conversation(bob), { text: "Hello?" })).text);
    expect(refused).toMatch(
      /Not delivered to .*403.* open the outbox to retry .*Hello\? Not delivered: .*403; not retried automatically/,
    );
    bob.failWithStatus = null;
    expect(shownText((await visitor.submit("/messages/outbox/retry")).text)).toContain(`Delivered to ${bob.address}.`);
  });

  it("shows both keys of a correspondent whose key has changed, and verifies again once the author has accepted the new key", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await bob.message("send", alice.address, "With my old key.");
    const visitor = await visitorAt(alice);
    await visitor.get(conversation(bob));
    const old = bob.kex;
    await bob.changeKey(9);
    await bob.message("send", alice.address, "With my new key.");

    const key = `/messages/key/${encodeURIComponent(bob.address)}`;
    const unverified = async () => (await visitor.get("/messages/unverified")).text;
    await eventually(async () => expect(await unverified()).toContain(key));
    expect(shownText((await visitor.get(conversation(bob))).text)).not.toContain("With my new key.");
    const refused = await visitor.submit(conversation(bob), { text: "Is it you?" });
    expect(shownText(refused.text)).toContain("Not sent: There is a new key");

    const compared = await visitor.get(key);
    expect(compared.text).toContain(old);
    expect(compared.text).toContain(bob.kex);
    expect(shownText((await visitor.submit(key, { key: old })).text)).toContain("has published a different key");
    expect(shownText((await visitor.submit(key, { key: bob.kex })).text)).toContain("You have accepted this key");
    expect(shownText((await visitor.get(conversation(bob))).text)).toContain("With my new key.");
    expect(shownText(await unverified())).toContain("There are none.");
  });

  it("shows messages signed with the known key in their conversation, with one question about the new key", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await bob.message("send", alice.address, "The first.");
    await bob.message("send", alice.address, "The second.");
    await (await visitorAt(alice)).get(conversation(bob));
    const old = bob.kex;
    await bob.changeKey(9);
    await bob.message("send", alice.address, "With my new key.");

    const visitor = await visitorAt(alice);
    const page = await visitor.get(conversation(bob));
    const state = `Signed with the key that you know; ${bob.address} publishes another one now.`;
    expect(shownText(page.text).split(state)).toHaveLength(3);
    expect(page.text).toMatch(new RegExp(`${old}.*${bob.kex}`, "s"));
    expect(page.text.match(/Compare the keys/g)).toHaveLength(1);
    expect(shownText(page.text)).not.toMatch(/Verified: |With my new key/);
    expect(shownText((await visitor.get("/messages")).text)).toContain(`${bob.address} key changed`);
    const unverified = await visitor.get("/messages/unverified");
    expect(shownText(unverified.text)).toMatch(
      /has a new key, or someone else is using this address\..*With my new key\./,
    );
    expect(shownText(unverified.text)).not.toContain("The first.");
    expect(unverified.text.match(/Compare the keys/g)).toHaveLength(1);

    await visitor.submit(`/messages/key/${encodeURIComponent(bob.address)}`, { key: bob.kex });
    const accepted = shownText((await visitor.get(conversation(bob))).text);
    const former = `Signed with the key that ${bob.address} had until \\d{4}-\\d\\d-\\d\\d\\.`;
    expect(accepted).toMatch(new RegExp(`${former} The first\\..*${former} The second\\..*With my new key\\.`));
    expect(accepted).not.toContain("Is the new key theirs?");
  });

  it("shows a reply below its message, even if both are from the same second", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const visitor = await visitorAt(alice);
    const thread = async (person: Correspondent) => (await person.message("list", "--threads")).stdout;
    // Of three exchanges that take less than three seconds, one is within a second.
    for (const at of [1, 2, 3]) {
      await alice.message("send", bob.address, `Question ${at}?`);
      await bob.message("send", alice.address, `Answer ${at}.`);
    }
    const inOrder = /Question 1\?.*Answer 1\..*Question 2\?.*Answer 2\..*Question 3\?.*Answer 3\./s;
    await eventually(async () => {
      expect(shownText((await visitor.get(conversation(bob))).text)).toContain("Answer 3.");
    });
    expect(shownText((await visitor.get(conversation(bob))).text)).toMatch(inOrder);
    for (const person of [alice, bob]) expect(await thread(person)).toMatch(inOrder);
  });

  it("deletes a message, and blocks and unblocks a sender", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    for (const text of ["one", "two"]) await bob.message("send", alice.address, text);
    const visitor = await visitorAt(alice);
    const { text } = await visitor.get(conversation(bob));
    const [, id = ""] = /delete\?id=([0-9a-f]{64})"/.exec(text) ?? [];
    expect(shownText((await visitor.get(`/messages/delete?id=${id}`)).text)).toContain(
      `This deletes the message by ${bob.address} from your inbox for good: one`,
    );
    const after = await visitor.submit("/messages/delete", { id, address: bob.address });
    expect(shownText(after.text)).toMatch(/The message was deleted.*two/);
    expect((await alice.messageJson("list")).map((one) => one.text)).toEqual(["two"]);

    const question = `/messages/block?address=${encodeURIComponent(bob.address)}`;
    expect(shownText((await visitor.get(question)).text)).toContain("This deletes 1 message from");
    const blocked = await visitor.submit("/messages/block", { address: bob.address });
    expect(shownText(blocked.text)).toContain(`${bob.address} is blocked.`);
    expect(await alice.messageJson("list")).toEqual([]);
    expect((await alice.message("blocked")).stdout).toContain(bob.address);
    await visitor.undo(blocked);
    expect((await alice.message("blocked")).stdout).toBe("");
  });

  it("shows guests by the short form of their key, their last stated name as not verified, and their messages as read when they are answered", async () => {
    const { alice } = await correspondents(["alice"]);
    const guest = alice.guest(7);
    await writeAsGuest(alice, 7, { text: "I am new here.", name: "D." });
    await writeAsGuest(alice, 7, { text: "Hello from your page.", name: "Dana" });
    await writeAsGuest(alice, 7, { text: "Without a name.", name: null });
    const visitor = await visitorAt(alice);
    const list = shownText((await visitor.get("/messages")).text);
    expect(list).toMatch(/guest kex1\w{3}…\w\w &quot;Dana&quot; unverified name 3 unread .*Without a name\./);
    const path = conversation(guest);
    const answered = await visitor.post(path, { text: "Welcome." });
    const unloaded = shownText((await visitor.get("/messages")).text);
    expect(unloaded).toContain("You: Welcome.");
    expect(unloaded).not.toContain("unread");
    const page = await visitor.get(answered.headers.get("location") ?? "");
    const shown = shownText(page.text);
    expect(shown).toMatch(
      /Guest kex1\w{3}…\w\w &quot;Dana&quot; \(unverified name\) .*Delivered to guest kex1\w{3}…\w\w\./,
    );
    expect(shown).not.toContain(guest.address);
    expect((await alice.message("list", "--threads")).stdout).toMatch(/^guest kex1\S+ "Dana":/);
    expect(await alice.messageJson("list", ...guest.options)).toMatchObject([{ text: "Welcome." }]);

    const question = await visitor.get(`/messages/block?address=${encodeURIComponent(guest.address)}`);
    const blocked = await visitor.submit("/messages/block", { address: guest.address });
    const unblocked = await visitor.undo(blocked);
    for (const { text } of [question, blocked, unblocked]) expect(shownText(text)).not.toContain(guest.address);
    expect(shownText(blocked.text)).toMatch(/guest kex1\w{3}…\w\w is blocked\./);
  });

  it("shares with the commands the messages that the author has read", async () => {
    const { alice, bob, carol } = await correspondents(["alice", "bob", "carol"]);
    for (const text of ["one", "two"]) await bob.message("send", alice.address, text);
    await carol.message("send", alice.address, "three");
    const visitor = await visitorAt(alice);
    const unread = async () => (await alice.messageJson("list", "--unread")).map(({ text }) => text);
    expect(await unread()).toEqual(["three", "two", "one"]);

    const [, , first] = await alice.messageJson("list");
    await alice.message("read", String(first?.id));
    expect(await unread()).toEqual(["three", "two"]);
    expect(shownText((await visitor.get("/messages")).text)).toMatch(new RegExp(`${bob.address} verified 1 unread`));

    await visitor.get(conversation(carol));
    expect(await unread()).toEqual(["two"]);
    expect((await alice.message("list")).stderr).toBe("3 messages, 1 unread.\n");
    await alice.message("read");
    expect(shownText((await visitor.get("/messages")).text)).not.toContain("unread");
  });

  it("retries undelivered messages after a restart", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    bob.failWithStatus = 503;
    const before = await clientOf(alice);
    await (await visitorOf(before, "/messages")).submit(conversation(bob), { text: "Later then." });
    await before.close();
    bob.failWithStatus = null;
    await makeDue(alice);

    const visitor = await visitorAt(alice);
    await eventually(async () => expect(await bob.messageJson("list")).toMatchObject([{ text: "Later then." }]));
    await eventually(async () =>
      expect((await visitor.get("/messages/outbox")).text).toContain("Everything was delivered."),
    );
  });

  it("works while the inbox does not respond, shows its messages once it does, and afterwards those that it has opened before", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    await bob.message("send", alice.address, "Before.");
    await alice.stop();
    const visitor = await visitorAt(alice);
    const down = shownText((await visitor.get("/messages")).text);
    expect(down).toMatch(/ECONNREFUSED\. Check that the site is running, .* nothing is lost meanwhile\./);
    expect(down).not.toContain("No messages yet.");
    const sent = await visitor.submit(conversation(bob), { text: "From my side, all is well." });
    expect(shownText(sent.text)).toContain(`Delivered to ${bob.address}.`);

    await alice.start();
    await eventually(async () => {
      const list = shownText((await visitor.get("/messages")).text);
      expect(list).toContain("verified 1 unread");
      expect(list).not.toContain("nothing is lost");
    });
    await alice.stop();
    await eventually(async () => {
      const list = shownText((await visitor.get("/messages")).text);
      expect(list).toMatch(/The inbox does not answer\..*nothing is lost.*From my side/);
    });
    expect((await visitor.get(conversation(bob))).text).toContain("Before.");
  });

  it("keeps a draft for each correspondent across a restart, and deletes it when the message is sent", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const client = await clientOf(alice);
    const before = await visitorOf(client, "/messages");
    const draft = conversation(bob).replace("/with/", "/draft/");
    const page = "the page";
    const saved = await before.submit(draft, { page, text: "\r\nplaintext-of-a draft\r\nwith <two> lines" });
    expect(shownText(saved.text)).toContain("Draft saved.");
    expect(textsIn(alice.machine.folder).filter((text) => text.includes("plaintext-of"))).toEqual([]);
    await client.close();

    const visitor = await visitorAt(alice);
    expect(shownText((await visitor.get("/messages")).text)).toContain(`Not sent yet: draft to ${bob.address}`);
    expect((await visitor.get(conversation(bob))).text).toContain(
      ">\nplaintext-of-a draft\nwith &lt;two&gt; lines</textarea>",
    );
    await visitor.submit(conversation(bob), { page, text: "plaintext-of-a message" });
    expect((await visitor.get(conversation(bob))).text).toContain("</textarea>");
    expect(shownText((await visitor.get("/messages")).text)).not.toContain("Not sent yet");

    await visitor.submit(draft, { page, text: "Once more." });
    expect(shownText((await visitor.submit(draft, { page, text: " " })).text)).toContain("The draft is deleted.");
    expect((await visitor.get(conversation(bob))).text).not.toContain("Once more.");
  });
});
