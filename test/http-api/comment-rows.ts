// test/http-api/comment-rows.ts: requests for comments.
import type { AlicesSite } from "./alices-site.js";
import { ALICE } from "./asking.js";
import { type Row, type RowOptions, rows, rowsOfEach } from "./rows.js";

const ID = "da8bd9a1d35a9d9be449037708e62666";
const COMMENT = { target: "https://alice.example/posts/quinces/", text: "What a harvest!" };
const BROWSER = { accept: "text/html", "content-type": "application/x-www-form-urlencoded" };

/** The example comment with these fields. */
function withFields(fields: Record<string, string>): RowOptions {
  return { request: { body: JSON.stringify({ ...COMMENT, ...fields }) } };
}

/** Alice comments as a guest of her own site. */
export function commentByAlice({ send }: Pick<AlicesSite, "send">) {
  return send("POST", "/comments", { signer: ALICE });
}

async function commentAndApprove(site: AlicesSite) {
  await commentByAlice(site);
  const body = JSON.stringify({ state: "shown" });
  await site.send("POST", "/api/v1/mentions/{id}", { parameters: { id: ID }, body });
}

const REPLY = String(new URLSearchParams({ target: COMMENT.target, "reply-to": "abcdefghijkl" }));

const STORED: RowOptions = { isNew: true, before: commentByAlice };

const READER: RowOptions = { isNew: true, before: ({ addReader }) => addReader() };

const TOO_MANY: Parameters<typeof rows>[1] = [
  ["429 too-many-requests", "a second one of a client in the same minute", { ...STORED, site: { perMinute: 1 } }],
  [
    "429 too-many-comments",
    "an address that has used its tenth",
    { ...STORED, site: { mentions: { comments: { perDay: 1 } } } },
  ],
];
const CLOSED: RowOptions = {
  site: { mentions: { comments: { closeAfterDays: 1 } } },
};

export const COMMENT_ROWS: Row[] = [
  ...rows("POST /comments", [
    ["202", "a comment, which waits", { isNew: true, json: { state: "held" } }],
    ["202", "a signed comment", { isNew: true, request: { signer: ALICE }, json: { id: ID, guest: ALICE.publicKey } }],
    [
      "303",
      "a form of a browser",
      { isNew: true, request: { headers: BROWSER, body: String(new URLSearchParams(COMMENT)) } },
    ],
    ["400 bad-request", "an empty text", withFields({ text: " " })],
    [
      "400 blocked",
      "a guest whom the author blocks",
      {
        isNew: true,
        site: { mentions: { block: [`https://alice.example/guests/${ALICE.publicKey}.txt`] } },
        request: { signer: ALICE },
      },
    ],
    ["401 not-signed", "half a signature", { request: { headers: { signature: "sig=:AA==:" } } }],
    ["401 wrong-clock", "a signature dated in ten minutes", { request: { signer: ALICE, clockAhead: 600_000 } }],
    ["403 comments-closed", "a post that is too old", { isNew: true, ...CLOSED }],
    [
      "403 not-allowed",
      "a form on a page of another site",
      { request: { headers: { "sec-fetch-site": "cross-site" } } },
    ],
    ["404 not-found", "a page that is not a post", withFields({ target: "https://alice.example/" })],
    ["409 same-comment", "the same words again", { ...STORED, request: { signer: ALICE } }],
    ["429 too-many-pending", "one more than may wait", { ...STORED, site: { mentions: { comments: { held: 1 } } } }],
    ["415 bad-content-type", "plain text", { request: { headers: { "content-type": "text/plain" } } }],
    ...TOO_MANY,
  ]),
  ...rows("GET /comments", [
    ["200", "the guest's own comments", STORED],
    [
      "200",
      "the page with the form to answer a reply",
      {
        isNew: true,
        before: commentAndApprove,
        request: { signer: null, query: REPLY, headers: { accept: "text/html" } },
      },
    ],
    ["400 bad-request", "a request without a guest", { request: { query: "" } }],
  ]),
  ...rows("OPTIONS /comments", [["204", "the three methods"]]),
  ...rows("POST /comments/{id}", [
    ["200", "an edited comment", { ...STORED, json: { id: ID, state: "held" } }],
    ["400 bad-request", "an empty text", { ...STORED, request: { body: '{"text":""}' } }],
    ["404 not-found", "an unknown comment", { isNew: true }],
    ["415 bad-content-type", "plain text", { request: { headers: { "content-type": "text/plain" } } }],
    ...TOO_MANY,
  ]),
  ...rows("DELETE /comments/{id}", [
    ["200", "a deleted comment", STORED],
    ["404 not-found", "an unknown comment", { isNew: true }],
  ]),
  ...rows("OPTIONS /comments/{id}", [["204", "the three methods"]]),
  ...rows("GET /answers", [
    ["200", "a guest without an address", { json: { mail: null } }],
    ["200", "a guest whose address is not confirmed", { ...READER, json: { mail: "waiting" } }],
    ["404 not-found", "a site without a mail server", { isNew: true, site: { token: null } }],
  ]),
  ...rows("POST /answers", [
    ["202", "an address, which is asked to confirm", { isNew: true, json: { mail: "waiting" } }],
    ["400 bad-request", "a text that is no address", { request: { body: '{"mail":"dana"}' } }],
    [
      "404 not-found",
      "a site that sends mail about comments only",
      { site: { inbox: { guests: { messages: 100, days: 90 } } } },
    ],
  ]),
  ...rows("DELETE /answers", [
    ["200", "an address that is deleted", { ...READER, json: { mail: null } }],
    ["200", "a guest without an address", { isNew: true, json: { mail: null } }],
  ]),
  ...rows("GET /answers/{id}", [
    ["200", "an address that is not confirmed", READER],
    ["410", "a forged link", { ...READER, request: { query: "k=BBBB" } }],
  ]),
  ...rows("POST /answers/{id}", [
    ["303", "the button that confirms", READER],
    ["200", "the button that ends", { ...READER, request: { body: "do=stop" } }],
    ["204", "one click in a mail program", { ...READER, request: { body: "List-Unsubscribe=One-Click" } }],
    ["400 bad-request", "an unknown button", { ...READER, request: { body: "do=else" } }],
    ["410", "a link of a deleted address", { isNew: true }],
    ["413 body-too-large", "a form larger than 8 KiB", { ...READER, request: { body: "x".repeat(8193) } }],
    [
      "415 bad-content-type",
      "a body that is no form",
      { ...READER, request: { headers: { "content-type": "text/plain" } } },
    ],
  ]),
  ...rowsOfEach(
    ["GET /guests/{guest}.txt", "HEAD /guests/{guest}.txt"],
    [
      ["200", "a guest with a shown comment", { isNew: true, before: commentAndApprove }],
      [
        "304",
        "an unchanged feed",
        { isNew: true, before: commentAndApprove, request: { headers: { "if-none-match": "*" } } },
      ],
      ["404 not-found", "a guest whose comment waits", STORED],
    ],
  ),
  ...rows("OPTIONS /guests/{guest}.txt", [["204", "CORS from any origin"]]),
];
