// plugin/mentions/inform/ntfy.ts: notifications on a phone through ntfy, published as JSON.
import { TwtxtError } from "../../errors.js";
import { canParseUrl, decodePercent } from "../../url.js";
import type { Channel } from "./digest.js";
import { type Digest, type DigestOptions, digestNote } from "./digest-text.js";
import { postHook } from "./webhook.js";

const VARIABLE = "TWTXT_NTFY_URL";
const TOPIC = /^\/([A-Za-z0-9_-]{1,64})$/;

/**
 * Notifies the author through ntfy, at most once an hour.
 *
 * @param url - `TWTXT_NTFY_URL`: see {@link ntfyTopic}
 * @see docs.ntfy.sh/publish
 */
export function ntfyChannel(url: string, options: Pick<DigestOptions, "page" | "links">): Channel {
  return {
    name: "ntfy",
    pauseHours: 1,
    async send(news) {
      const { server, topic, authorization } = ntfyTopic(url);
      const { title, text: message, click } = digestNote(news, options);
      const headers = { "content-type": "application/json", ...(authorization && { authorization }) };
      const body = JSON.stringify({ topic, title, message, click, tags: listTags(news) });
      await postHook({ variable: VARIABLE, url: server }, headers, body);
    },
  };
}

/**
 * Parses the URL of a topic: `https://ntfy.sh/topic`, `https://user:password@ntfy.example/topic`, or with an access token
 * instead of user and password. All of them are percent-encoded.
 *
 * @returns the root of the server, the topic, and the header `Authorization`; `null` for a topic that anyone may write to
 * @throws TwtxtError `hook-failed`, without the URL: it may contain a password, and a secret topic works like one
 */
export function ntfyTopic(url: string): { server: string; topic: string; authorization: string | null } {
  if (!canParseUrl(url)) throw badUrl();
  const { protocol, host, pathname, search, hash, username, password } = new URL(url);
  const topic = TOPIC.exec(pathname)?.[1];
  const [user, secret] = [decodePercent(username), decodePercent(password)];
  if (!/^https?:$/.test(protocol) || topic === undefined || search + hash !== "") throw badUrl();
  if (user === null || secret === null) throw badUrl();
  return {
    server: `${protocol}//${host}/`,
    topic,
    authorization: formatAuthorization(user, secret),
  };
}

function formatAuthorization(user: string, password: string): string | null {
  if (user !== "" && password !== "") return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const token = user || password;
  return token === "" ? null : `Bearer ${token}`;
}

/** ntfy shows these tags as emoji before the title. */
function listTags({ mentions, sealed, filling }: Digest): string[] {
  return [
    ...(mentions.length > 0 ? ["speech_balloon"] : []),
    ...(sealed > 0 ? ["envelope"] : []),
    ...(filling.length > 0 ? ["warning"] : []),
  ];
}

function badUrl(): TwtxtError {
  return new TwtxtError(
    "hook-failed",
    `${VARIABLE}: expected the URL of a topic such as "https://ntfy.sh/my-topic" or "https://user:password@ntfy.example/my-topic".`,
  );
}
