import { describe, expect, it } from "vitest";
import { HOST_FILE, parsePublishedSite } from "../../plugin/site/site.js";
import { buildSite, post } from "../helpers/site.js";
import { projectFile } from "./read-build.js";

const folder = `{ "tags": "posts", "image": "/site.png" }`;
const TWT = "abcdefghijkl https://bob.example/twtxt.txt";
const dated = { date: "2026-03-04T05:06:07Z" };

describe("the copies that a build leaves for its host", () => {
  it("are those of posts whose front matter, or the option, names a network", async () => {
    const files = {
      "posts/posts.json": folder,
      "posts/jelly.md": post({ ...dated, title: "Jelly", summary: "Ten jars", photo: "/jars.jpg", lang: "de" }),
      "posts/note.md": post({ date: "2026-03-05", syndicate: "mastodon" }, "Ripe: ![Quinces](/quinces.jpg)"),
      "posts/warned.md": post({
        date: "2026-03-06",
        title: "Knives",
        summary: "Sharp",
        sensitive: "true",
        syndicate: "[bluesky]",
      }),
      "posts/answer.md": post({ date: "2026-03-07", replyTo: "https://mastodon.example/@bob/1" }, "Thanks!"),
      "posts/twt.md": post({ date: "2026-03-07T01:00:00Z", replyTo: TWT }, "Thanks, Bob!"),
      "posts/chosen.md": post({ date: "2026-03-07T02:00:00Z", replyTo: TWT, syndicate: "mastodon" }, "For all"),
      "posts/mine.md": post({ date: "2026-03-08", title: "Mine", syndicate: "false" }),
    };
    const options = `{ host: "node", syndicate: ["mastodon", "bluesky"] }`;
    const { pages } = parsePublishedSite(projectFile(await buildSite({ files, options }), HOST_FILE) ?? "");
    const picture = (name: string, alt: string) => ({ url: `https://alice.example/${name}`, alt });
    expect(Object.fromEntries(pages.twts.map(({ page, copy }) => [page?.split("/").at(-2), copy]))).toEqual({
      jelly: {
        networks: ["mastodon", "bluesky"],
        lang: "de",
        title: "Jelly",
        description: "Ten jars",
        pictures: [picture("jars.jpg", "")],
      },
      note: { networks: ["mastodon"], pictures: [picture("quinces.jpg", "Quinces")] },
      warned: { networks: ["bluesky"], warning: "Sharp", title: "Knives", description: "Sharp" },
      answer: { networks: ["mastodon", "bluesky"], replyTo: "https://mastodon.example/@bob/1" },
      twt: undefined,
      chosen: { networks: ["mastodon"] },
      mine: undefined,
    });
  });

  it("need the name of a known network", async () => {
    const files = { "posts/posts.json": folder, "posts/a.md": post({ ...dated, title: "A", syndicate: "twitter" }) };
    const { exitCode, log } = await buildSite({ files });
    expect([
      exitCode,
      log.includes('posts/a.md: expected syndicate: ["mastodon", "bluesky"], one of them, or false, got "twitter".'),
    ]).toEqual([1, true]);
  });
});
