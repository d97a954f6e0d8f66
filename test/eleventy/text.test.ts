import { describe, expect, it } from "vitest";
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
