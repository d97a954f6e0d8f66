// plugin/options/inbox.ts: what the options `inbox` and `authors` may hold.
import * as v from "valibot";
import { USER } from "../keys/address.js";
import { about, amount, layout, sitePath, text, webUrl, yesNo } from "./forms.js";

const KEX = /^kex1[02-9ac-hj-np-z]{58}$/;
const INBOX_FORM = "false, or an object such as { messages: 500 }";
const AUTHOR = 'an object such as { user: "bob", key: "kex1..." }';

/** A public key. Whether it is a point that a key may be is looked at when it is used. */
export const publicKey = text(
  (value) => KEX.test(value),
  'a public key of 62 lower-case characters that starts with "kex1"',
);

export const user = text(
  (value) => USER.test(value),
  'up to 64 of a-z 0-9 . _ -, the first a letter or digit, such as "alice"',
);

export const inboxUrl = webUrl("https://alice.example/inbox/alice");

/** What the option `inbox` may hold. */
export const INBOX = v.strictObject(
  {
    path: v.optional(about("Where inboxes are; that of an author is below it.", sitePath("/inbox")), "/inbox"),
    messages: about("How many messages an inbox holds; further ones are refused for now.", amount(1, 100_000, 1000)),
    megabytes: about("How many MiB an inbox holds.", amount(1, 10_000, 64)),
    retentionDays: about("After how many days a message is removed; 0 for never.", amount(0, 3650, 0)),
    subscribe: v.optional(
      about(
        "Whether your own reader may keep a connection open to hear of messages at once. Default: yes with `serve`, no on Netlify, where an open function is paid by the second.",
        yesNo(),
      ),
    ),
    page: v.optional(
      about(
        "Where the page stands that tells readers how to write to you; `false` for none.",
        v.union([v.literal(false), sitePath("/contact/")], 'false, or a path such as "/contact/"'),
      ),
      "/contact/",
    ),
    layout: v.optional(
      about("A layout of your site for that page; without one it is a plain page of its own.", layout()),
    ),
  },
  INBOX_FORM,
);

/** What the option `authors` may hold. */
export const AUTHORS = v.pipe(
  v.array(v.strictObject({ user, key: publicKey, endpoint: v.optional(inboxUrl) }, AUTHOR), `a list of ${AUTHOR}`),
  v.check((authors) => new Set(authors.map(({ user }) => user)).size === authors.length, "each user once"),
);
