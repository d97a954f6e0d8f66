import { describe, expect, it } from "vitest";
import { FEED, feedOf, gone, kept, proven, verifier } from "../../helpers/verifier.js";
import { feed, page, siteWith } from "../send/bobs-site.js";

const AT = "2026-01-02T03:04:05Z";
const EARLIER = "2026-01-01T00:00:00Z hello";
const LATER = "2026-01-03T00:00:00Z hello";

describe("an archive", () => {
  const mention = `@<alice ${FEED}>`;
  const LAST_YEAR = "2025-06-01T00:00:00Z";

  it("is searched if the feed has no older twt; identity and author come from the feed", async () => {
    const bob = await siteWith(() => ({
      "/u/tw.txt": feed(feedOf([EARLIER], "# nick = bob\n# prev = abcdefg tw-2025.txt\n")),
      "/u/tw-2025.txt": feed(feedOf(["2025-07-01T00:00:00Z x"], "# nick = archive\n# prev = bcdefgh tw/2024.txt\n")),
      "/u/tw/2024.txt": feed(feedOf(["2024-01-01T00:00:00Z x", `${LAST_YEAR} ${mention}`], "")),
    }));
    expect(await verifier([bob])(`${bob.url}/u/tw.txt#:~:text=${LAST_YEAR}`)).toMatchObject(
      proven({ identity: `${bob.url}/u/tw.txt`, instant: LAST_YEAR, author: { name: "bob" }, text: mention }),
    );
    expect(bob.requests).toEqual(["/u/tw.txt", "/u/tw-2025.txt", "/u/tw/2024.txt"]);
  });

  it.each([
    ["newest last", [EARLIER, LATER]],
    ["newest first", [LATER, EARLIER]],
  ])("is not requested if the feed has an older twt, %s", async (_, twts) => {
    const bob = await siteWith(() => ({ "/tw.txt": feed(feedOf(twts, "# prev = abcdefg tw-2025.txt\n")) }));
    expect(await verifier([bob])(`${bob.url}/tw.txt#:~:text=${AT}`)).toEqual(gone("no-such-twt"));
    expect(bob.requests).toEqual(["/tw.txt"]);
  });

  it("is not requested if the feed has the twt without the mention", async () => {
    const bob = await siteWith(() => ({ "/tw.txt": feed(feedOf([`${AT} x`], "# prev = abcdefg tw-2025.txt\n")) }));
    expect(await verifier([bob])(`${bob.url}/tw.txt#:~:text=${AT}`)).toEqual(gone("no-such-mention"));
    expect(bob.requests).toEqual(["/tw.txt"]);
  });

  it("ends the search if it has no earlier archive", async () => {
    const bob = await siteWith(() => ({
      "/tw.txt": feed(feedOf([EARLIER], "# prev = abcdefg tw-2025.txt\n")),
      "/tw-2025.txt": feed(feedOf(["2025-07-01T00:00:00Z x"])),
    }));
    expect(await verifier([bob])(`${bob.url}/tw.txt#:~:text=${LAST_YEAR}`)).toEqual(gone("no-such-twt"));
  });

  it("is read if it is among the first ten parts of the feed", async () => {
    const part = (n: number) => feedOf([`2025-12-${30 - n}T00:00:00Z x`], `# prev = abcdefg ${n + 1}.txt\n`);
    const bob = await siteWith(() =>
      Object.fromEntries([...Array(20).keys()].map((n) => [`/${n}.txt`, feed(part(n))])),
    );
    expect(await verifier([bob])(`${bob.url}/0.txt#:~:text=${LAST_YEAR}`)).toEqual(kept("no-such-twt"));
    expect(bob.requests).toHaveLength(10);
  });

  it.each([
    ["leads back to the feed", "tw.txt", 1],
    ["leads back to a part of the feed", "tw.txt#x", 1],
    ["leads to itself", "a.txt", 2],
    ["is missing", "gone.txt", 2],
    ["is a page", "page.html", 2],
    ["has an invalid URL", "http://[", 1],
    ["is on another origin", "http://127.0.0.1:1/a.txt", 1],
  ])("that %s does not prove that the twt is gone", async (_, name, count) => {
    const bob = await siteWith(() => ({
      "/tw.txt": feed(feedOf([EARLIER], `# prev = abcdefg ${name}\n`)),
      "/a.txt": feed(feedOf([EARLIER], "# prev = abcdefg a.txt\n")),
      "/page.html": page("<p>hello"),
    }));
    expect(await verifier([bob])(`${bob.url}/tw.txt#:~:text=${LAST_YEAR}`)).toEqual(kept("no-such-twt"));
    expect(bob.requests).toHaveLength(count);
  });

  it("unreachable: an archive that responds with 503", async () => {
    const bob = await siteWith(() => ({
      "/tw.txt": feed(feedOf([EARLIER], "# prev = abcdefg a.txt\n")),
      "/a.txt": { status: 503 },
    }));
    expect(await verifier([bob])(`${bob.url}/tw.txt#:~:text=${LAST_YEAR}`)).toMatchObject({ outcome: "unreachable" });
  });
});
