// plugin/mentions/inform/webhook.ts: a short note to the author's telephone, as ntfy takes it.
import { type HookFetch, postHook } from "./hook.js";

export interface Note {
  /** Of ASCII characters, for a header. */
  title: string;
  /** What opens at a tap: a URL of our own. */
  click: string;
  text: string;
}

/** @throws TwtxtError `hook-failed` */
export type PostNote = (note: Note) => Promise<void>;

/**
 * @param url - `TWTXT_WEBHOOK_URL`
 * @see docs.ntfy.sh/publish
 */
export function webhook(url: string, fetch: HookFetch): PostNote {
  return ({ title, click, text }) =>
    postHook(
      { variable: "TWTXT_WEBHOOK_URL", url, fetch },
      { title, click, "content-type": "text/plain; charset=utf-8" },
      text,
    );
}
