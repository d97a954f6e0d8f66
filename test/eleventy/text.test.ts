import { describe, expect, it } from "vitest";
import type { Post } from "../../plugin/options.js";
import { textOfPost } from "../../plugin/text/text-from-post.js";
import { post, site } from "../helpers/site.js";

describe("the default text of a post", () => {
  it("is title, summary and permalink for a titled post", async () => {
    const built = await site({
      files: {
        "a.md": post(
          {
            title: "First",
            summary: "In short",
            description: "Boilerplate",
            tags: "posts",
            date: "2024-01-02T03:04:05Z",
          },
          "Body",
        ),
      },
    });
    expect(built.read("twtxt.txt")).toBe(
      "# nick = alice\n# url = https://alice.example/twtxt.txt\n\n2024-01-02T03:04:05Z\tFirst: In short https://alice.example/a/\n",
    );
  });
});

describe("the text of a note", () => {
  const note = { data: {}, inputPath: "./a.md" } as Post;
  const loaded = new Error("The parser is loaded.");
  const textOf = (body: string) =>
    textOfPost(note, {
      settings: { follow: [], nick: "alice" },
      feedUrl: "https://alice.example/twtxt.txt",
      permalink: "https://alice.example/a/",
      body: () => body,
      html: () => {
        throw loaded;
      },
      resolve: (link) => link,
      linkBlobs: (text) => text,
      onUnknownMention: () => {},
      pictures: [{ url: "https://alice.example/leaf.jpg", alt: "A leaf" }],
    });

  it("does not load the HTML parser for plain HTML", () => {
    expect(textOf("<p>Hello <em>river</em>.</p>\n")?.text).toBe(
      "Hello *river*.\u2028\u2028![A leaf](https://alice.example/leaf.jpg)",
    );
  });

  it("is read with the HTML parser for other HTML", () => {
    expect(() => textOf("<table><tr><td>Hello</table>")).toThrow(loaded);
  });
});
