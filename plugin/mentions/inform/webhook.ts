// plugin/mentions/inform/webhook.ts: a short note as a plain POST.
import type { Channel } from "./digest.js";
import { digestNote, type Note } from "./digest-text.js";
import { type HookFetch, postHook } from "./hook.js";

const HOUR_MS = 3600_000;

/** @throws TwtxtError `hook-failed` */
export type PostNote = (note: Note) => Promise<void>;

/**
 * Notifies the author by a webhook, at most once an hour.
 *
 * @param page - where the author sees all mentions
 */
export function webhookChannel(post: PostNote, page: string): Channel {
  return {
    name: "webhook",
    key: "inform/webhook",
    pauseMs: HOUR_MS,
    send: (news) => post(digestNote(news, page)),
  };
}

/**
 * Posts notes with the headers that ntfy reads.
 *
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
