// plugin/cli/mentions-api.ts: asks one's own site about its mentions, by signed requests.
import { TwtxtError } from "../errors.js";
import { signRequest } from "../http/signature.js";
import type { Identity } from "../keys/identity-text.js";

const TIMEOUT_MS = 70_000;

/** Asks the site. @returns what it answers, as JSON */
export type AskSite = (method: "GET" | "POST" | "DELETE", path: string, body?: unknown) => Promise<unknown>;

/**
 * @param root - the URL of the API, without a slash at its end
 * @param now - milliseconds since 1970
 */
export function siteApi(root: string, identity: Identity, now: () => number): AskSite {
  return async (method, path, body) => {
    const url = root + path;
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = signRequest({ method, url, ...(bytes && { body: bytes }) }, identity, now());
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        headers,
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(bytes && { body: bytes }),
      });
    } catch (cause) {
      throw new TwtxtError("unreachable", `${url} could not be reached: ${reasonOf(cause)}.`, { cause });
    }
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    throw refusal(url, response.status, text);
  };
}

function refusal(url: string, status: number, text: string): TwtxtError {
  // Where it answers with a problem of ours, functions there are.
  const isOurs = detailOf(text) !== null;
  const hint =
    {
      401: " Is the clock of this machine right?",
      403: ' The site knows another key: look at its option "key", and deploy.',
      404: isOurs ? "" : " Has the site been deployed with functions?",
    }[status] ?? "";
  return new TwtxtError(
    "not-allowed",
    `${url} answers ${status}: ${detailOf(text) ?? "with something else than JSON."}${hint}`,
  );
}

/** @returns `null` for what is no answer of ours */
function detailOf(text: string): string | null {
  try {
    const { detail } = Object(JSON.parse(text));
    return typeof detail === "string" ? detail : null;
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = Object(error);
  return String(Object(cause).code ?? Object(cause).message ?? message);
}
