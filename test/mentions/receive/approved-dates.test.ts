import { describe, expect, it } from "vitest";
import { decideFirst } from "../../helpers/decide-first.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { FEED, feedServer, PAGE, receiver } from "../../helpers/receiver.js";

/** A page of Bob about the post, whose date and link a test may change. */
async function bobsPage(published: string) {
  const state = { published, link: "https://bob.example/quinces" };
  const server = await loopbackServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(
      `<!doctype html><title>x</title><div class="h-entry"><a class="u-in-reply-to" href="${PAGE}">re</a>
<time class="dt-published" datetime="${state.published}"></time><div class="e-content">See <a href="${state.link}">this</a></div></div>`,
    );
  });
  return Object.assign(state, server);
}

const approve = async (alice: ReturnType<typeof receiver>) => {
  await decideFirst(alice.store, "shown");
  alice.clock.time += 60_000;
};

describe("the date of a mention", () => {
  it("waits for a new approval when it changes", async () => {
    const bob = await bobsPage("2026-11-19T18:40:02Z");
    const alice = receiver({ neighbours: [bob], mentions: { moderate: true } });
    const tell = () => alice.mentioned({ source: `${bob.url}/`, target: PAGE });
    await tell();
    await approve(alice);
    expect(await alice.mentions()).toMatchObject([{ published: "2026-11-19T18:40:02Z" }]);
    await tell();
    expect(await alice.mentions()).toHaveLength(1);
    bob.published = "2026-11-18T18:40:02Z";
    await tell();
    expect(await alice.mentions()).toEqual([]);
  });

  it.each(["2099-01-02T03:04:05Z", "2026-11-20T09:00:01Z"])(
    "is not shown if it is %s, after the mention was received, and not later either",
    async (published) => {
      const bob = await bobsPage(published);
      const alice = receiver({ neighbours: [bob], mentions: { moderate: true } });
      const tell = () => alice.mentioned({ source: `${bob.url}/`, target: PAGE });
      await tell();
      await approve(alice);
      expect(await alice.mentions()).toMatchObject([{ published: null, received: "2026-11-20T09:00:00.000Z" }]);
      alice.clock.time = Date.parse("2100-01-02T03:04:05Z");
      await tell();
      expect(await alice.mentions()).toMatchObject([{ published: null }]);
    },
  );

  it("is shown if it is the second in which the mention was received", async () => {
    const bob = await feedServer({ "2026-11-20T09:00:00Z": `@<alice ${FEED}> hello` });
    const alice = receiver({ neighbours: [bob] });
    alice.clock.time += 1;
    await alice.mentioned({ source: bob.twt("2026-11-20T09:00:00Z"), target: FEED });
    expect(await alice.mentions()).toMatchObject([{ published: "2026-11-20T09:00:00Z" }]);
  });
});
