// plugin/eleventy/served-options.ts: complete options of mentions, inboxes and blobs.
import * as v from "valibot";
import type { BLOBS } from "../options/blobs.js";
import { INBOX } from "../options/inbox.js";
import { MENTIONS } from "../options/mentions.js";
import type { Settings } from "../options.js";

/** The option `mentions`, complete. */
export type MentionsOptions = v.InferOutput<typeof MENTIONS>;

/** The option `inbox`, complete. */
export type InboxOptions = v.InferOutput<typeof INBOX>;

/** The option `blobs`, where they are on. */
export type BlobsOptions = v.InferOutput<typeof BLOBS>;

const MIB = 2 ** 20;
/** Netlify hands over no larger request. PROTOCOL 6 */
const NETLIFY_MIB = 4;

/** How many bytes one blob may have on this host. */
export function maxBlobBytes({ maxMegabytes }: BlobsOptions, host: NonNullable<Settings["host"]>): number {
  return (host === "netlify" ? Math.min(maxMegabytes, NETLIFY_MIB) : maxMegabytes) * MIB;
}

/** The options of mentions. A site that receives none has the defaults for what it sends. */
export function mentionsOptions({ mentions }: Pick<Settings, "mentions">): MentionsOptions {
  return mentions || v.parse(MENTIONS, {});
}

/** The options of inboxes. A site that has none has the defaults. */
export function inboxOptions({ inbox }: Pick<Settings, "inbox">): InboxOptions {
  return inbox || v.parse(INBOX, {});
}

/** Where inboxes are, without a slash at its end. */
export function inboxPath(settings: Pick<Settings, "inbox">): string {
  return inboxOptions(settings).path.replace(/\/$/, "");
}

/** The authors whose inbox is at this site, if it is served there. */
export function authorsHere({ authors, inbox }: Pick<Settings, "authors" | "inbox">): Settings["authors"] {
  return inbox === false ? [] : authors.filter(({ endpoint }) => endpoint === undefined);
}
