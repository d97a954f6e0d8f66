// plugin/messages/lookup/document.ts: requests one discovery document.
import * as v from "valibot";
import { ifTwtxtError, type TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { type Ask, isTimeout } from "../../http/guard.js";
import { canonicalKey } from "../../keys/key.js";
import { canParseUrl } from "../../url.js";

export interface Document {
  /** https, or http where allowed; without credentials and fragment. */
  endpoint: string;
  /** `kex1...` */
  key: string;
  /** The URL that answered, after redirects. */
  url: string;
}

export interface Miss {
  /** `none`: the server has no valid document. `busy`: it answered 429 or 5xx. `silent`: it did not answer. */
  kind: "none" | "busy" | "silent";
  /** Half a sentence without untrusted text. */
  why: string;
}

export interface DocumentNetwork {
  ask: Ask;
  /** Each exactly `host:port`. Hosts to ask over plain http, for local tests. */
  plainHosts?: readonly string[];
  /** Aborts the request, which then counts as silence. */
  signal?: AbortSignal;
}

const MAX_BYTES = 64 * 1024;
const MAX_URL_LENGTH = 2048;

const DocumentJson = v.pipe(v.string(), v.parseJson(), v.object({ endpoint: v.string(), key: v.string() }));

/** Requests a document. Failures of the server are results, not errors. @see PROTOCOL 3.1 */
export async function askDocument(
  url: string,
  { ask, plainHosts = [], signal }: DocumentNetwork,
): Promise<Document | Miss> {
  try {
    const response = await ask(url, { maxBytes: MAX_BYTES, isHttpsNeeded: true, ...(signal && { signal }) });
    if (response.status !== 200) {
      response.close();
      const isBusy = response.status === 429 || response.status >= 500;
      return { kind: isBusy ? "busy" : "none", why: `answers ${response.status}` };
    }
    return readDocument(String(await response.bytes()), response.url, plainHosts);
  } catch (error) {
    return ifTwtxtError<Miss>((one) => ({
      kind: one.code === "unreachable" ? "silent" : "none",
      why: describeError(one),
    }))(error);
  }
}

function readDocument(text: string, url: string, plainHosts: readonly string[]): Document | Miss {
  const none = (why: string): Miss => ({ kind: "none", why });
  const { success, output, issues } = v.safeParse(DocumentJson, text);
  if (!success) return none(issues[0].type === "parse_json" ? "is not JSON" : 'lacks an "endpoint" or a "key"');
  const key = canonicalKey(output.key);
  if (key === null) return none("has a malformed key");
  const endpoint = usableEndpoint(output.endpoint, plainHosts);
  if (endpoint === null) return none("has an endpoint that is not an https URL");
  return { endpoint, key, url };
}

function usableEndpoint(text: string, plainHosts: readonly string[]): string | null {
  if (text.length > MAX_URL_LENGTH || !canParseUrl(text) || text.includes("#")) return null;
  const { protocol, username, password, host, href } = new URL(text);
  const isSafe = protocol === "https:" || (protocol === "http:" && isPlain(host, plainHosts));
  return isSafe && username === "" && password === "" ? href : null;
}

/** Whether to use plain http for a host, written as in a URL (without port 80). */
export function isPlain(host: string, plainHosts: readonly string[]): boolean {
  return plainHosts.includes(/:\d+$/.test(host) ? host : `${host}:80`);
}

const WORDS: Partial<Record<TwtxtErrorCode, string>> = {
  "address-refused": "leads to an address that is refused",
  "too-many-redirects": "has too many redirects",
  "too-large": `is larger than ${MAX_BYTES / 1024} KiB`,
  "bad-compression": "cannot be decompressed",
};

function describeError(error: TwtxtError): string {
  return WORDS[error.code] ?? (isTimeout(error) ? "it took too long" : describeInvalid(error));
}

/** Node's error code, such as `ECONNREFUSED`, since the message may quote the server. */
function describeInvalid(error: TwtxtError): string {
  for (let cause: unknown = error.cause; cause; cause = Object(cause).cause) {
    const { code } = Object(cause);
    if (code === "ENOTFOUND") return "no such host";
    if (typeof code === "string" && /^[A-Z0-9_]+$/.test(code)) return `the connection failed: ${code}`;
  }
  return "the connection failed";
}
