import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { namedPictures, timelineRoom } from "../../plugin/client/timeline/timeline-room.js";
import { blog } from "../cli/helpers.js";
import { environmentOf } from "../cli/machine.js";
import { describeInChromium } from "../helpers/chromium.js";
import { eventually } from "../helpers/eventually.js";
import { loopbackServer } from "../helpers/loopback.js";
import { openTab } from "../helpers/tabs.js";
import { startedClient } from "./client.js";
import { expectAccessible } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText, visitorOf } from "./visitor.js";

const PHOTO = readFileSync(new URL("../pictures/files/phone.jpg", import.meta.url));
const PNG = readFileSync(new URL("../pictures/files/text.png", import.meta.url));

/** A PNG whose header states 30,000 × 30,000 pixels. */
function bomb(): Buffer {
  const bytes = Buffer.from(PNG);
  bytes.writeUInt32BE(30_000, 16);
  bytes.writeUInt32BE(30_000, 20);
  return bytes;
}

/** Alice, who follows Bob. His server has pictures; her machine has another server that he must not reach. */
async function readerOfPictures() {
  const requests: string[] = [];
  const secret = await loopbackServer((_, response) => {
    requests.push("secret");
    response.end(PNG);
  });
  const bodies: Record<string, string | Buffer> = {
    "/photo.jpg": PHOTO,
    "/page.png": `${PNG.toString("latin1", 0, 8)}<html><script>alert(1)</script>`,
    "/drawing.png": '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "/huge.png": Buffer.alloc(11 * 2 ** 20, PNG),
    "/bomb.png": bomb(),
  };
  const server = await loopbackServer((request, response) => {
    const path = request.url ?? "";
    requests.push(path);
    if (path === "/away.png") return response.writeHead(302, { location: `${secret.url}/a.png` }).end();
    response.writeHead(bodies[path] === undefined ? 404 : 200, { "content-type": "image/png" }).end(bodies[path]);
  });
  const names = ["photo.jpg", "page.png", "drawing.png", "huge.png", "bomb.png", "away.png", "gone.png"];
  const images = [...names.map((name) => `${server.url}/${name}`), `${secret.url}/a.png`];
  const lines = images.map((url, i) => `2026-11-18T08:00:0${i}Z\tSee ![number ${i}](${url} "Title")\n`);
  bodies["/bob.txt"] = `# nick = bob\n${lines.join("")}`;
  const file = "_data/follow.json";
  const { folder } = blog(
    { url: server.url, feedUrl: `${server.url}/alice.txt`, followed: { file, option: [] } },
    { [file]: JSON.stringify([{ nick: "bob", url: `${server.url}/bob.txt` }]) },
  );
  const client = await startedClient({ rooms: [timelineRoom], folder, environment: environmentOf(folder) });
  return { client, requests };
}

describe("pictures from other sites", () => {
  it("are links with their descriptions, and are not requested before the author opens them", async () => {
    const { client, requests } = await readerOfPictures();
    const visitor = await visitorOf(client, "/timeline");
    await eventually(async () => expect((await visitor.get("/timeline")).text).toMatch(/Read \d/));
    const { text } = await visitor.get("/timeline");
    expect(shownText(text)).toContain("Show picture: number 0");
    expect(text).not.toContain("<img");
    expect(requests.filter((path) => path !== "/bob.txt" && path !== "/alice.txt")).toEqual([]);
  });

  it("are served by the client without metadata, and only if they are safe pictures", async () => {
    const { client, requests } = await readerOfPictures();
    const visitor = await visitorOf(client, "/timeline");
    await eventually(async () => expect((await visitor.get("/timeline")).text).toMatch(/Read \d/));
    const { text } = await visitor.get("/timeline");
    const linkOf = (number: number) => {
      const link = new RegExp(`href="([^"]+)" data-picture="number ${number}"`).exec(text)?.[1] ?? "";
      return link.replaceAll("&amp;", "&");
    };
    const photo = await visitor.get(linkOf(0));
    expect(photo.status).toBe(200);
    expect(photo.headers.get("content-type")).toBe("image/jpeg");
    expect(photo.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(photo.text).not.toContain("SECRET");

    const reasons = [
      "no complete picture",
      "no complete picture",
      "",
      "30000 × 30000",
      "not public",
      "404",
      "not public",
    ];
    for (const [index, reason] of reasons.entries()) {
      const answer = await visitor.get(linkOf(index + 1));
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers.get("content-type")).toContain("text/html");
      expect(shownText(answer.text)).toContain(reason);
    }
    expect(requests).not.toContain("secret");
  });

  it("404 without a request for a picture that no twt of the timeline links to", async () => {
    const { client, requests } = await readerOfPictures();
    const visitor = await visitorOf(client, "/timeline");
    await eventually(async () => expect((await visitor.get("/timeline")).text).toMatch(/Read \d/));
    const [link = ""] = /\/timeline\/picture\/[^"]+/.exec((await visitor.get("/timeline")).text) ?? [];
    const url = encodeURIComponent("http://127.0.0.1:9/photo.jpg");
    for (const path of [`/timeline/picture/${url}/0`, `${link}1`, `${link}/${url}`, `/timeline/picture?url=${url}`]) {
      expect(await visitor.get(path)).toMatchObject({ status: 404 });
    }
    expect(requests).not.toContain("/photo.jpg");
  });

  it("are those with a web address, at most eight for a text, each once", () => {
    const text = "![a](https://a.example/1.png) ![](data:image/png;base64,AA) ![b](https://a.example/1.png) `![c](x)`";
    expect(namedPictures(text)).toEqual([{ url: "https://a.example/1.png", description: "b" }]);
    const many = Array.from({ length: 20 }, (_, i) => `![${i}](https://a.example/${i}.png)`).join(" ");
    expect(namedPictures(many)).toHaveLength(8);
  });
});

describeInChromium("pictures from other sites, in a browser", () => {
  it("do not move the focus if the author has moved it before they arrive", async () => {
    const { client } = await readerOfPictures();
    const tab = await openPage(client, "/timeline");
    await tab.getByText(/^Read \d/).waitFor();
    const link = tab.getByRole("link", { name: "Show picture: number 0" });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await tab.route(`${client.origin}${await link.getAttribute("href")}`, async (route) => {
      await released;
      await route.continue();
    });
    await link.click();
    const button = tab.getByRole("button", { name: "Read again" });
    await button.focus();
    release();
    await tab.getByRole("img", { name: "number 0" }).waitFor();
    expect(await button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  });

  it("appear on the page, stay when it is updated, and link to the reason if they cannot be shown", async () => {
    const { client } = await readerOfPictures();
    const tab = await openPage(client, "/timeline", openTab({ viewport: { width: 390, height: 844 } }));
    await tab.getByText(/^Read \d/).waitFor();
    await tab.getByRole("link", { name: "Show picture: number 0" }).click();
    const picture = tab.getByRole("img", { name: "number 0" });
    await picture.waitFor();
    expect(await tab.evaluate("document.querySelector('[data-shown]').naturalWidth")).toBeGreaterThan(0);
    await expectAccessible(tab, "picture");
    const updated = tab.waitForResponse((response) => response.url().endsWith("/timeline"));
    await tab.evaluate('document.dispatchEvent(new Event("twtxt:news"))');
    await updated;
    await picture.waitFor();
    await tab.getByRole("link", { name: "Show picture: number 1" }).click();
    await tab.getByText("no complete picture").waitFor();
  });
});
