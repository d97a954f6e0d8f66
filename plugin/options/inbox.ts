// plugin/options/inbox.ts: the options `inbox` and `authors`.
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

/** The option `inbox` as an object. */
export const INBOX = v.strictObject(
  {
    path: v.optional(about("The path of the inboxes. Each author's inbox is below it.", sitePath("/inbox")), "/inbox"),
    messages: about(
      "Messages that an inbox holds. A full inbox asks senders to try again later.",
      amount(1, 100_000, 1000),
    ),
    megabytes: about("MiB that an inbox holds.", amount(1, 10_000, 64)),
    retentionDays: about("Days until a message is removed; 0 keeps it until you delete it.", amount(0, 3650, 0)),
    subscribe: v.optional(
      about(
        "Whether `message follow` may keep a connection open to get messages at once. Default: `true` with `serve`; `false` on Netlify, which charges for an open function by the second.",
        yesNo(),
      ),
    ),
    page: v.optional(
      about(
        "The path of the page that tells readers how to write to you; `false` for no page.",
        v.union([v.literal(false), sitePath("/contact/")], 'false, or a path such as "/contact/"'),
      ),
      "/contact/",
    ),
    layout: v.optional(
      about("The layout of that page. Without it, it is a plain page with a style of its own.", layout()),
    ),
  },
  INBOX_FORM,
);

/** The option `inbox`, complete; the defaults for a site without inboxes. */
export function inboxOptions({ inbox }: { inbox: false | v.InferOutput<typeof INBOX> }): v.InferOutput<typeof INBOX> {
  return inbox || v.parse(INBOX, {});
}

/** The option `authors`. */
export const AUTHORS = v.pipe(
  v.array(v.strictObject({ user, key: publicKey, endpoint: v.optional(inboxUrl) }, AUTHOR), `a list of ${AUTHOR}`),
  v.check((authors) => new Set(authors.map(({ user }) => user)).size === authors.length, "each user once"),
);
