import { beforeAll, describe, expect, it } from "vitest";
import { readPictures } from "../../plugin/eleventy/posts/pictures.js";
import { type BuiltSite, site } from "../helpers/site.js";
import { quoted, textAt } from "./read-build.js";

const LS = "\u2028";
const HTTPS = "https://alice.example";
const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";

describe("pictures in front matter", () => {
  it.each([
    ["a string", { photo: "/a.jpg" }, [{ url: "/a.jpg", alt: "" }]],
    ["the name of a file", { image: " a.jpg " }, [{ url: "a.jpg", alt: "" }]],
    [
      "a list",
      { photo: ["/a.jpg", { value: "/b.jpg", alt: " B " }], featured: "/c.jpg" },
      ["/a.jpg", "/b.jpg B", "/c.jpg"],
    ],
    [
      "value, url or src",
      { photo: { value: "/a.jpg" }, image: { url: "/b.jpg" }, featured: { src: "/c.jpg", alt: "C" } },
      ["/a.jpg", "/b.jpg", "/c.jpg C"],
    ],
    ["a blob", { photo: "blob:a.jpg" }, ["blob:a.jpg"]],
  ])("are read from %s", (_, frontMatter, pictures) => {
    const expected = pictures.map((one) => (typeof one === "string" ? toPicture(one) : one));
    expect(readPictures(frontMatter)).toEqual(expected);
  });

  it.each([
    { featured: true },
    { featured: "yes" },
    { image: "hero" },
    { photo: ["", null, 7, {}, [], { alt: "none" }, { url: 7 }] },
    { photo: "data:image/png;base64,AAAA" },
    { photo: "javascript:alert(1)/x.jpg" },
    { title: "/a.jpg" },
  ])("are not read from %j", (frontMatter) => {
    expect(readPictures(frontMatter)).toEqual([]);
  });
});

describe("a note with pictures in its front matter", () => {
  const cases: [name: string, data: Record<string, unknown>, body: string, text: string | null][] = [
    ["photo", { photo: "/a b.jpg" }, "Hello.", `Hello.${LS}${LS}![](${HTTPS}/a%20b.jpg)`],
    [
      "photos",
      {
        photo: [{ value: "https://cdn.example/a.jpg", alt: "A [*cat*]\nand @<bob https://b.example/t>" }],
        image: "b.jpg",
      },
      "Hello.",
      `Hello.${LS}${LS}![A \\[\\*cat\\*\\] and @\\<bob https://b.example/t>](https://cdn.example/a.jpg)${LS}${LS}![](${HTTPS}/photos/b.jpg)`,
    ],
    ["alone", { photo: { url: "/a.jpg", alt: "Quinces" } }, "", `![Quinces](${HTTPS}/a.jpg)`],
    ["shown", { photo: "/a.jpg" }, "Look: ![Mine](/a.jpg)", `Look: ![Mine](${HTTPS}/a.jpg)`],
    ["linked", { photo: ["/a.jpg", "/b.jpg"] }, `<${HTTPS}/a.jpg>`, `${HTTPS}/a.jpg${LS}${LS}![](${HTTPS}/b.jpg)`],
    [
      "twice",
      { photo: "/a.jpg", image: { src: `${HTTPS}/a.jpg`, alt: "again" } },
      "Hello.",
      `Hello.${LS}${LS}![](${HTTPS}/a.jpg)`,
    ],
    ["blob", { photo: "blob:a.jpg" }, "Hello.", `Hello.${LS}${LS}![](${HTTPS}/shared/${KEY}/a.jpg)`],
    ["full", { photo: "/a.jpg", twt: "full" }, "Hello.", `Hello.${LS}${LS}![](${HTTPS}/a.jpg)`],
    [
      "reply",
      { photo: "/a.jpg", replyTo: "abcdefg https://bob.example/t" },
      "",
      `(#abcdefg) @<bob.example https://bob.example/t> ![](${HTTPS}/a.jpg)`,
    ],
    ["words", { photo: "/a.jpg", twt: "My words" }, "Hello.", "My words"],
    ["none", {}, "Hello.", "Hello."],
    ["titled", { title: "Title", photo: "/a.jpg" }, "Hello.", `Title: ${HTTPS}/titled/`],
    ["titled-full", { title: "Title", photo: "/a.jpg", twt: "full" }, "Hello.", "Hello."],
    ["cards/of-the-folder", {}, "Hello.", "Hello."],
    ["cards/own", { image: "/own.jpg" }, "Hello.", `Hello.${LS}${LS}![](${HTTPS}/own.jpg)`],
  ];
  let built: BuiltSite;

  beforeAll(async () => {
    const files = cases.map(([name, data, body], second) => [
      `${name}.md`,
      quoted({ ...data, date: at(second), tags: ["posts"], layout: "default.njk" }, body),
    ]);
    built = await site({
      files: {
        ...Object.fromEntries(files),
        "cards/cards.json": `{ "image": "/card.jpg", "photo": ["/card.jpg"] }`,
        "_includes/default.njk": "---\nfeatured: /default.jpg\n---\n{{ content | safe }}",
        "_data/photo.json": `"/global.jpg"`,
      },
      options: `{ host: "node", mentions: false, key: "${KEY}", blobs: true }`,
    });
  });

  it.each(cases.map(([name, , , text], second) => ({ name, second, text })))("$name", ({ second, text }) => {
    expect(textAt(built, at(second))).toBe(text);
  });
});

function at(second: number): string {
  return `2024-01-02T03:04:${String(second).padStart(2, "0")}Z`;
}

function toPicture(text: string): { url: string; alt: string } {
  const [url = "", alt = ""] = text.split(" ");
  return { url, alt };
}
