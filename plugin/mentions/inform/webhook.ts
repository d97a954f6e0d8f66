// plugin/mentions/inform/webhook.ts: notifications by a plain POST, and requests to the author's webhooks.
import { TwtxtError } from "../../errors.js";
import { fetchSafely } from "../../transport/fetch.js";
import { webUrlOrNull } from "../../web-url.js";
import type { Channel } from "./digest.js";
import { type DigestOptions, digestNote } from "./digest-text.js";

/**
 * A webhook of the author. It may be on a private network, so its requests do not go through the guard. Its URL is a secret:
 * messages never contain it.
 */
interface Hook {
  /** The environment variable that has the URL, for messages. */
  variable: string;
  url: string;
}

const TIMEOUT = 10_000;

/**
 * Notifies the author by a webhook, at most once an hour, with the headers that ntfy reads.
 *
 * @param url - `TWTXT_WEBHOOK_URL`
 * @see docs.ntfy.sh/publish
 */
export function webhookChannel(url: string, options: Pick<DigestOptions, "page" | "links">): Channel {
  return {
    name: "webhook",
    pauseHours: 1,
    async send(news) {
      const { title, click, text } = digestNote(news, options);
      const headers = { title, click, "content-type": "text/plain; charset=utf-8" };
      await postHook({ variable: "TWTXT_WEBHOOK_URL", url }, headers, text);
    },
  };
}

/** @throws TwtxtError `hook-failed`, with what to do */
export async function postHook({ variable, url }: Hook, headers: Record<string, string>, body: string): Promise<void> {
  if (webUrlOrNull(url) === null) {
    throw hookFailed(`${variable}: expected an http or https URL without user and password.`);
  }
  const response = await fetchSafely(url, {
    method: "POST",
    headers,
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT),
  }).catch((error: Error) => {
    throw hookFailed(`${variable} could not be reached (${errorCode(error)}).`);
  });
  await response.body?.cancel();
  if (!response.ok) throw hookFailed(`${variable} answered ${response.status} instead of 200.`);
}

/** The error's code, since its message may contain the URL. */
function errorCode({ name, cause }: Error): string {
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : name;
}

function hookFailed(message: string): TwtxtError {
  return new TwtxtError("hook-failed", message);
}
