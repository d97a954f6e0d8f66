import { describe, expect, it } from "vitest";
import { twtHashes } from "../../../plugin/feed/hash.js";
import type { SitePages } from "../../../plugin/site/site.js";
import { decideFirst } from "../../helpers/decide-first.js";
import { feedServer, PAGES, receiver, TWT } from "../../helpers/receiver.js";

const OLD = "https://old.example";
const NEW = "https://alice.example";
const AT = "2026-11-19T18:40:02Z";
const PATH = "/posts/quinces/";

/** Alice's site at its earlier domain, and the same site after the move. */
const OLD_PAGES: SitePages = {
  feeds: [`${OLD}/twtxt.txt`],
  pages: [`${OLD}/`, `${OLD}${PATH}`],
  twts: [{ ...TWT, page: `${OLD}${PATH}` }],
};
const MOVED: SitePages = { ...PAGES, feeds: [`${NEW}/twtxt.txt`, `${OLD}/twtxt.txt`], origins: [OLD] };

/** Bob has mentioned a page of the earlier domain. */
async function beforeTheMove(text = `see ${OLD}${PATH}`) {
  const bob = await feedServer({ [AT]: text });
  const old = receiver({ neighbours: [bob], pages: OLD_PAGES });
  const tell = (alice = old, target = `${OLD}${PATH}`) => alice.mentioned({ source: bob.twt(AT), target });
  expect(await tell()).toMatchObject({ status: 200 });
  const moved = (pages = MOVED) => {
    const alice = receiver({ neighbours: [bob], pages, store: old.store });
    alice.clock.time += 3600_000;
    return alice;
  };
  return { bob, old, tell, moved };
}

describe("a site that has moved to another domain", () => {
  it("lists its mentions under the new URLs of their pages, asked for by either URL", async () => {
    const { moved } = await beforeTheMove();
    const alice = moved();
    for (const target of [`${NEW}${PATH}`, `${OLD}${PATH}`, `http://OLD.example${PATH}index.html`]) {
      expect(await alice.mentions(target)).toMatchObject([{ target: `${NEW}${PATH}` }]);
    }
    expect(await moved(PAGES).mentions()).toMatchObject([{ target: `${OLD}${PATH}` }]);
  });

  it.each([`${NEW}${PATH}`, `${OLD}${PATH}`])(
    "updates a mention from before the move that is told for %s, and removes it",
    async (target) => {
      const { bob, tell, moved } = await beforeTheMove();
      const alice = moved();
      bob.twts = { [AT]: `see ${target}, really` };
      expect(await tell(alice, target)).toMatchObject({ status: 200 });
      expect(await alice.mentions()).toMatchObject([{ target: `${NEW}${PATH}`, text: `see ${target}, really` }]);
      bob.twts = { [AT]: "nothing" };
      expect(await tell(alice, target)).toMatchObject({ status: 200 });
      expect(await alice.mentions()).toEqual([]);
    },
  );

  it("keeps what was rejected before the move rejected, and a decision that was not yet compacted", async () => {
    const { old, tell, moved } = await beforeTheMove();
    await decideFirst(old.store, "rejected");
    const alice = moved();
    expect(await alice.mentions()).toEqual([]);
    expect(await tell(alice, `${NEW}${PATH}`)).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toEqual([]);
  });

  it("keeps its mentions under its pages when the alias is removed, after the jobs ran with it", async () => {
    const { old, moved } = await beforeTheMove();
    for (let n = 0; n < 3; n += 1) await old.services.runScheduled();
    await moved().services.runScheduled();
    expect(await moved(PAGES).mentions(`${NEW}${PATH}`)).toMatchObject([{ target: `${NEW}${PATH}` }]);
  });

  it("verifies links to the earlier domain, and refuses its own earlier pages as sources", async () => {
    const bob = await feedServer({ [AT]: `@<alice ${OLD}/twtxt.txt> hello` });
    const alice = receiver({ neighbours: [bob], pages: MOVED });
    expect(await alice.mentioned({ source: bob.twt(AT), target: `${NEW}/twtxt.txt` })).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toMatchObject([{ target: `${NEW}/twtxt.txt` }]);
    expect(await alice.mentioned({ source: `${OLD}/about/`, target: `${NEW}${PATH}` })).toMatchObject({
      status: 400,
      code: "bad-source",
    });
  });

  it("400 not-our-target: a domain that only starts like the earlier one", async () => {
    const { tell, moved } = await beforeTheMove();
    expect(await tell(moved(), `${OLD}.evil.example${PATH}`)).toMatchObject({ status: 400, code: "not-our-target" });
  });

  it("finds the post that an answer names by the hash at the earlier domain", async () => {
    const { v1, v2 } = twtHashes(`${OLD}/twtxt.txt`, { timestamp: TWT.timestamp, text: "quinces" });
    const bob = await feedServer({ [AT]: `(#${v1}) @<alice ${NEW}/twtxt.txt> hello` });
    const twts = [{ ...TWT, hashes: [...TWT.hashes, v1, v2] }];
    const alice = receiver({ neighbours: [bob], pages: { ...MOVED, twts } });
    await alice.mentioned({ source: bob.twt(AT), target: `${NEW}/twtxt.txt` });
    expect(await alice.mentions(`${NEW}${PATH}`)).toMatchObject([{ under: `${NEW}${PATH}` }]);
  });
});
