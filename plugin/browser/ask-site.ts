// plugin/browser/ask-site.ts: a reader's requests to the site, signed with the reader's key. PROTOCOL 2.6
import { signRequest } from "../http/sign-request.js";
import { encodeKey, type SecretKey } from "../messages/browser.js";

const REQUEST_MS = 30_000;

/** Why a request failed: a word of the form. */
export type Failure = "closed" | "same" | "busy" | "full" | "refused" | "wrongClock" | "offline";

const FAILURES: Readonly<Record<number, Failure>> = { 401: "wrongClock", 403: "closed", 409: "same", 429: "busy" };

/** @param key - signs the request; `null` for none. @param json - its body. @returns the JSON of the answer */
export async function askSite(
  key: SecretKey | null,
  method: string,
  url: string,
  json?: object,
): Promise<object | Failure> {
  const body = json && new TextEncoder().encode(JSON.stringify(json));
  const headers = body ? { "content-type": "application/json" } : {};
  const signer = key && { publicKey: encodeKey(key.publicKey), sign: key.sign };
  const signed = signer ? signRequest({ method, url, headers, ...(body && { body }) }, signer, Date.now()) : headers;
  try {
    const signal = AbortSignal.timeout(REQUEST_MS);
    const response = await fetch(url, { method, headers: signed, signal, cache: "no-store", ...(body && { body }) });
    if (response.ok) return Object(await response.json());
    const { code } = Object(await response.json().catch(() => null));
    if (code === "too-many-pending") return "full";
    return FAILURES[response.status] ?? (response.status >= 500 ? "offline" : "refused");
  } catch {
    return "offline";
  }
}
