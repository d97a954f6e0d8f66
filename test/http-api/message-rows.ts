// test/http-api/message-rows.ts: what is asked about private messages.
import { identityOf } from "../helpers/identity.js";
import { sealed } from "../messages/inbox/alices-inbox.js";
import { ALICE, EVE } from "./asking.js";
import { type Row, rows, rowsOfEach } from "./rows.js";

const STREAM = { accept: "text/event-stream" };
const STRANGER = { parameters: { user: "bob" } };
const NOBODY = { asked: STRANGER };
const GUEST = identityOf(9, "guest").publicKey;
const TO_GUEST = { parameters: { user: GUEST } };

const delivered = rowsOfEach(
  ["POST /inbox/{user}", "PUT /inbox/{user}"],
  [
    ["202", "the message is kept", { isNew: true }],
    ["202", "it was kept before"],
    ["400 bad-message", "it is no message", { asked: { body: Buffer.alloc(99, 0xc4) } }],
    [
      "400 bad-armor",
      "its armor is broken",
      { asked: { body: "BEGIN SALTPACK ENCRYPTED MESSAGE. !. END SALTPACK ENCRYPTED MESSAGE." } },
    ],
    ["400 bad-request", "it is compressed", { asked: { headers: { "content-encoding": "gzip" } } }],
    ["400 too-large", "it is larger than 64 KiB", { asked: { body: Buffer.alloc(64 * 1024 + 1) } }],
    ["404 not-found", "nobody of this name has an inbox", NOBODY],
    ["429 too-many-requests", "the address has sent one in this minute", { site: { perMinute: 1 } }],
    [
      "429 too-many-requests",
      "the address has filled its tenth of the inbox",
      { site: { inbox: { messages: 10 } }, asked: { body: sealed(1) } },
    ],
    ["202", "Alice writes to a guest", { asked: { ...TO_GUEST, as: ALICE } }],
    ["401 not-signed", "a stranger writes to a guest", { asked: TO_GUEST }],
    ["403 not-allowed", "Eve, an author of another site, writes to a guest", { asked: { ...TO_GUEST, as: EVE } }],
    [
      "404 not-found",
      "the site has no guests",
      { site: { inbox: { guests: null } }, asked: { ...TO_GUEST, as: ALICE } },
    ],
    [
      "429 too-many-requests",
      "the address has sent one in this minute, and Alice writes to a guest",
      { site: { perMinute: 1 }, asked: { ...TO_GUEST, as: ALICE } },
    ],
    ["503 inbox-full", "the inbox holds no more", { site: { inbox: { messages: 1 } }, asked: { body: sealed(1) } }],
  ],
);

const read: Row[] = [
  ...rowsOfEach(
    ["GET /inbox/{user}", "HEAD /inbox/{user}"],
    [
      ["200", "the list"],
      ["200", "the stream", { asked: { headers: STREAM } }],
      ["304", "nothing has come", { asked: { headers: { "if-none-match": "*" } } }],
      ["400 bad-request", "there is no such limit", { asked: { query: "limit=0" } }],
      ["404 not-found", "nobody of this name has an inbox", NOBODY],
      [
        "406 not-acceptable",
        "nobody can subscribe",
        { site: { inbox: { subscribe: false } }, asked: { headers: STREAM } },
      ],
    ],
  ),
  ...rows("GET /inbox/{user}", [
    [
      "200",
      "the list goes on",
      { before: ({ ask }) => ask("POST", "/inbox/{user}", { body: sealed(1) }), asked: { query: "limit=1" } },
    ],
  ]),
  ...rows("OPTIONS /inbox/{user}", [
    ["204", "there are five methods"],
    ["404 not-found", "nobody of this name has an inbox", NOBODY],
  ]),
];

const deleted: Row[] = [
  ...rows("DELETE /inbox/{user}/{id}", [
    ["200", "the message is gone"],
    ["404 not-found", "it was never here", { isNew: true }],
  ]),
  ...rows("OPTIONS /inbox/{user}/{id}", [
    ["204", "there are two methods"],
    ["404 not-found", "nobody of this name has an inbox", NOBODY],
  ]),
];

const guests: Row[] = [
  ...rowsOfEach(
    ["GET /.well-known/msg/{guest}.json", "HEAD /.well-known/msg/{guest}.json"],
    [
      ["200", "the document follows from the key"],
      ["304", "it never changes", { asked: { headers: { "if-none-match": "*" } } }],
      ["404", "it is no key", { asked: { parameters: { guest: "bob" } } }],
    ],
  ),
  ...rows("OPTIONS /.well-known/msg/{guest}.json", [["204", "there are three methods"]]),
];

export const MESSAGE_ROWS = [...delivered, ...read, ...deleted, ...guests];
