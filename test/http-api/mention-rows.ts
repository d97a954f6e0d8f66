// test/http-api/mention-rows.ts: requests for mentions.
import { FEED } from "./alices-site.js";
import { TOKEN } from "./asking.js";
import { type Row, type RowOptions, rows, rowsOfEach } from "./rows.js";

const FORM = { source: "https://bob.example/twtxt.txt#:~:text=2026-11-19T18:40:02Z", target: FEED };

/** The example mention with these fields. */
function withForm(form: Record<string, string>): RowOptions {
  return { request: { body: new URLSearchParams({ ...FORM, ...form }).toString() } };
}

function bobResponds(response: { status?: number; headers?: Record<string, string>; body?: string }): RowOptions {
  return { isNew: true, before: ({ bob }) => Object.assign(bob, response) };
}

const received: Row[] = [
  ...rows("POST /webmention", [
    ["200", "a source that mentions the blog", { isNew: true }],
    [
      "200",
      "a source that is gone, whose mention is removed",
      { before: ({ bob }) => Object.assign(bob, { status: 410 }) },
    ],
    ["202", "a source whose server fails", bobResponds({ status: 500 })],
    ["400 bad-request", "a missing field", { request: { body: `source=${FORM.source}` } }],
    ["400 bad-source", "a source that is not an HTTP URL", withForm({ source: "ftp://bob.example/twtxt.txt" })],
    ["400 bad-target", "a target that is not a URL", withForm({ target: "alice" })],
    ["400 not-our-target", "a target on another site", withForm({ target: "https://carol.example/twtxt.txt" })],
    ["400 blocked", "a blocked source", { isNew: true, site: { mentions: { block: ["bob.example"] } } }],
    ["400 source-refused", "a missing source", bobResponds({ status: 404 })],
    ["400 no-such-twt", "a feed without a twt of that time", withForm({ source: FORM.source.replace("02Z", "03Z") })],
    ["400 no-such-mention", "a twt without a mention", withForm({ source: FORM.source.replace("40:02Z", "41:00Z") })],
    ["400 say-which-twt", "a source that is a whole feed", withForm({ source: "https://bob.example/twtxt.txt" })],
    ["400 address-refused", "a source at a private address", withForm({ source: "http://127.0.0.1/twtxt.txt" })],
    [
      "400 too-many-redirects",
      "a source that redirects to itself",
      bobResponds({ status: 302, headers: { location: "/twtxt.txt" } }),
    ],
    [
      "400 too-large",
      "a page larger than 1 MiB",
      {
        ...withForm({ source: "https://bob.example/page" }),
        ...bobResponds({ body: "It rains. ".repeat(110_000) }),
      },
    ],
    [
      "400 bad-compression",
      "a source that does not match its Content-Encoding",
      bobResponds({ headers: { "content-encoding": "gzip" } }),
    ],
    ["413 body-too-large", "a form larger than 8 KiB", withForm({ more: "x".repeat(8192) })],
    [
      "415 bad-content-type",
      "a content type other than a form",
      { request: { headers: { "content-type": "application/json" } } },
    ],
    ["429 too-many-requests", "a second mention of a client in the same minute", { site: { perMinute: 1 } }],
    [
      "429 too-many-pending",
      "a second pending mention of a host",
      {
        isNew: true,
        site: { mentions: { limits: { pendingPerHost: 1 } } },
        async before({ bob, send }) {
          bob.status = 500;
          await send("POST", "/webmention");
        },
        ...withForm({ source: FORM.source.replace("02Z", "03Z") }),
      },
    ],
  ]),
  ...rowsOfEach(["GET /webmention", "HEAD /webmention"], [["200", "a page about the endpoint"]]),
  ...rows("OPTIONS /webmention", [["204", "the four methods"]]),
];

const listed: Row[] = [
  ...rowsOfEach(
    ["GET /mentions.json", "HEAD /mentions.json"],
    [
      ["200", "the shown mentions"],
      ["304", "an unchanged list", { request: { headers: { "if-none-match": "*" } } }],
      ["400 bad-request", "an unknown parameter", { request: { query: "colour=red" } }],
      ["400 not-our-target", "a target on another site", { request: { query: "target=https://carol.example/" } }],
    ],
  ),
  ...rows("GET /mentions.json", [
    [
      "200",
      "a page without mentions",
      { request: { query: "target=https://alice.example/posts/quinces/&limit=1" }, json: { mentions: [], next: null } },
    ],
  ]),
  ...rows("OPTIONS /mentions.json", [["204", "CORS from any origin"]]),
  ...rowsOfEach(
    ["GET /mentions.atom", "HEAD /mentions.atom"],
    [
      ["200", "the shown mentions"],
      ["304", "an unchanged feed", { request: { headers: { "if-none-match": "*" } } }],
      ["400 bad-request", "an unknown parameter", { request: { query: "limit=1" } }],
      ["400 not-our-target", "a target on another site", { request: { query: "target=https://carol.example/" } }],
    ],
  ),
  ...rows("OPTIONS /mentions.atom", [["204", "CORS from any origin"]]),
  ...rowsOfEach(
    ["GET /mentions.txt", "HEAD /mentions.txt"],
    [
      ["200", "the token as the password"],
      ["200", "the token in the query", { request: { signer: null, query: `token=${TOKEN}` } }],
      ["401 bad-token", "no token", { request: { signer: null } }],
      ["404 not-found", "a site without a token", { site: { token: null } }],
    ],
  ),
];

const HELD: RowOptions = { site: { mentions: { moderate: true } } };

const decided: Row[] = [
  ...rows("GET /moderate/{id}", [
    ["200", "a held mention", HELD],
    ["410", "a forged key", { ...HELD, request: { query: "k=AAAA" } }],
    ["404 not-found", "a site without a secret", { site: { token: null } }],
  ]),
  ...rows("POST /moderate/{id}", [
    ["303", "a held mention", HELD],
    ["200", "a decision after another one", { ...HELD, before: ({ send }) => send("POST", "/moderate/{id}") }],
    ["400 bad-request", "an unknown decision", { ...HELD, request: { body: "decision=later" } }],
    ["410", "a forged key", { ...HELD, request: { query: "k=AAAA" } }],
    ["404 not-found", "a site without a secret", { site: { token: null } }],
    ["413 body-too-large", "a form larger than 8 KiB", { ...HELD, request: { body: "x".repeat(8193) } }],
    [
      "415 bad-content-type",
      "a body that is no form",
      { ...HELD, request: { headers: { "content-type": "text/plain" } } },
    ],
  ]),
];

const timeline: Row[] = [
  ...rowsOfEach(
    ["GET /timeline.json", "HEAD /timeline.json"],
    [
      ["200", "the newest twts of the followed feeds"],
      ["304", "an unchanged list", { request: { headers: { "if-none-match": "*" } } }],
      ["404 not-found", "a timeline that has not been read yet", { isNew: true }],
    ],
  ),
  ...rows("OPTIONS /timeline.json", [["204", "CORS from any origin"]]),
];

const managed: Row[] = [
  ...rows("GET /api/v1/mentions", [
    ["200", "the shown mentions"],
    [
      "200",
      "the pending mentions",
      {
        async before({ bob, send }) {
          bob.status = 500;
          await send("POST", "/webmention", withForm({ source: "https://bob.example/page" }).request);
        },
        request: { query: "state=pending" },
      },
    ],
    [
      "200",
      "no mention with such an id",
      { request: { query: "id=zz" }, json: { mentions: [], next: null, count: 0 } },
    ],
    ["200", "the rejected mentions and the blocked sources", { request: { query: "state=rejected" } }],
    ["400 bad-request", "an unknown state", { request: { query: "state=new" } }],
  ]),
  ...rows("POST /api/v1/mentions", [
    ["200", "a blocked host, all of whose mentions are rejected"],
    ["200", "a host that is no longer blocked", { request: { body: '{"state":"held"}' } }],
    ["400 bad-request", "another decision than these", { request: { body: '{"state":"shown"}' } }],
  ]),
  ...rows("DELETE /api/v1/mentions", [
    ["200", "all mentions of a host are deleted"],
    ["400 bad-request", "a request without a filter", { request: { query: "" } }],
  ]),
  ...rows("POST /api/v1/mentions/verify", [["200", "no pending mention"]]),
  ...rows("POST /api/v1/mentions/import", [
    ["200", "mentions that another service verified"],
    ["400 bad-request", "a body that is not JSON", { request: { body: "mentions" } }],
  ]),
  ...rows("POST /api/v1/mentions/{id}", [
    ["200", "a rejected mention"],
    ["200", "a rejection that is undone", { request: { body: '{"state":"held"}' } }],
    ["400 bad-request", "an unknown decision", { request: { body: '{"state":"pending"}' } }],
    ["404 not-found", "an unknown mention", { isNew: true }],
    [
      "412 precondition-failed",
      "a condition for another version",
      { request: { headers: { "if-match": '"0000000000000000"' } } },
    ],
    [
      "428 precondition-required",
      "a decision without If-Match on a moderated site",
      { site: { mentions: { moderate: true } } },
    ],
  ]),
  ...rows("DELETE /api/v1/mentions/{id}", [
    ["200", "a deleted mention"],
    ["404 not-found", "an unknown mention", { isNew: true }],
  ]),
];

export const MENTION_ROWS = [...received, ...listed, ...decided, ...timeline, ...managed];
