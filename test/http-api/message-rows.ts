// test/http-api/message-rows.ts: requests for private messages.
import { identityOf } from "../helpers/identity.js";
import { sealed } from "../messages/inbox/alices-inbox.js";
import { ALICE, EVE } from "./asking.js";
import { type Row, rows, rowsOfEach } from "./rows.js";

const STREAM = { accept: "text/event-stream" };
const UNKNOWN_USER = { request: { parameters: { user: "bob" } } };
const GUEST = identityOf(9, "guest").publicKey;
const TO_GUEST = { parameters: { user: GUEST } };

const delivered = rowsOfEach(
  ["POST /inbox/{user}", "PUT /inbox/{user}"],
  [
    ["202", "a new message", { isNew: true }],
    ["202", "a message that is already stored"],
    ["400 bad-message", "a body that is not a message", { request: { body: Buffer.alloc(99, 0xc4) } }],
    [
      "400 bad-armor",
      "damaged armor",
      { request: { body: "BEGIN SALTPACK ENCRYPTED MESSAGE. !. END SALTPACK ENCRYPTED MESSAGE." } },
    ],
    ["400 bad-request", "a compressed body", { request: { headers: { "content-encoding": "gzip" } } }],
    ["400 too-large", "a body larger than 64 KiB", { request: { body: Buffer.alloc(64 * 1024 + 1) } }],
    ["404 not-found", "an unknown user", UNKNOWN_USER],
    ["429 too-many-requests", "a second message of a client in the same minute", { site: { perMinute: 1 } }],
    [
      "429 too-many-requests",
      "a client whose messages fill a tenth of the inbox",
      { site: { inbox: { messages: 10 } }, request: { body: sealed(1) } },
    ],
    ["202", "a message from Alice to a guest", { request: { ...TO_GUEST, signer: ALICE } }],
    ["401 not-signed", "an unsigned message to a guest", { request: TO_GUEST }],
    [
      "401 wrong-clock",
      "a message to a guest, dated in ten minutes",
      { request: { ...TO_GUEST, signer: ALICE, clockAhead: 600_000 } },
    ],
    [
      "403 not-allowed",
      "a message to a guest from Eve, who is no author of this site",
      { request: { ...TO_GUEST, signer: EVE } },
    ],
    [
      "404 not-found",
      "a site without guests",
      { site: { inbox: { guests: null } }, request: { ...TO_GUEST, signer: ALICE } },
    ],
    [
      "429 too-many-requests",
      "a second message of a client in the same minute, from Alice to a guest",
      { site: { perMinute: 1 }, request: { ...TO_GUEST, signer: ALICE } },
    ],
    ["503 inbox-full", "a full inbox", { site: { inbox: { messages: 1 } }, request: { body: sealed(1) } }],
  ],
);

const read: Row[] = [
  ...rowsOfEach(
    ["GET /inbox/{user}", "HEAD /inbox/{user}"],
    [
      ["200", "the list"],
      ["200", "the stream", { request: { headers: STREAM } }],
      ["304", "an unchanged list", { request: { headers: { "if-none-match": "*" } } }],
      ["400 bad-request", "an invalid limit", { request: { query: "limit=0" } }],
      ["404 not-found", "an unknown user", UNKNOWN_USER],
      [
        "406 not-acceptable",
        "a site without subscriptions",
        { site: { inbox: { subscribe: false } }, request: { headers: STREAM } },
      ],
    ],
  ),
  ...rows("GET /inbox/{user}", [
    [
      "200",
      "a list with a next page",
      { before: ({ send }) => send("POST", "/inbox/{user}", { body: sealed(1) }), request: { query: "limit=1" } },
    ],
  ]),
  ...rows("OPTIONS /inbox/{user}", [
    ["204", "the five methods"],
    ["404 not-found", "an unknown user", UNKNOWN_USER],
  ]),
];

const deleted: Row[] = [
  ...rows("DELETE /inbox/{user}/{id}", [
    ["200", "a deleted message"],
    ["404 not-found", "an unknown message", { isNew: true }],
  ]),
  ...rows("OPTIONS /inbox/{user}/{id}", [
    ["204", "the two methods"],
    ["404 not-found", "an unknown user", UNKNOWN_USER],
  ]),
];

const guests: Row[] = [
  ...rowsOfEach(
    ["GET /.well-known/msg/{guest}.json", "HEAD /.well-known/msg/{guest}.json"],
    [
      ["200", "a document derived from the key"],
      ["304", "an unchanged document", { request: { headers: { "if-none-match": "*" } } }],
      ["404", "a name that is not a key", { request: { parameters: { guest: "bob" } } }],
    ],
  ),
  ...rows("OPTIONS /.well-known/msg/{guest}.json", [["204", "the three methods"]]),
];

export const MESSAGE_ROWS = [...delivered, ...read, ...deleted, ...guests];
