// test/client/message-files.test.ts: files attached to messages in the client.
import { expect, it } from "vitest";
import { attachmentLine } from "../../plugin/author/messages/attachments.js";
import { messagesRoom } from "../../plugin/client/messages/messages-room.js";
import { type BlobAuthor, blobAuthors, PNG } from "../cli/blob-author.js";
import { correspondents } from "../cli/correspondent.js";
import { describeWithoutKeychain } from "../cli/machine.js";
import { loopbackServer } from "../helpers/loopback.js";
import { clientOfPerson, type Got } from "./client.js";
import { textsIn } from "./files-below.js";
import { shownText, type Visitor, visitorOf } from "./visitor.js";

type Person = Pick<BlobAuthor, "address" | "machine" | "environment" | "allowing">;

async function visitorAt(person: Person): Promise<Visitor> {
  return visitorOf(await clientOfPerson(person, [messagesRoom]), "/messages");
}

function conversation({ address }: Pick<Person, "address">): string {
  return `/messages/with/${encodeURIComponent(address)}`;
}

/** The links to files on a page. */
function downloadsIn({ text }: Got): string[] {
  return [...text.matchAll(/href="(\/messages\/file\/[0-9a-f]{64}\/\d+)"/g)].map(([, path = ""]) => path);
}

async function followed(visitor: Visitor, path: string): Promise<string> {
  const answer = await visitor.get(path);
  expect(answer.status).toBe(303);
  return shownText((await visitor.get(answer.headers.get("location") ?? "")).text);
}

/** Sends Bob a file from Alice. */
async function sentFile(name: string, bytes: Uint8Array) {
  const { alice, bob } = await blobAuthors(["alice", "bob"]);
  const visitor = await visitorAt(alice);
  const sent = await visitor.upload(conversation(bob), { text: "The letter:" }, [{ field: "file", name, bytes }]);
  const reader = await visitorAt(bob);
  const got = await reader.get(conversation(alice));
  return { alice, bob, visitor, sent, reader, got };
}

describeWithoutKeychain("files of messages", () => {
  it("are sealed, stored and sent with a message, and only the recipient and the sender can open them", async () => {
    const bytes = Buffer.from("plaintext-of the letter");
    const { alice, bob, visitor, sent, reader, got } = await sentFile("letter [1].txt", bytes);
    expect(shownText(sent.text)).toMatch(/Delivered to .* The letter: letter \[1\]\.txt \(23 bytes\) Download/);
    expect(shownText(got.text)).toMatch(/The letter: letter \[1\]\.txt \(23 bytes\) Download/);
    for (const [who, page] of [
      [reader, got],
      [visitor, sent],
    ] as const) {
      const file = await who.get(downloadsIn(page)[0] ?? "");
      expect(file.status).toBe(200);
      expect(file.text).toBe(bytes.toString());
      expect(file.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''letter%20%5B1%5D.txt");
      expect(file.headers.get("content-type")).toBe("application/octet-stream");
      expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect(await alice.listed()).toMatchObject([{ type: "application/x-saltpack", filename: "", public: true }]);
    const stored = [...(await alice.stored()).values()].map((value) => Buffer.from(value).toString("latin1"));
    const files = [...textsIn(alice.machine.folder), ...textsIn(bob.machine.folder), ...stored];
    expect(files.filter((text) => text.includes("plaintext-of") || text.includes("letter [1]"))).toEqual([]);

    const [message] = await bob.messageJson("list");
    const url = /\]\((\S+)\)$/.exec(String(message?.text))?.[1] ?? "";
    await bob.blob("get", url, "-o", "got.txt");
    expect(bob.bytes("got.txt")).toEqual(bytes);
  });

  it("have a field that is collapsed at first, can be sent without a text, show their picture on request, and are deleted again if their message could not be sent", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    const visitor = await visitorAt(alice);
    const field =
      /<details( open="")?><summary>Attach a file<\/summary>.*?<input id="file"[^>]* name="file" type="file"/;
    expect(field.exec((await visitor.get(conversation(bob))).text)).toMatchObject({ 1: undefined });
    const file = { field: "file", name: "a.png", bytes: PNG };
    const empty = await visitor.upload(conversation(bob), { text: "" }, []);
    expect(shownText(empty.text)).toContain("Not sent: The message is empty.");
    await visitor.upload(conversation(bob), { text: "" }, [file]);
    const reader = await visitorAt(bob);
    const list = await reader.get("/messages");
    expect(shownText(list.text)).toContain(`a.png (${PNG.length} bytes)`);
    const got = await reader.get(conversation(alice));
    expect(got.text).toContain('data-picture="a.png');
    const picture = await reader.get(`${downloadsIn(got)[0]}/picture`);
    expect(picture.headers.get("content-type")).toBe("image/png");

    const refused = await visitor.upload(conversation(bob), { text: "x".repeat(60_000) }, [file]);
    expect(field.exec(refused.text)?.[1]).toBe(' open=""');
    expect(shownText(refused.text)).toMatch(/Not sent: .*the limit is .* Choose a\.png again\./);
    expect(await alice.listed()).toHaveLength(1);
  });

  it("are sent by the command line, too", async () => {
    const { alice, bob, carol } = await blobAuthors(["alice", "bob", "carol"]);
    alice.machine.write("files/letter.txt", "Dear both,");
    const to = [bob.address, carol.address];
    const sent = await alice.message("send", ...to, "--attach", "files/letter.txt");
    expect(sent).toMatchObject({ exitCode: 0, stderr: "2 delivered.\n" });
    for (const person of [bob, carol]) {
      const reader = await visitorAt(person);
      const [path = ""] = downloadsIn(await reader.get(conversation(alice)));
      expect((await reader.get(path)).text).toBe("Dear both,");
    }
    const missing = await alice.message("send", bob.address, "The letter:", "--attach", "no.txt");
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no.txt") });
    expect(await bob.messageJson("list")).toHaveLength(1);
  });

  it("neither run scripts nor break out of a header, even with hostile names and types", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    const visitor = await visitorAt(alice);
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const names = ['a"; filename="b.html', "<img src=x onerror=alert(1)>.svg", "x.html", "quince\u{1f34b}.png"];
    for (const name of names) {
      await visitor.upload(conversation(bob), { text: "" }, [{ field: "file", name, bytes: svg, type: "text/html" }]);
    }
    const reader = await visitorAt(bob);
    const page = await reader.get(conversation(alice));
    expect(page.text).not.toContain("<img src=x");
    expect(page.text.match(/data-picture=/g)).toHaveLength(1);
    for (const path of downloadsIn(page)) {
      const { headers } = await reader.get(path);
      expect(headers.get("content-type")).toBe("application/octet-stream");
      expect(headers.get("content-disposition")).toMatch(/^attachment; filename\*=UTF-8''[\w.%-]+$/);
      const picture = await reader.get(`${path}/picture`);
      expect(picture.status).not.toBe(200);
      expect(picture.headers.get("content-type")).toMatch(/^text\/html/);
      expect(picture.text).not.toContain("<script>alert");
    }
    const refused = await visitor.upload(conversation(bob), { text: "Not lost." }, [
      { field: "file", name: "a\u202egnp.exe", bytes: PNG },
    ]);
    expect(shownText(refused.text)).toMatch(/Not sent: .*without control characters.* again\./);
    expect(refused.text).toContain("Not lost.</textarea>");
  });

  it("show an error if they are deleted, changed, or sealed by another key or to other keys", async () => {
    const { alice, bob, visitor, reader, got } = await sentFile("letter.txt", Buffer.from("A letter."));
    const [path = ""] = downloadsIn(got);
    alice.operator = async (request, answer) => {
      const response = await answer();
      if (!request.url.includes("/shared/")) return response;
      const changed = new Uint8Array(await response.arrayBuffer()).fill(0, -3);
      return new Response(changed, { headers: response.headers });
    };
    expect(await followed(reader, path)).toContain("its contents do not match its key");
    alice.operator = null;
    alice.failWithStatus = 503;
    expect(await followed(reader, path)).toMatch(/answers 503\. Try again later\./);
    alice.failWithStatus = null;
    const [blob] = await alice.listed();
    await alice.blob("rm", String(blob?.key));
    expect(await followed(reader, path)).toContain("Ask the sender to send the file again.");

    alice.machine.write("own.txt", "Only for me.");
    const { stdout: own } = await alice.blob("put", "own.txt", "--public", "--encrypt");
    await alice.message("send", bob.address, own.trim());
    const { stdout: forBob } = await alice.blob("put", "own.txt", "--public", "--encrypt", "--to", bob.address);
    const sealedToOthers = downloadsIn(await reader.get(conversation(alice))).at(-1) ?? "";
    expect(await followed(reader, sealedToOthers)).toContain("It is not sealed to a key of yours.");
    await bob.message("send", alice.address, forBob.trim());
    const [byBob] = await alice.messageJson("list");
    const sealedByAnother = `/messages/file/${byBob?.id}/0`;
    await expect.poll(async () => downloadsIn(await visitor.get(conversation(bob)))).toContain(sealedByAnother);
    expect(await followed(visitor, sealedByAnother)).toContain("The file was sealed by another key");
  });

  it("can be URLs that the commands print, but are not requested from servers in the author's own network", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    const secret = await loopbackServer((_, response) => response.end("secret"));
    bob.machine.write("letter.txt", "By hand.");
    const { stdout } = await bob.blob("put", "letter.txt", "--public", "--encrypt", "--to", alice.address);
    const url = stdout.trim().replace(new URL(stdout.trim()).host, secret.host);
    await bob.message("send", alice.address, `Here it is:\n${stdout.trim()}`);
    await bob.message("send", alice.address, `[a.png (1.0 KiB)](${url})`);
    const visitor = await visitorAt(alice);
    const [printed = "", path = ""] = downloadsIn(await visitor.get(conversation(bob)));
    const file = await visitor.get(printed);
    expect(file.text).toBe("By hand.");
    expect(file.headers.get("content-disposition")).toContain("letter.txt");
    expect(await followed(visitor, path)).toContain("is not requested: its address is not public.");
    expect(shownText((await visitor.get(`${path}/picture`)).text)).toContain("its address is not public.");
    expect(secret.requests).toEqual([]);
  });

  it("show an error if they are larger than the site's limit or the free quota", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"], { maxMegabytes: 1, count: 1 });
    const visitor = await visitorAt(alice);
    expect((await visitor.get(conversation(bob))).text).toContain("at most 1.0 MiB");
    const large = [{ field: "file", name: "large.bin", bytes: Buffer.alloc(2 ** 20 + 1) }];
    const refused = await visitor.upload(conversation(bob), { text: "Too large.", page: "tab" }, large);
    expect(shownText(refused.text)).toMatch(/Not sent: It is larger than the 1\.0 MiB.*maxMegabytes: 3/);
    const send = () =>
      visitor.upload(conversation(bob), { text: "Here.", page: "tab" }, [{ field: "file", name: "a.png", bytes: PNG }]);
    await send();
    expect(shownText((await send()).text)).toMatch(/Not sent: .*count.* Choose a\.png again\./);
  });

  it("are not offered in messages to guests, or on a site without blobs; recipients need no blobs", async () => {
    const { alice, bob } = await correspondents(["alice", "bob"]);
    const visitor = await visitorAt(alice);
    const without = await visitor.get(conversation(bob));
    expect(without.text).not.toContain('type="file"');
    expect(shownText(without.text)).toContain("set the option blobs: true if it is not set yet");
    const file = [{ field: "file", name: "a.png", bytes: PNG }];
    expect(shownText((await visitor.upload(conversation(bob), { text: "" }, file)).text)).toContain(
      "Not sent: This site was built without blobs: ",
    );

    const { carol } = await blobAuthors(["carol"]);
    const guest = carol.guest(7);
    const writer = await visitorAt(carol);
    expect(shownText((await writer.get(conversation(guest))).text)).toContain("Files cannot be attached");
    expect(shownText((await writer.upload(conversation(guest), { text: "" }, file)).text)).toContain(
      "Not sent: Guests read on your contact page",
    );
  });

  it("are not offered in messages from unverified senders", async () => {
    const { alice, bob } = await blobAuthors(["alice", "bob"]);
    await bob.message("send", alice.address, "Hello.");
    const visitor = await visitorAt(alice);
    await visitor.get(conversation(bob));
    await bob.changeKey(9);
    const url = `${bob.url}/shared/${bob.kex}/${"a".repeat(64)}`;
    await bob.message("send", alice.address, attachmentLine({ filename: "a.png", size: 1, url }));
    await expect.poll(async () => shownText((await visitor.get("/messages/unverified")).text)).toContain("a.png");
    const page = await visitor.get("/messages/unverified");
    expect(downloadsIn(page)).toEqual([]);
    const [, id = ""] = /id="m-([0-9a-f]{64})"/.exec(page.text) ?? [];
    expect((await visitor.get(`/messages/file/${id}/0`)).status).toBe(404);
  });
});
