// test/http-api/message-rows.ts: what is asked about private messages.
import { sealed } from "../messages/inbox/alices-inbox.js";
import { type Row, rows, rowsOfEach } from "./rows.js";

const STREAM = { accept: "text/event-stream" };
const STRANGER = { parameters: { user: "bob" } };
const NOBODY = { asked: STRANGER };

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

export const MESSAGE_ROWS = [...delivered, ...read, ...deleted];
