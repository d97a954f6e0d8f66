// plugin/mentions/inform/hook.ts: posts to a webhook of the author.
import { TwtxtError } from "../../errors.js";
import { canParseUrl } from "../../url.js";

/** The subset of `fetch` that hooks need. */
export type HookFetch = (
  url: string,
  request: { method: "POST"; headers: Record<string, string>; body: string; redirect: "manual"; signal: AbortSignal },
) => Promise<Pick<Response, "ok" | "status" | "body">>;

/** A webhook. Its URL may be on a private network and is a secret, so messages never contain it. */
export interface Hook {
  /** The environment variable that has the URL, for messages. */
  variable: string;
  url: string;
  fetch: HookFetch;
}

const TIMEOUT = 10_000;

/** @throws TwtxtError `hook-failed`, with what to do */
export async function postHook(
  { variable, url, fetch }: Hook,
  headers: Record<string, string>,
  body: string,
): Promise<void> {
  if (!isHookUrl(url)) {
    throw hookFailed(`${variable}: expected an http or https URL without user and password.`);
  }
  const response = await fetch(url, {
    method: "POST",
    headers,
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT),
  }).catch((error: Error) => {
    throw hookFailed(`${variable} could not be reached (${codeOf(error)}).`);
  });
  await response.body?.cancel();
  if (!response.ok) throw hookFailed(`${variable} answered ${response.status} instead of 200.`);
}

function isHookUrl(text: string): boolean {
  if (!canParseUrl(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

/** The error's code, because its message may contain the URL. */
function codeOf({ name, cause }: Error): string {
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : name;
}

function hookFailed(message: string): TwtxtError {
  return new TwtxtError("hook-failed", message);
}
