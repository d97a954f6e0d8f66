// plugin/mentions/inform/ntfy.ts: notifications on a phone through ntfy, published as JSON.
import { TwtxtError } from "../../errors.js";
import { canParseUrl } from "../../url.js";
import { decodeCredential } from "./decode-credential.js";
import type { Channel } from "./digest.js";
import { type Digest, digestNote } from "./digest-text.js";
import { type HookFetch, postHook } from "./hook.js";

const HOUR_MS = 3600_000;
const VARIABLE = "TWTXT_NTFY_URL";
const TOPIC = /^\/([A-Za-z0-9_-]{1,64})$/;

/** Where a notification is published. */
export interface NtfyTopic {
  /** The root of the server. */
  server: string;
  topic: string;
  /** `null` for a topic that anyone may write to. */
  authorization: string | null;
}

/**
 * Notifies the author through ntfy, at most once an hour.
 *
 * @param url - `TWTXT_NTFY_URL`: see {@link ntfyTopic}
 * @param page - where the author sees all mentions
 * @see docs.ntfy.sh/publish
 */
export function ntfyChannel(url: string, fetch: HookFetch, page: string): Channel {
  return {
    name: "ntfy",
    key: "inform/ntfy",
    pauseMs: HOUR_MS,
    async send(news) {
      const { server, topic, authorization } = ntfyTopic(url);
      const { title, text: message, click } = digestNote(news, page);
      const headers = { "content-type": "application/json", ...(authorization && { authorization }) };
      const body = JSON.stringify({ topic, title, message, click, tags: tagsOf(news) });
      await postHook({ variable: VARIABLE, url: server, fetch }, headers, body);
    },
  };
}

/**
 * Reads the URL of a topic, such as `https://ntfy.sh/topic` or `https://user:password@ntfy.example/topic`. An access token
 * stands alone before the `@`. All of them are percent-encoded.
 *
 * @throws TwtxtError `hook-failed`, without the URL: it may hold a password, and a topic is as good as one
 */
export function ntfyTopic(url: string): NtfyTopic {
  const { protocol, host, pathname, search, hash, username, password } = parsed(url);
  const topic = TOPIC.exec(pathname)?.[1];
  if (!/^https?:$/.test(protocol) || topic === undefined || search + hash !== "") throw badUrl();
  return {
    server: `${protocol}//${host}/`,
    topic,
    authorization: authorizationOf(decodeCredential(username, badUrl), decodeCredential(password, badUrl)),
  };
}

function authorizationOf(user: string, password: string): string | null {
  if (user !== "" && password !== "") return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const token = user || password;
  return token === "" ? null : `Bearer ${token}`;
}

/** ntfy shows these tags as emoji before the title. */
function tagsOf({ mentions, sealed, filling }: Digest): string[] {
  return [
    ...(mentions.length > 0 ? ["speech_balloon"] : []),
    ...(sealed > 0 ? ["envelope"] : []),
    ...(filling.length > 0 ? ["warning"] : []),
  ];
}

function parsed(url: string): URL {
  if (!canParseUrl(url)) throw badUrl();
  return new URL(url);
}

function badUrl(): TwtxtError {
  return new TwtxtError(
    "hook-failed",
    `${VARIABLE}: expected the URL of a topic such as "https://ntfy.sh/my-topic" or "https://user:password@ntfy.example/my-topic".`,
  );
}
