// plugin/options/inbox.ts: the options `inbox` and `authors`.
import * as v from "valibot";
import { USER } from "../keys/address.js";
import { CONTACT_PAGE, CONTACT_STATUS } from "./contact-words.js";
import { amount, layout, offOr, ownWords, pagePath, sitePath, text, webUrl, yesNo } from "./value-types.js";

const KEX = /^kex1[02-9ac-hj-np-z]{58}$/;
const AUTHOR = '{ user: "bob", key: "kex1..." }';

/** A public key. It is decoded when it is used. */
export const publicKey = text(
  (value) => KEX.test(value),
  'a public key of 62 lower-case characters that starts with "kex1" (create one: npx eleventy-twtxt keys create)',
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
    messages: amount(1, 1000, 100),
    days: amount(1, 3650, GUEST_DAYS),
    mail: v.optional(yesNo, false),
  },
  "false, or an object such as { days: 30 }",
);

/** The option `inbox` as an object: see docs/messages.md, Options. */
export const INBOX = v.strictObject(
  {
    path: v.optional(sitePath("/inbox"), "/inbox"),
    messages: amount(1, 100_000, 1000),
    megabytes: amount(1, 10_000, 64),
    retentionDays: amount(0, 3650, 0),
    subscribe: v.optional(yesNo),
    guests: v.optional(offOr(GUESTS), {}),
    page: v.optional(pagePath("/contact/"), "/contact/"),
    words: v.optional(ownWords({ ...CONTACT_PAGE, ...CONTACT_STATUS }, '{ send: "Absenden" }'), {}),
    layout: v.optional(layout),
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
