import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decideFirst } from "../../helpers/decide-first.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { FEED, PAGE, type ReceiverOptions, receiver, TWT } from "../../helpers/receiver.js";

const AT = "2026-11-19T18:40:02Z";
const HELLO = `@<alice ${FEED}> hello`;
const QUERY = "?1";

/** A host that serves these files for any spelling, query or path parameter of their URLs. */
async function hostOf(files: Record<string, string | (() => string)>) {
  const state = { files, status: 200 };
  const server = await loopbackServer((request, response) => {
    const { pathname } = new URL(`http://x${request.url}`);
    const path = decodeURIComponent(pathname)
      .replace(/;.*$/, "")
      .replace(/\/{2,}/g, "/");
    const file = state.files[path];
    const isFound = file !== undefined && state.status === 200;
    const type = path.endsWith(".txt") ? "text/plain" : "text/html";
    response.writeHead(isFound ? 200 : state.status === 200 ? 404 : state.status, {
      "content-type": `${type}; charset=utf-8`,
    });
    response.end(isFound ? (typeof file === "string" ? file : file()) : "");
  });
  return Object.assign(state, server);
}

const feedOf = (text: string, header = "") => `# nick = bob\n${header}\n${AT}\t${text}\n`;

async function aliceAndBob(text = HELLO, options: ReceiverOptions = {}, header = "") {
  const bob = await hostOf({});
  bob.files = { "/bob.txt": feedOf(text, header.replaceAll("BOB", bob.url)) };
  const alice = receiver({ neighbours: [bob], ...options });
  const send = (path: string, target = FEED) => alice.mentioned({ source: `${bob.url}${path}#:~:text=${AT}`, target });
  return { alice, bob, send };
}

/** Alice rejects the first mention. */
async function reject({ store, clock }: ReturnType<typeof receiver>): Promise<void> {
  await decideFirst(store, "rejected");
  clock.time += 60_000;
}

const SPELLINGS = [
  "/bob.txt?1",
  "/bob.txt?2&x=%20",
  "//bob.txt",
  "/%2e/bob%2etxt",
  "/x/../bob.txt",
  "/%62ob.txt",
  // Only the feed itself tells that this is another spelling.
  "/bob.txt;1",
];

describe("a source whose URL has several spellings", () => {
  it.each([
    ["first", ["/bob.txt", ...SPELLINGS]],
    ["last", [...SPELLINGS.slice(0, -1), "/bob.txt"]],
  ])("200: is stored and counted once, with its own URL %s", async (_, paths) => {
    const { alice, bob, send } = await aliceAndBob(HELLO, { mentions: { limits: { shownPerHost: 2 } } });
    for (const path of paths) expect(await send(path)).toMatchObject({ status: 200 });
    expect(await alice.store.keys("mentions/events/")).toHaveLength(1);
    expect(await alice.mentions()).toMatchObject([
      { source: `${bob.url}/bob.txt#:~:text=${AT}`, author: { url: `${bob.url}/bob.txt` } },
    ]);

    const later = AT.replace("02Z", "03Z");
    bob.files = { "/bob.txt": `${feedOf(HELLO)}${later}\t${HELLO} again\n` };
    const next = await alice.mentioned({ source: `${bob.url}/bob.txt#:~:text=${later}`, target: FEED });
    expect(next).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toHaveLength(2);
  });

  it("200: stays rejected when it is sent with any spelling", async () => {
    const { alice, send } = await aliceAndBob();
    await send("/bob.txt");
    await reject(alice);
    for (const path of SPELLINGS) {
      expect(await send(path)).toMatchObject({ status: 200 });
      expect(await alice.mentions(), path).toEqual([]);
    }
  });

  it("200: stays rejected after an edit, when sent with another spelling of the feed's declared URL", async () => {
    const { alice, bob, send } = await aliceAndBob(HELLO, {}, "# url = BOB/bob.txt\n");
    await send("/bob.txt;1");
    expect(await alice.mentions()).toMatchObject([{ source: `${bob.url}/bob.txt#:~:text=${AT}` }]);
    bob.files = { "/bob.txt": feedOf(`${HELLO}, edited`, `# url = ${bob.url}/bob.txt\n`) };
    await send("/bob.txt;2");
    expect(await alice.mentions()).toMatchObject([{ text: `${HELLO}, edited` }]);
  });

  it("400 blocked: a blocked feed and a blocked host with any spelling, which are not requested", async () => {
    const bob = await hostOf({ "/bob.txt": feedOf(HELLO) });
    const neighbours = [bob.host, `localhost:${bob.port}`, `localhost.:${bob.port}`].map((host) => ({ host }));
    const alice = receiver({ neighbours, mentions: { block: [`${bob.url}/bob.txt`, "localhost"] } });
    for (const url of [
      ...SPELLINGS.slice(0, -1).map((path) => bob.url + path),
      ...["", ".", "..", "...", "...."].map((dots) => `http://localhost${dots}:${bob.port}/bob.txt`),
    ]) {
      const answer = await alice.mentioned({ source: `${url}#:~:text=${AT}`, target: FEED });
      expect(answer, url).toMatchObject({ status: 400, code: "blocked" });
    }
    expect(bob.requests).toEqual([]);
  });

  it("400 blocked: a feed whose declared URL is blocked", async () => {
    const bob = await hostOf({});
    bob.files = { "/bob.txt": feedOf(HELLO, `# url = ${bob.url}/bob.txt\n`) };
    const alice = receiver({ neighbours: [bob], mentions: { block: [`${bob.url}/bob.txt`] } });
    const source = `${bob.url}/bob.txt;1#:~:text=${AT}`;
    expect(await alice.mentioned({ source, target: FEED })).toMatchObject({ status: 400, code: "blocked" });
    expect(await alice.mentions()).toEqual([]);
  });

  it("200: is removed if its own URL confirms it, not by another spelling with 404", async () => {
    const { alice, bob, send } = await aliceAndBob();
    await send(`/bob.txt${QUERY}`);
    bob.files = { "/bob.txt": () => (bob.requests.at(-1)?.includes("?") ? feedOf("hello") : feedOf(HELLO)) };
    expect(await send(`/bob.txt${QUERY}`)).toMatchObject({ status: 400, code: "no-such-mention" });
    expect(await alice.mentions()).toHaveLength(1);

    bob.files = { "/bob.txt": () => (bob.requests.at(-1)?.startsWith("//") ? feedOf("hello") : feedOf(HELLO)) };
    expect(await send("//bob.txt")).toMatchObject({ status: 400, code: "no-such-mention" });
    expect(await alice.mentions()).toHaveLength(1);

    bob.files = { "/bob.txt": feedOf("hello") };
    expect(await send(`/bob.txt${QUERY}`)).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toEqual([]);
  });

  it("400: one request verifies at most one other URL, even if the given URL has led to many", async () => {
    const eve = await loopbackServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://x");
      if (pathname === "/gone") response.writeHead(404).end();
      else if (pathname === "/x") response.writeHead(302, { location }).end();
      else response.end(feedOf(`${HELLO} from ${pathname}`));
    });
    const alice = receiver({ neighbours: [eve] });
    const send = () => alice.mentioned({ source: `${eve.url}/x#:~:text=${AT}`, target: FEED });
    let location = "";
    for (const path of ["/1", "/2", "/3", "/4", "/5"]) {
      location = path;
      expect(await send()).toMatchObject({ status: 200 });
    }
    location = "/gone";
    const before = eve.requests.length;
    expect(await send()).toMatchObject({ status: 400 });
    expect(eve.requests.slice(before)).toEqual(["/x", "/gone", "/1"]);
    expect(await alice.mentions()).toHaveLength(5);
  });

  it("200: two feeds from one script remain separate", async () => {
    const twts: Record<string, string> = { bob: `${HELLO} from bob`, carol: `${HELLO} from carol` };
    const pod = await loopbackServer((request, response) => {
      const user = new URL(request.url ?? "/", "http://x").searchParams.get("user") ?? "";
      response.end(user in twts ? feedOf(twts[user] ?? "") : "# nick = pod\n");
    });
    const alice = receiver({ neighbours: [pod] });
    for (const user of ["bob", "carol"]) {
      await alice.mentioned({ source: `${pod.url}/feed?user=${user}#:~:text=${AT}`, target: FEED });
    }
    expect((await alice.mentions()).map(({ text }) => text).sort()).toEqual([twts.bob, twts.carol]);
  });

  it("200: a declared URL on another host is ignored", async () => {
    const bob = await hostOf({ "/bob.txt": feedOf(HELLO) });
    const mallory = await hostOf({ "/m.txt": feedOf(HELLO, `# url = ${bob.url}/bob.txt\n`) });
    const alice = receiver({ neighbours: [bob, mallory] });
    await alice.mentioned({ source: `${mallory.url}/m.txt#:~:text=${AT}`, target: FEED });
    expect(await alice.mentions()).toMatchObject([{ source: `${mallory.url}/m.txt#:~:text=${AT}` }]);
    expect(bob.requests).toEqual([]);
  });

  it.each([
    ["its canonical URL", '<link rel="canonical" href="/p"><i>NONCE</i>'],
    ["its bytes", ""],
  ])("200: a page is one mention, recognized by %s", async (_, head) => {
    const html = () => `<!doctype html>${head.replace("NONCE", randomUUID())}<a href="${PAGE}">x</a>`;
    const bob = await hostOf({ "/p": html, "/other": `<title>other</title><a href="${PAGE}">x</a>` });
    const alice = receiver({ neighbours: [bob] });
    for (const path of ["/p?1", "/p?utm_source=x", "//p", "/p", "/other"]) {
      expect(await alice.mentioned({ source: `${bob.url}${path}`, target: PAGE })).toMatchObject({ status: 200 });
    }
    expect((await alice.mentions()).map(({ source }) => source).sort()).toEqual([`${bob.url}/other`, `${bob.url}/p`]);
  });

  const BLOG_HEAD = '<link rel="alternate" type="text/plain" href="/bob.txt">';
  const ABOUT_BOTH = `${HELLO}, see ${PAGE}`;
  const blogOf = (text: string) => ({
    "/bob.txt": feedOf(text),
    ...Object.fromEntries(
      ["/", "/tags/", "/p/"].map((path) => [
        path,
        `<title>${path}</title>${BLOG_HEAD}<a href="${PAGE}">x</a><a href="${FEED}">y</a>`,
      ]),
    ),
  });

  it.each([
    ["the twt first", [`/bob.txt#:~:text=${AT}`, "/", "/tags/", "/p/"], [FEED, PAGE]],
    ["pages first", ["/", "/tags/", "/p/", `/bob.txt#:~:text=${AT}`], [FEED, PAGE]],
    ["the post before the feed", ["/p/", "/", `/bob.txt#:~:text=${AT}`], [PAGE, FEED]],
  ])(
    "200: a twt is listed once under a post when twt and pages are sent for feed and post, %s",
    async (_, paths, targets) => {
      const bob = await hostOf(blogOf(ABOUT_BOTH));
      const alice = receiver({ neighbours: [bob] });
      const sendAll = async () => {
        for (const path of paths) {
          for (const target of targets) {
            expect(await alice.mentioned({ source: `${bob.url}${path}`, target })).toMatchObject({ status: 200 });
          }
        }
      };
      await sendAll();
      expect(await alice.mentions(PAGE)).toMatchObject([{ source: `${bob.url}/bob.txt#:~:text=${AT}` }]);
      bob.files = blogOf(`${ABOUT_BOTH} again`);
      await sendAll();
      expect(await alice.mentions()).toMatchObject([{ target: FEED, under: PAGE, text: `${ABOUT_BOTH} again` }]);
    },
  );

  it("200: a rejected twt is not shown for another target or through a page", async () => {
    const bob = await hostOf(blogOf(ABOUT_BOTH));
    const alice = receiver({ neighbours: [bob] });
    await alice.mentioned({ source: `${bob.url}/bob.txt#:~:text=${AT}`, target: FEED });
    await reject(alice);
    await alice.mentioned({ source: `${bob.url}/p/`, target: PAGE });
    bob.files = blogOf(`${ABOUT_BOTH} again`);
    await alice.mentioned({ source: `${bob.url}/bob.txt#:~:text=${AT}`, target: PAGE });
    expect(await alice.mentions()).toEqual([]);
  });

  it("200: another author on the same host cannot replace a twt with the same text", async () => {
    const pod = await hostOf({});
    pod.files = {
      "/bob.txt": feedOf(ABOUT_BOTH),
      "/eve.txt": feedOf(ABOUT_BOTH),
      "/carol.txt": feedOf(ABOUT_BOTH).replace("bob", "carol"),
    };
    const alice = receiver({ neighbours: [pod] });
    for (const [path, target] of [
      ["/bob.txt", PAGE],
      ["/eve.txt", FEED],
      ["/carol.txt", PAGE],
    ] as const) {
      await alice.mentioned({ source: `${pod.url}${path}#:~:text=${AT}`, target });
    }
    expect((await alice.mentions()).map(({ author }) => author.url).sort()).toEqual([
      `${pod.url}/bob.txt`,
      `${pod.url}/carol.txt`,
    ]);
  });

  it("200: pages that differ only in their query remain separate", async () => {
    const bob = await loopbackServer((request, response) => {
      const post = new URL(request.url ?? "/", "http://x").searchParams.get("p") ?? "home";
      response.setHeader("content-type", "text/html");
      response.end(`<title>${post}</title><a href="${PAGE}">x</a>`);
    });
    const alice = receiver({ neighbours: [bob] });
    for (const post of [1, 2]) await alice.mentioned({ source: `${bob.url}/?p=${post}`, target: PAGE });
    expect((await alice.mentions()).map(({ text }) => text).sort()).toEqual(["1", "2"]);
  });
});

/** A page with one entry in Bob's name, which may be forged. */
const entryOf = (feedUrl: string, links: string) =>
  `<!doctype html><title>x</title><div class="h-entry"><a class="p-author h-card" href="${feedUrl}">bob</a>
  <time class="dt-published" datetime="${AT}">x</time>
  <p class="e-content">${HELLO.replaceAll("<", "&lt;").replaceAll(">", "&gt;")}</p>${links}</div>`;

describe("a host with several users", () => {
  const TWT_LINK = `<a href="${FEED}#:~:text=${TWT.timestamp}">x</a>`;

  /** Bob's feed, which declares its own URL, and Eve's files on the same host. */
  async function podWith(files: (pod: string) => Record<string, string>) {
    const pod = await hostOf({});
    const feedUrl = `${pod.url}/~bob/twtxt.txt`;
    pod.files = { "/~bob/twtxt.txt": feedOf(HELLO, `# url = ${feedUrl}\n`), ...files(pod.url) };
    const alice = receiver({ neighbours: [pod] });
    const send = (path: string, target = FEED) => alice.mentioned({ source: `${pod.url}${path}`, target });
    const ofBob = `${feedUrl}#:~:text=${AT}`;
    const sources = async () => (await alice.mentions()).map(({ source }) => source);
    return { alice, pod, send, sources, ofBob, bob: `/~bob/twtxt.txt#:~:text=${AT}` };
  }

  it.each([
    ["a page in Bob's name", (pod: string) => entryOf(`${pod}/~bob/twtxt.txt`, TWT_LINK)],
    [
      "a page that names Bob's feed",
      () => `<link rel="alternate" type="text/plain" href="/~bob/twtxt.txt">${TWT_LINK}`,
    ],
  ])("200: Bob's twt is shown whether it is sent before or after %s", async (_, page) => {
    const { send, sources, ofBob, bob } = await podWith((pod) => ({ "/~eve/p": page(pod) }));
    await send("/~eve/p");
    await send(bob);
    expect(await sources()).toContain(ofBob);
    await send("/~eve/p");
    expect(await sources()).toContain(ofBob);
  });

  it("200: Bob's twt does not replace the page of another author with the same name", async () => {
    const { pod, send, sources, ofBob, bob } = await podWith((pod) => ({
      "/~eve/p": entryOf(`${pod}/~eve/`, `<a href="${FEED}">x</a>`),
    }));
    await send("/~eve/p");
    await send(bob);
    expect((await sources()).sort()).toEqual([ofBob, `${pod.url}/~eve/p`]);
  });

  it("200: Bob's twt stays when a page in his name is sent later and then removed", async () => {
    const { pod, send, sources, ofBob, bob } = await podWith((pod) => ({
      "/~eve/p": entryOf(`${pod}/~bob/twtxt.txt`, TWT_LINK),
    }));
    await send(bob);
    await send("/~eve/p");
    delete pod.files["/~eve/p"];
    await send("/~eve/p");
    expect(await sources()).toEqual([ofBob]);
  });

  it.each(["shown", "rejected"])(
    "200: a feed that declares its URL is shown although a copy of its twt is %s",
    async (state) => {
      const { alice, send, sources, ofBob, bob } = await podWith(() => ({ "/~eve/twtxt.txt": feedOf(HELLO) }));
      await send(`/~eve/twtxt.txt#:~:text=${AT}`);
      if (state === "rejected") await reject(alice);
      await send(bob);
      expect(await sources()).toContain(ofBob);
    },
  );
});

describe("a mention that was dropped as a duplicate", () => {
  it("200: is shown when it is sent again after the other mention was removed", async () => {
    const entry = entryOf("https://bob.example/", `<a href="${PAGE}">x</a>`);
    const bob = await hostOf({ "/": entry, "/p/": `${entry}<hr>` });
    const alice = receiver({ neighbours: [bob] });
    const send = (path: string) => alice.mentioned({ source: `${bob.url}${path}`, target: PAGE });
    await send("/");
    await send("/p/");
    expect(await alice.mentions()).toHaveLength(1);
    bob.files["/"] = "<!doctype html><title>x</title>The next page has the older posts.";
    await send("/");
    expect(await alice.mentions()).toEqual([]);
    expect(await send("/p/")).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toMatchObject([{ source: `${bob.url}/p/` }]);
    const events = await alice.store.keys("mentions/events/");
    await send("/p/");
    await send("/");
    expect(await alice.store.keys("mentions/events/")).toEqual(events);
  });
});

describe("the post of a mention", () => {
  const under = async (alice: ReturnType<typeof receiver>) => (await alice.mentions()).map(({ under }) => under);

  it.each([
    ["the twt that it replies to, by its new hash", `(#${TWT.hashes[1]}) ${HELLO}`],
    ["the twt that it replies to, by its old hash", `(#${TWT.hashes[0]}) ${HELLO}`],
    ["the twt that it replies to, in capitals", `(#${TWT.hashes[0]?.toUpperCase()}) ${HELLO}`],
    ["a text fragment in its own text", `@<alice ${FEED}#:~:text=${TWT.timestamp}> hello`],
    ["a link to the post in its own text", `${HELLO}, see ${PAGE}`],
  ])("follows from %s", async (_, text) => {
    const { alice, send } = await aliceAndBob(text);
    expect(await send("/bob.txt")).toMatchObject({ status: 200 });
    expect(await under(alice)).toEqual([PAGE]);
  });

  it("is not changed by a later request", async () => {
    const { alice, send } = await aliceAndBob();
    await send("/bob.txt");
    expect(await under(alice)).toEqual([null]);
    await send("/bob.txt", `${FEED}#:~:text=${TWT.timestamp}`);
    expect(await under(alice)).toEqual([null]);
  });

  it("is the one named by the first request, until the source names one", async () => {
    const { alice, bob, send } = await aliceAndBob();
    await send("/bob.txt", `${FEED}#:~:text=${TWT.timestamp}`);
    await send("/bob.txt");
    expect(await under(alice)).toEqual([PAGE]);
    bob.files = { "/bob.txt": feedOf(`(#zzzzzzz) ${HELLO}`) };
    await send("/bob.txt");
    expect(await under(alice)).toEqual([PAGE]);
  });

  it("is removed by an edit of the source", async () => {
    const { alice, bob, send } = await aliceAndBob(`(#${TWT.hashes[0]}) ${HELLO}`);
    await send("/bob.txt");
    bob.files = { "/bob.txt": feedOf(HELLO) };
    await send("/bob.txt");
    expect(await under(alice)).toEqual([null]);
  });
});

describe("a page that names its twtxt feed", () => {
  const LINK = '<link rel="alternate" type="text/plain" title="bob\'s twtxt feed" href="/bob.txt">';
  const page = (body: string) => `<!doctype html><title>Bob's blog</title>${LINK}<p>${body}</p>`;

  it("200: nick, text and time are those of the page's twt", async () => {
    const bob = await hostOf({});
    bob.files = {
      "/bob.txt": `# nick = bob\n# avatar = ${bob.url}/b.png\n\n${AT}\tQuinces: ${bob.url}/p/ about ${PAGE}\n${AT.replace("02Z", "09Z")}\tmore of ${PAGE}\n`,
      "/p/": page(`about <a href="${PAGE}">quinces</a>`),
    };
    const alice = receiver({ neighbours: [bob] });
    await alice.mentioned({ source: `${bob.url}/p/`, target: PAGE });
    expect(await alice.mentions()).toMatchObject([
      {
        source: `${bob.url}/p/`,
        author: { name: "bob", url: `${bob.url}/bob.txt`, photo: `${bob.url}/b.png` },
        text: `Quinces: ${bob.url}/p/ about ${PAGE}`,
        published: AT,
      },
    ]);
  });

  it.each([
    ["none of its twts mentions the site", "hello"],
    ["several of its twts do", `${PAGE}\n${AT.replace("02Z", "03Z")}\t${PAGE}`],
  ])("200: its own text is used if %s", async (_, text) => {
    const bob = await hostOf({ "/bob.txt": feedOf(text), "/p/": page(`<a href="${PAGE}">quinces</a>`) });
    const alice = receiver({ neighbours: [bob] });
    await alice.mentioned({ source: `${bob.url}/p/`, target: PAGE });
    expect(await alice.mentions()).toMatchObject([{ text: "Bob's blog", published: null }]);
  });

  it("200: a feed of another host is ignored", async () => {
    const carol = await hostOf({ "/bob.txt": feedOf(`I am carol, ${PAGE}`) });
    const bob = await hostOf({ "/p/": page(`<a href="${PAGE}">x</a>`).replace("/bob.txt", `${carol.url}/bob.txt`) });
    const alice = receiver({ neighbours: [bob, carol] });
    await alice.mentioned({ source: `${bob.url}/p/`, target: PAGE });
    expect(await alice.mentions()).toMatchObject([{ text: "Bob's blog" }]);
    expect(carol.requests).toEqual([]);
  });
});
