// test/http-api/mention-rows.ts: what is asked about mentions.
import { FEED } from "./alices-site.js";
import { TOKEN } from "./asking.js";
import { type Given, type Row, rows, rowsOfEach } from "./rows.js";

const FORM = { source: "https://bob.example/twtxt.txt#:~:text=2026-11-19T18:40:02Z", target: FEED };

/** A mention that says something else than the file's. */
function saying(form: Record<string, string>): Given {
  return { asked: { body: new URLSearchParams({ ...FORM, ...form }).toString() } };
}

function bobAnswers(answer: { status?: number; headers?: Record<string, string>; body?: string }): Given {
  return { isNew: true, before: ({ bob }) => Object.assign(bob, answer) };
}

const received: Row[] = [
  ...rows("POST /webmention", [
    ["200", "the source mentions the blog", { isNew: true }],
    ["200", "it is removed, as the source is gone", { before: ({ bob }) => Object.assign(bob, { status: 410 }) }],
    ["202", "the source gives no answer", bobAnswers({ status: 500 })],
    ["400 bad-request", "a field is missing", { asked: { body: `source=${FORM.source}` } }],
    ["400 bad-source", "the source is no URL of the web", saying({ source: "ftp://bob.example/twtxt.txt" })],
    ["400 bad-target", "the target is no URL", saying({ target: "alice" })],
    ["400 not-our-target", "the target is somebody else's", saying({ target: "https://carol.example/twtxt.txt" })],
    [
      "400 blocked",
      "the author wants nothing of this source",
      { isNew: true, site: { mentions: { block: ["bob.example"] } } },
    ],
    ["400 source-refused", "the source is not there", bobAnswers({ status: 404 })],
    ["400 no-such-twt", "the feed has no twt of that time", saying({ source: FORM.source.replace("02Z", "03Z") })],
    ["400 no-such-mention", "the twt mentions nobody", saying({ source: FORM.source.replace("40:02Z", "41:00Z") })],
    ["400 say-which-twt", "the source is a whole feed", saying({ source: "https://bob.example/twtxt.txt" })],
    ["400 address-refused", "the source is at a private address", saying({ source: "http://127.0.0.1/twtxt.txt" })],
    [
      "400 too-many-redirects",
      "the source leads to itself",
      bobAnswers({ status: 302, headers: { location: "/twtxt.txt" } }),
    ],
    [
      "400 too-large",
      "the page is larger than 1 MiB",
      {
        ...saying({ source: "https://bob.example/page" }),
        ...bobAnswers({ body: "It rains. ".repeat(110_000) }),
      },
    ],
    [
      "400 bad-compression",
      "the source is not compressed as it says",
      bobAnswers({ headers: { "content-encoding": "gzip" } }),
    ],
    ["413 body-too-large", "the form is larger than 8 KiB", saying({ more: "x".repeat(8192) })],
    ["415 bad-content-type", "it is no form", { asked: { headers: { "content-type": "application/json" } } }],
    ["429 too-many-requests", "the address has sent one in this minute", { site: { perMinute: 1 } }],
    [
      "429 too-many-pending",
      "one of that host waits already",
      {
        isNew: true,
        site: { mentions: { limits: { pendingPerHost: 1 } } },
        async before({ bob, ask }) {
          bob.status = 500;
          await ask("POST", "/webmention");
        },
        ...saying({ source: FORM.source.replace("02Z", "03Z") }),
      },
    ],
  ]),
  ...rowsOfEach(["GET /webmention", "HEAD /webmention"], [["200", "a page explains the endpoint"]]),
  ...rows("OPTIONS /webmention", [["204", "there are four methods"]]),
];

const listed: Row[] = [
  ...rowsOfEach(
    ["GET /mentions.json", "HEAD /mentions.json"],
    [
      ["200", "what is shown"],
      ["304", "nothing has changed", { asked: { headers: { "if-none-match": "*" } } }],
      ["400 bad-request", "there is no such parameter", { asked: { query: "colour=red" } }],
      ["400 not-our-target", "nobody asks here for others", { asked: { query: "target=https://carol.example/" } }],
    ],
  ),
  ...rows("GET /mentions.json", [
    [
      "200",
      "there is none of this page",
      { asked: { query: "target=https://alice.example/posts/quinces/&limit=1" }, json: { mentions: [], next: null } },
    ],
  ]),
  ...rows("OPTIONS /mentions.json", [["204", "a browser may ask from anywhere"]]),
  ...rowsOfEach(
    ["GET /mentions.txt", "HEAD /mentions.txt"],
    [
      ["200", "the token is the password"],
      ["200", "the token is in the query", { asked: { as: null, query: `token=${TOKEN}` } }],
      ["401 bad-token", "there is no token", { asked: { as: null } }],
      ["404 not-found", "the owner has set no token", { site: { token: null } }],
    ],
  ),
];

const timeline: Row[] = [
  ...rowsOfEach(
    ["GET /timeline.json", "HEAD /timeline.json"],
    [
      ["200", "the newest twts of the followed feeds"],
      ["304", "nothing has changed", { asked: { headers: { "if-none-match": "*" } } }],
      ["404 not-found", "the feeds have not been read yet", { isNew: true }],
    ],
  ),
  ...rows("OPTIONS /timeline.json", [["204", "a browser may ask from anywhere"]]),
];

const managed: Row[] = [
  ...rows("GET /api/v1/mentions", [
    ["200", "what is shown"],
    [
      "200",
      "what is pending",
      {
        async before({ bob, ask }) {
          bob.status = 500;
          await ask("POST", "/webmention", saying({ source: "https://bob.example/page" }).asked);
        },
        asked: { query: "state=pending" },
      },
    ],
    ["400 bad-request", "there is no such state", { asked: { query: "state=new" } }],
  ]),
  ...rows("DELETE /api/v1/mentions", [
    ["200", "all of a host is forgotten"],
    ["400 bad-request", "it does not say what", { asked: { query: "" } }],
  ]),
  ...rows("POST /api/v1/mentions/verify", [["200", "nothing waits"]]),
  ...rows("POST /api/v1/mentions/import", [
    ["200", "what another service has verified is kept"],
    ["400 bad-request", "it is no JSON", { asked: { body: "mentions" } }],
  ]),
  ...rows("POST /api/v1/mentions/{id}", [
    ["200", "the mention is rejected"],
    ["200", "the decision is taken back", { asked: { body: '{"state":"held"}' } }],
    ["400 bad-request", "there is no such decision", { asked: { body: '{"state":"pending"}' } }],
    ["404 not-found", "there is no such mention", { isNew: true }],
    ["412 precondition-failed", "it has changed since", { asked: { headers: { "if-match": '"0000000000000000"' } } }],
    ["428 precondition-required", "the site approves each", { site: { mentions: { moderate: true } } }],
  ]),
  ...rows("DELETE /api/v1/mentions/{id}", [
    ["200", "the mention is forgotten"],
    ["404 not-found", "there is no such mention", { isNew: true }],
  ]),
];

export const MENTION_ROWS = [...received, ...listed, ...timeline, ...managed];
