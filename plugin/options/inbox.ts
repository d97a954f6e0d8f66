// plugin/options/inbox.ts: the options `inbox` and `authors`.
import * as v from "valibot";
import { USER } from "../keys/address.js";
import { CONTACT_PAGE, CONTACT_STATUS } from "./contact-words.js";
import {
  amount,
  layout,
  optional,
  optionalOr,
  pagePath,
  sitePath,
  text,
  webUrl,
  wordOptions,
  yesNo,
} from "./value-types.js";

const KEX = /^kex1[02-9ac-hj-np-z]{58}$/;
const AUTHOR = '{ user: "bob", key: "kex1..." }';

/** A public key. It is decoded when it is used. */
export const publicKey = text(
  (value) => KEX.test(value),
  'a public key of 62 lower-case characters that starts with "kex1"',
);

export const user = text(
  (value) => USER.test(value),
  'up to 64 of a-z 0-9 . _ -, the first a letter or digit, such as "alice"',
);

export const inboxUrl = webUrl("https://alice.example/inbox/alice");

/** Days until a message to a guest is removed, by default and after guests were turned off. */
export const GUEST_DAYS = 90;

export const GUESTS = v.strictObject(
  {
    messages: amount("Messages from you that each guest can have.", 1, 1000, 100),
    days: amount("Days until a message to a guest is removed.", 1, 3650, GUEST_DAYS),
    mail: optionalOr(
      "Whether guests can be told by mail that an answer waits, through the server of `TWTXT_SMTP_URL`. Each address is confirmed first.",
      yesNo,
      false,
    ),
  },
  "false, or an object such as { days: 30 }",
);

/** The option `inbox` as an object. */
export const INBOX = v.strictObject(
  {
    path: optionalOr("The path of the inboxes. Each author's inbox is below it.", sitePath("/inbox"), "/inbox"),
    messages: amount("Messages that an inbox holds. A full inbox asks senders to try again later.", 1, 100_000, 1000),
    megabytes: amount("MiB that an inbox holds.", 1, 10_000, 64),
    retentionDays: amount("Days until a message is removed; 0 keeps it until you delete it.", 0, 3650, 0),
    subscribe: optional(
      "Whether `message follow` may keep a connection open to get messages at once. Default: `true` with `serve`; `false` on Netlify, which charges for an open function by the second.",
      yesNo,
    ),
    guests: optionalOr(
      "Guests are readers without an address who write to you and read your answers. An object with limits: `messages` from you that each guest can have (default 100), and the `days` until they are removed (default 90); `mail: true` lets guests be told of answers by mail. `false`: no guests.",
      v.lazy((input) => (input === false ? v.literal(false) : GUESTS)),
      {},
    ),
    page: optionalOr(
      "The path of the page that tells readers how to write to you; `false` for no page.",
      pagePath("/contact/"),
      "/contact/",
    ),
    words: v.optional(
      v.strictObject(wordOptions({ ...CONTACT_PAGE, ...CONTACT_STATUS }), 'an object such as { send: "Absenden" }'),
      {},
    ),
    layout: optional("The layout of that page, if it is not that of the option `layout`.", layout),
  },
  "false, or an object such as { messages: 500 }",
);

/** The option `inbox`, complete; the defaults for a site without inboxes. */
export function inboxOptions({ inbox }: { inbox: false | v.InferOutput<typeof INBOX> }): v.InferOutput<typeof INBOX> {
  return inbox || v.parse(INBOX, {});
}

export const AUTHORS = v.pipe(
  v.array(
    v.strictObject({ user, key: publicKey, endpoint: v.optional(inboxUrl) }, `an object such as ${AUTHOR}`),
    `a list such as [${AUTHOR}]`,
  ),
  v.check(
    (authors) => new Set(authors.map(({ user }) => user)).size === authors.length,
    "a list with each user only once",
  ),
);
