import { beforeEach, describe, expect, it } from "vitest";
import { createChannels } from "../../../plugin/host/channels.js";
import { type InboxState, notifyAuthor } from "../../../plugin/mentions/inform/digest.js";
import { ntfyTopic } from "../../../plugin/mentions/inform/ntfy.js";
import type { StoredMention } from "../../../plugin/mentions/mention.js";
import { SiteIndex } from "../../../plugin/mentions/receive/site-index.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { listOf, storedMention } from "../../helpers/stored-mentions.js";

const PAGE = "https://alice.example/mentions/";
const HOUR = 3600_000;

let stored: StoredMention[];
let store: Store;
let time: number;
let log: string[];

beforeEach(() => {
  stored = [];
  store = memoryStore();
  time = Date.parse("2026-01-02T10:00:00.000Z");
  log = [];
});

interface Published {
  method: string | undefined;
  path: string | undefined;
  type: string | undefined;
  authorization: string | undefined;
  json: unknown;
}

const options = {
  page: PAGE,
  digestHours: 24,
  siteIndex: new SiteIndex({ feeds: [], pages: [], twts: [] }),
  links: null,
};

/** An ntfy server. */
async function ntfyServer() {
  const published: Published[] = [];
  const state = { status: 200 };
  const { host } = await loopbackServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { "content-type": type, authorization } = request.headers;
    published.push({ method: request.method, path: request.url, type, authorization, json: JSON.parse(body) });
    response.writeHead(state.status).end("{}");
  });
  return { host, published, state };
}

/** One hourly run with this TWTXT_NTFY_URL. */
function run(url: string, inboxes: InboxState[] = []) {
  const channels = createChannels({ TWTXT_NTFY_URL: url }, options);
  const parts = { list: listOf(stored), inboxes: async () => inboxes, store, now: () => time, channels };
  return notifyAuthor({ ...parts, log: (line) => log.push(line) });
}

function addMention(text: string): void {
  const received = new Date(time + stored.length).toISOString();
  stored.push(storedMention({ text, received, identity: `https://bob.example/${stored.length}.txt` }));
}

describe("ntfy", () => {
  it("gets a notification as JSON at the root of its server, once", async () => {
    const { host, published } = await ntfyServer();
    addMention("Kürbis?");
    await run(`http://${host}/my-topic`);
    await run(`http://${host}/my-topic`);
    expect(published).toEqual([
      {
        method: "POST",
        path: "/",
        type: "application/json",
        authorization: undefined,
        json: {
          topic: "my-topic",
          title: "1 new mention of alice.example",
          message: "bob: Kürbis?",
          click: PAGE,
          tags: ["speech_balloon"],
        },
      },
    ]);
    expect(log).toEqual([]);
  });

  it("gets tags for messages and for a nearly full inbox", async () => {
    const { host, published } = await ntfyServer();
    const created = new Date(time).toISOString();
    await run(`http://${host}/my-topic`, [{ user: "alice", fullness: 0.9, messages: [{ created }] }]);
    expect(published[0]?.json).toMatchObject({ title: "1 new sealed message", tags: ["envelope", "warning"] });
  });

  it.each([
    ["alice:p%40ss@", "Basic YWxpY2U6cEBzcw=="],
    ["tk_0123456789@", "Bearer tk_0123456789"],
    [":tk_0123456789@", "Bearer tk_0123456789"],
  ])("gets the credentials of http://%s...", async (credentials, authorization) => {
    const { host, published } = await ntfyServer();
    addMention("hello");
    await run(`http://${credentials}${host}/my-topic`);
    expect(published.map((one) => one.authorization)).toEqual([authorization]);
  });

  it.each([403, 429, 500])(
    "that responds with %i is retried by the next run, without logging a secret",
    async (status) => {
      const { host, published, state } = await ntfyServer();
      const url = `http://alice:s3cret@${host}/my-topic`;
      state.status = status;
      addMention("hello");
      await run(url);
      expect(log).toEqual([
        `Notification by ntfy failed; the next run tries again. TWTXT_NTFY_URL answered ${status} instead of 200.`,
      ]);
      state.status = 200;
      time += HOUR;
      await run(url);
      await run(url);
      expect(published.map(({ json }) => (json as { message: string }).message)).toEqual(["bob: hello", "bob: hello"]);
    },
  );

  it.each([
    "ntfy.sh/s3cret",
    "ftp://ntfy.sh/s3cret",
    "https://ntfy.sh/",
    "https://ntfy.sh/s3cret/more",
    "https://ntfy.sh/s3cret?auth=x",
    "https://ntfy.sh/s3cret.txt",
    `https://ntfy.sh/${"s3cret".repeat(11)}`,
    "https://alice:s3cret%@ntfy.sh/topic",
  ])("hook-failed, with the expected value and without a secret: %s", async (url) => {
    addMention("hello");
    await run(url);
    expect(log).toEqual([
      expect.stringContaining('TWTXT_NTFY_URL: expected the URL of a topic such as "https://ntfy.sh/my-topic"'),
    ]);
    expect(log[0]).not.toContain("s3cret");
  });

  it("is off if its variable is unset or empty", () => {
    expect(createChannels({}, options)).toEqual([]);
    expect(createChannels({ TWTXT_NTFY_URL: " " }, options)).toEqual([]);
  });

  it("keeps the port of the server", () => {
    expect(ntfyTopic("http://ntfy.home:8080/a_b-1")).toEqual({
      server: "http://ntfy.home:8080/",
      topic: "a_b-1",
      authorization: null,
    });
  });
});
