// test/client/files.test.ts: the room of files without JavaScript, with real sites on loopback.
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesRoom } from "../../plugin/client/files/files-room.js";
import { removeMetadata } from "../../plugin/pictures/remove-metadata.js";
import { uniqueName } from "../../plugin/store/processes.js";
import { type BlobAuthor, blobAuthors, PNG, sha256 } from "../cli/blob-author.js";
import { type ClientUnderTest, clientOfPerson, type Got } from "./client.js";
import { textsIn } from "./files-below.js";
import { shownText, type Visitor, visitorOf } from "./visitor.js";

interface OpenedFiles extends Visitor {
  client: ClientUnderTest;
  alice: BlobAuthor;
  /** The text of the page. */
  shown(): Promise<string>;
  /** Submits the upload form as a browser without JavaScript does. */
  put(files: readonly File[], fields?: Record<string, string>): Promise<Got>;
  /** The page after all uploads have ended. */
  uploaded(): Promise<string>;
}

async function openedFiles(blobs?: Parameters<typeof blobAuthors>[1]): Promise<OpenedFiles> {
  const { alice } = await blobAuthors(["alice"], blobs);
  const client = await clientOfPerson(alice, [filesRoom]);
  const visitor = await visitorOf(client, "/files");
  const shown = async () => shownText((await visitor.get("/files")).text);
  return {
    ...visitor,
    client,
    alice,
    shown,
    // If no file is chosen, browsers send a file without a name.
    put: async (files, fields = { visibility: "private", clean: "yes" }) => {
      const chosen = files.length > 0 ? files : [new File([], "")];
      const parts = chosen.map(async (file) => ({
        field: "file",
        name: file.name,
        bytes: new Uint8Array(await file.arrayBuffer()),
      }));
      return visitor.upload("/files/upload", fields, await Promise.all(parts));
    },
    async uploaded() {
      await expect.poll(async () => (await visitor.get("/files")).text).not.toContain("data-busy");
      return shown();
    },
  };
}

/** Makes requests of one kind wait at the site until they are released. */
function heldBack(alice: BlobAuthor, method: string): { letThrough(): void; isReached: Promise<void> } {
  let letThrough = () => {};
  let reach = () => {};
  const through = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  const isReached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  alice.operator = async (request, answer) => {
    if (request.method === method) {
      reach();
      await through;
    }
    return answer();
  };
  return { letThrough, isReached };
}

/** A picture with a location in its metadata. */
const PHOTO = new URL("../pictures/files/phone.jpg", import.meta.url);
/** Larger than the buffers of connections on this machine. */
const LARGE = new File([Buffer.alloc(8 * 2 ** 20)], "large.bin");

function workFiles({ machine }: BlobAuthor): string[] {
  const folder = join(machine.folder, "data/eleventy-twtxt/work");
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [];
}

describe("the room of files", () => {
  it("uploads files without JavaScript: private, unless the author chooses another visibility", async () => {
    const { put, uploaded, alice } = await openedFiles();
    expect((await put([])).text).toContain("No file was chosen.");
    expect((await put([new File(["a list"], "list.txt"), new File([PNG], "quince.png")])).text).toContain("2 files");
    const page = await uploaded();
    expect(page).toContain("2 uploads: 2 done.");
    expect(page).toContain("2 of 1000 files used");
    expect(await alice.listed()).toMatchObject([{ public: false }, { public: false }]);

    await put([new File(["a story"], "story.txt")], { visibility: "public" });
    await put([new File(["a secret"], "secret.txt")], { visibility: "sealed" });
    await uploaded();
    const [sealed, story] = await alice.listed();
    expect(story).toMatchObject({ public: true, filename: "story.txt", type: "text/plain; charset=utf-8" });
    expect(sealed).toMatchObject({ public: false, filename: "", type: "application/x-saltpack" });
    expect(workFiles(alice)).toHaveLength(1);
  });

  it("stores files under valid names, even if the browser sends invalid ones", async () => {
    const { put, uploaded, alice } = await openedFiles();
    const names = [
      "../../up.txt",
      'quo"te.txt',
      "bi\u202edi.txt",
      "<b>.txt",
      "li\r\nne.txt",
      `${"é".repeat(300)}.txt`,
      "..",
    ];
    await put(names.map((name, at) => new File([String(at)], name)));
    expect(await uploaded()).toContain("7 uploads: 7 done.");
    const stored = (await alice.listed()).map(({ filename }) => filename);
    expect(stored.sort()).toEqual([
      "",
      "<b>.txt",
      "bi_di.txt",
      "li__ne.txt",
      'quo"te.txt',
      "up.txt",
      `${"é".repeat(251)}.txt`,
    ]);
  });

  it("removes the location from pictures, unless the author chooses to keep it", async () => {
    const { put, uploaded, alice } = await openedFiles();
    const photo = readFileSync(PHOTO);
    await put([new File([photo], "photo.jpg")]);
    await uploaded();
    const clean = sha256(removeMetadata(photo, "photo.jpg").bytes);
    expect(await alice.listed()).toMatchObject([{ key: clean, filename: "photo.jpg" }]);
    await put([new File([photo], "photo.jpg")], { visibility: "private" });
    await uploaded();
    expect((await alice.listed()).map(({ key }) => key)).toContain(sha256(photo));
  });

  it("makes a file public after a confirmation, and private again", async () => {
    const { alice, get, submit, undo, shown } = await openedFiles();
    alice.machine.write("list.txt", "a list");
    await alice.blob("put", "list.txt");
    const key = sha256("a list");
    expect((await get(`/files/public/${key}`)).text).toContain("Anyone who has the link can then read this file");
    expect(await alice.listed()).toMatchObject([{ public: false }]);
    const shared = await submit(`/files/public/${key}`);
    expect(shared.text).toContain("list.txt is public.");
    expect(await shown()).toContain(`Link: ${alice.shared(key)}`);
    expect((await undo(shared)).text).toContain("list.txt is private.");
    expect(await alice.listed()).toMatchObject([{ public: false }]);
    await submit(`/files/public/${key}`);
    expect((await submit(`/files/private/${key}`)).text).toContain("list.txt is private.");
    expect(await alice.listed()).toMatchObject([{ public: false }]);
  });

  it("renames a file, and deletes it after a confirmation", async () => {
    const { alice, get, submit } = await openedFiles();
    alice.machine.write("list.txt", "a list");
    await alice.blob("put", "list.txt");
    const key = sha256("a list");
    const edited = await submit(`/files/edit/${key}`, { filename: "quinces.md", type: "text/markdown" });
    expect(edited.text).toContain("quinces.md is private.");
    expect(await alice.listed()).toMatchObject([{ filename: "quinces.md", type: "text/markdown" }]);
    expect((await submit(`/files/edit/${key}`, { filename: "a/b", type: "nonsense" })).text).toContain("media type");
    expect((await get(`/files/delete/${key}`)).text).toContain("This cannot be undone.");
    expect((await submit(`/files/delete/${key}`)).text).toContain("quinces.md is deleted.");
    expect(await alice.listed()).toEqual([]);
  });

  it("shows pictures, also sealed ones, none that is damaged or has too many pixels, and offers SVG and HTML only as downloads", async () => {
    const { alice, get } = await openedFiles();
    alice.machine.write("evil.svg", "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>");
    writeFileSync(join(alice.machine.folder, "quince.png"), PNG);
    await alice.blob("put", "--encrypt", "quince.png");
    await alice.blob("put", "quince.png");
    await alice.blob("put", "--public", "--type", "image/png", "evil.svg");
    const listed = await alice.listed();
    const keyOf = (type: string) => listed.find((one) => one.type === type && one.key !== sha256(PNG))?.key;
    for (const key of [sha256(PNG), keyOf("application/x-saltpack")]) {
      const picture = await get(`/files/picture/${key}`);
      expect(picture.headers.get("content-type")).toBe("image/png");
      expect(picture.headers.get("content-security-policy")).toContain("sandbox");
    }
    const svg = keyOf("image/png");
    expect((await get(`/files/picture/${svg}`)).status).toBe(204);
    const saved = await get(`/files/get/${svg}`);
    expect(saved.headers.get("content-type")).toBe("application/octet-stream");
    expect(saved.headers.get("content-disposition")).toMatch(/^attachment; filename\*=UTF-8''evil\.svg$/);
    expect(saved.headers.get("content-security-policy")).toContain("sandbox");
    expect(saved.text).toContain("<svg");
    const bomb = Buffer.from(PNG);
    bomb.writeUInt32BE(30_000, 16);
    bomb.writeUInt32BE(30_000, 20);
    for (const bytes of [bomb, PNG.subarray(0, PNG.length / 2)]) {
      writeFileSync(join(alice.machine.folder, "bad.png"), bytes);
      await alice.blob("put", "bad.png");
      expect((await get(`/files/picture/${sha256(bytes)}`)).status).toBe(204);
    }
    await expect.poll(() => workFiles(alice)).toHaveLength(1);
  });

  it("shows the type and the readers of a sealed file that is not a picture", async () => {
    const { alice, get, shown } = await openedFiles();
    alice.machine.write("letter.pdf", "%PDF-1.7");
    await alice.blob("put", "--encrypt", "letter.pdf");
    const [{ key } = { key: "" }] = await alice.listed();
    expect((await get("/files")).text).toContain(`src="/files/picture/${key}"`);
    await get(`/files/picture/${key}`);
    const page = (await get("/files")).text;
    expect(page).not.toContain("/files/picture/");
    expect(page).toMatch(/class="kind"[^>]*>pdf</);
    expect(await shown()).toContain("Sealed and private: only you can download it, and not even your site can read it");
    await alice.blob("set", String(key), "--public");
    expect(await shown()).toContain(
      "Sealed and public: anyone can download it, but only the people it is sealed to can read it",
    );
  });

  it("downloads a sealed file decrypted under its own name, which the page shows from then on", async () => {
    const { alice, get, shown } = await openedFiles();
    alice.machine.write("secret; plan.txt", "meet me");
    await alice.blob("put", "--encrypt", "secret; plan.txt");
    const [{ key } = { key: "" }] = await alice.listed();
    expect(await shown()).toContain("Sealed file");
    const saved = await get(`/files/get/${key}`);
    expect(saved.text).toBe("meet me");
    expect(saved.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''secret%3B%20plan.txt");
    expect(await shown()).toContain("secret; plan.txt");
    expect(workFiles(alice)).toHaveLength(1);
  });

  it("leaves no data on the disk of a file that it has sealed, shown and downloaded", async () => {
    const { alice, get, put, uploaded } = await openedFiles();
    const picture = Buffer.concat([PNG, Buffer.from("plaintext-of the plan")]);
    await put([new File([picture], "plan.png")], { visibility: "sealed" });
    expect(await uploaded()).toContain("1 upload");
    const [{ key } = { key: "" }] = await alice.listed();
    expect((await get(`/files/picture/${key}`)).headers.get("content-type")).toBe("image/png");
    expect((await get(`/files/get/${key}`)).text).toContain("plaintext-of");
    const texts = textsIn(alice.machine.folder);
    expect(texts.filter((text) => /plaintext-of|plan\.png/.test(text))).toEqual([]);
  });

  it("pauses and resumes an upload, and cancels another, which leaves no data", async () => {
    const { alice, client, cookie, csrf, get, submit, uploaded, shown } = await openedFiles();
    const site = heldBack(alice, "PUT");
    const [large, unwanted] = [randomUUID(), randomUUID()];
    const add = (name: string, id: string) => addFile({ client, cookie, csrf }, new File([LARGE, name], name), id);
    await add("large.bin", large);
    await add("unwanted.bin", unwanted);
    await site.isReached;
    await expect.poll(shown).toMatch(/unwanted\.bin [1-9][\d.]* MiB of 8\.0 MiB sent\./);
    expect((await submit(`/files/uploads/${large}/pause`)).text).toContain("Paused large.bin.");
    await submit(`/files/uploads/${unwanted}/cancel`);
    expect((await get("/files")).text).not.toContain("data-busy");
    site.letThrough();
    expect(await shown()).toMatch(/large\.bin Paused at [\d.]+ MiB of 8\.0 MiB/);
    await submit(`/files/uploads/${large}/resume`);
    expect(await uploaded()).toContain("2 uploads: 1 done, 1 cancelled.");
    expect(await alice.listed()).toMatchObject([{ filename: "large.bin" }]);
    expect([...(await alice.stored()).keys()].filter((key) => key.startsWith("blobs/contents/"))).toHaveLength(1);
    expect(workFiles(alice)).toHaveLength(1);
  });

  it("403: stores no uploads without the token of the session", async () => {
    const { alice, client, cookie } = await openedFiles();
    for (const csrf of ["", "A".repeat(43)]) {
      expect(await addFile({ client, cookie, csrf }, new File(["a list"], "list.txt"))).toBe(403);
      const form = new FormData();
      form.set("csrf", csrf);
      form.set("file", new File(["a list"], "list.txt"));
      const headers = { cookie, origin: client.origin };
      const { status } = await fetch(`${client.origin}/files/upload`, {
        method: "POST",
        headers,
        body: form,
      });
      expect(status).toBe(403);
    }
    expect(await alice.listed()).toEqual([]);
    expect(workFiles(alice)).toEqual([]);
  });

  it("shows why the list is unavailable and why an upload failed, and retries it when the site is back", async () => {
    const { alice, get, put, shown, uploaded, submit } = await openedFiles();
    await alice.stop();
    expect(await shown()).toContain("Check that the site is running");
    await put([new File(["a list"], "list.txt")]);
    expect((await uploaded()).split("Check that the site is running")).toHaveLength(3);
    await alice.start();
    expect(await shown()).toContain("No files yet.");
    const [retry = ""] = /\/files\/uploads\/[^"]+\/retry/.exec((await get("/files")).text) ?? [];
    await submit(retry);
    expect(await uploaded()).toContain("1 upload: 1 done.");
    await submit("/files/uploads/clear");
    expect(await uploaded()).not.toContain("1 upload:");
    expect(workFiles(alice)).toHaveLength(1);
  });

  it("lists an upload until its file is in the grid and its result was shown, and a failed one until the list is cleared", async () => {
    const { alice, get, put, submit } = await openedFiles();
    const listed = async () => {
      const { text } = await get("/files");
      return [...text.matchAll(/<p id="upload-[^"]+-name"[^>]*><bdi>([^<]+)/g)].map(([, name]) => name);
    };
    let shown = (await put([new File(["a list"], "list.txt")])).text;
    // The page after the upload may show its result, or a later one does.
    const show = async () => {
      if (!shown.includes("Stored: new")) shown = (await get("/files")).text;
      return shown;
    };
    await expect.poll(show).toContain("Stored: new, private.");
    // The list of files may be read a moment later.
    await expect.poll(listed).toEqual([]);
    const { text } = await get("/files");
    expect(shownText(text)).toMatch(/1 upload: 1 done\..*list\.txt/);
    expect(text).not.toContain("Clear the list");

    await alice.stop();
    await put([new File(["a story"], "story.txt")]);
    await expect.poll(async () => (await get("/files")).text).toContain("Try again");
    await alice.start();
    expect(await listed()).toEqual(["story.txt"]);
    expect((await submit("/files/uploads/clear")).text).not.toContain("Clear the list");
    expect(await listed()).toEqual([]);
  });

  it("shows what to do when the quota or the size limit of a file is exceeded", async () => {
    const { put, uploaded, client, cookie, csrf } = await openedFiles({ count: 1, maxMegabytes: 1 });
    await put([new File(["one"], "one.txt")]);
    await uploaded();
    await put([new File(["two"], "two.txt")]);
    expect(await uploaded()).toContain("Delete some blobs, or raise the site");
    const large = new File([Buffer.alloc(2 ** 21)], "large.bin");
    await put([large]);
    expect(await uploaded()).toMatch(/larger than the 1\.0 MiB that the site accepts\. .* maxMegabytes: [1-9] /);
    expect(await addFile({ client, cookie, csrf }, large)).toBe(204);
    expect(await uploaded()).toContain("maxMegabytes: 2");
  });

  it("shows what to do when the site has another key", async () => {
    const { alice, put, uploaded } = await openedFiles();
    alice.operator = async () =>
      new Response(JSON.stringify({ detail: "Not yours." }), {
        status: 403,
        headers: { "content-type": "application/problem+json" },
      });
    await put([new File(["a list"], "list.txt")]);
    expect(await uploaded()).toMatch(/The site has a different key: check its option .*The site has a different key/);
  });

  it("shows forged metadata of a hostile site as text on one line", async () => {
    const { alice, get, shown } = await openedFiles();
    alice.machine.write("list.txt", "a list");
    await alice.blob("put", "list.txt");
    alice.operator = async (_, answer) => {
      const response = await answer();
      const json = await response.text();
      const hostile = JSON.stringify("\u202e\u0000<script>document.title='run'</script>\r\n");
      return new Response(
        json
          .replace('"list.txt"', hostile)
          .replace('"text/plain; charset=utf-8"', hostile)
          .replace(/"modified":"[^"]*"/, '"modified":"never"'),
        response,
      );
    };
    const page = (await get("/files")).text;
    expect(page).not.toMatch(/<script>document|\u202e|\u0000/);
    expect(await shown()).toContain("&lt;script&gt;document.title=&#39;run&#39;&lt;/script&gt;");
    expect(await shown()).toContain("date unknown");
    expect(await shown()).toContain("Not as you stored it:");
  });

  it("shows the newest 50 files on a page, and requests no others", async () => {
    const { alice, get, client, cookie, csrf } = await openedFiles();
    await addFile({ client, cookie, csrf }, new File(["oldest"], "oldest.txt"));
    await expect.poll(() => alice.listed()).toHaveLength(1);
    const names = Array.from({ length: 50 }, (_, number) => `${number}.txt`);
    for (const name of names) alice.machine.write(name, name);
    await alice.blob("put", ...names);
    // Also a file on the second page leaves the list of uploads.
    expect((await get("/files")).text).toContain("oldest.txt");
    const requests: string[] = [];
    alice.operator = (request, answer) => {
      requests.push(`${request.method} ${new URL(request.url).search}`);
      return answer();
    };
    const itemsOn = (page: string) => page.match(/<li id="file-/g)?.length;
    const first = (await get("/files")).text;
    expect(requests).toEqual(["GET ?order=newest&limit=50"]);
    const [, older = ""] = /<a href="(\/files\?after=[^"]+)">Older files/.exec(first) ?? [];
    const second = (await get(older)).text;
    expect([itemsOn(first), itemsOn(second)]).toEqual([50, 1]);
    expect(first).not.toContain("oldest.txt");
    expect(second).toContain('<a href="/files">Newer files');
    for (const page of [first, second]) expect(shownText(page)).toContain("51 of 1000 files used");
  });

  it("shows how to turn on blobs for a site without them", async () => {
    const { alice } = await blobAuthors(["alice"], false);
    const client = await clientOfPerson(alice, [filesRoom]);
    const page = await client.ask("/files", { headers: { cookie: await client.open() } });
    expect(page.text).toContain("set the options blobs: true and host: ");
  });

  it("deletes the files of a killed client, and its own files when it ends", async () => {
    const { alice, client, put, uploaded } = await openedFiles();
    await alice.stop();
    await put([new File(["a list"], "list.txt")]);
    await uploaded();
    expect(workFiles(alice)).toHaveLength(2);
    await client.close();
    expect(workFiles(alice)).toEqual([]);
    const left = join(
      alice.machine.folder,
      "data/eleventy-twtxt/work",
      uniqueName().replace(/\.\d+\.[0-9a-f]+\./, `.${2 ** 22 + 1}.00000000.`),
    );
    mkdirSync(left, { recursive: true });
    await clientOfPerson(alice, [filesRoom]);
    await expect.poll(() => existsSync(left)).toBe(false);
  });

  it("verifies all files, and shows which one is wrong, why, and what to do", async () => {
    const { alice, submit, shown, uploaded } = await openedFiles();
    for (const name of ["one.txt", "two.txt"]) {
      alice.machine.write(name, name);
      await alice.blob("put", name);
    }
    await submit("/files/verify");
    expect(await uploaded()).toContain("2 as you stored them.");
    alice.operator = async (request, answer) => {
      const response = await answer();
      return request.method === "GET" && request.url.endsWith(sha256("two.txt"))
        ? new Response("six.txt", response)
        : response;
    };
    await submit("/files/verify");
    await uploaded();
    const page = await shown();
    expect(page).toContain("1 as you stored them, 1 wrong.");
    expect(page).toMatch(
      /two\.txt .{12} its contents do not match its key.* What to do: Delete it below, then upload your own file again above\./,
    );
  });
});

/** Uploads a file as the page's script does. @returns the status */
async function addFile(
  { client, cookie, csrf }: Pick<OpenedFiles, "client" | "cookie" | "csrf">,
  file: File,
  id: string = randomUUID(),
): Promise<number> {
  const { status } = await fetch(`${client.origin}/files/add?name=${file.name}&visibility=private&clean=yes&id=${id}`, {
    method: "POST",
    headers: { cookie, origin: client.origin, "x-csrf-token": csrf },
    body: file,
  });
  return status;
}
