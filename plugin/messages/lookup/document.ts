// plugin/messages/lookup/document.ts: one discovery document, as a server answers with it or does not.
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { type Ask, isTimeout } from "../../http/guard.js";
import { formatKey, parseKey } from "../../keys/key.js";

/** What an address leads to. */
export interface Document {
  /** https, or http where that is allowed; without credentials and fragment. */
  endpoint: string;
  /** `kex1...` */
  key: string;
  /** The URL that answered, after redirects. */
  url: string;
}

/** Why there is no document. */
export interface Miss {
  /**
   * `none`: the server has answered, and it is not there. `busy`: it has answered that it cannot say now. `silent`: it has
   * not answered.
   */
  kind: "none" | "busy" | "silent";
  /** Half a sentence, without anything from outside. */
  why: string;
}

/** How strangers' documents are asked for. */
export interface DocumentNetwork {
  ask: Ask;
  /** `host:port`, exactly: where plain http is spoken, for trying out. */
  plainHosts?: readonly string[];
  /** Ends the asking, as silence would. */
  signal?: AbortSignal;
}

const MAX_BYTES = 64 * 1024;
const MAX_URL_LENGTH = 2048;

const Fields = v.looseObject({ endpoint: v.string(), key: v.string() });

/**
 * Asks for a document.
 *
 * @throws TwtxtError for nothing that a stranger's server does
 * @see PROTOCOL 3.1
 */
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
    if (!(error instanceof TwtxtError)) throw error;
    return { kind: error.code === "unreachable" ? "silent" : "none", why: reasonOf(error) };
  }
}

function readDocument(text: string, url: string, plainHosts: readonly string[]): Document | Miss {
  const none = (why: string): Miss => ({ kind: "none", why });
  const value = parsed(text);
  if (value === undefined) return none("is not JSON");
  const fields = v.safeParse(Fields, value);
  if (!fields.success) return none('lacks an "endpoint" or a "key"');
  const key = canonicalKey(fields.output.key);
  if (key === null) return none("has a malformed key");
  const endpoint = usableEndpoint(fields.output.endpoint, plainHosts);
  if (endpoint === null) return none("has an endpoint that is no https URL");
  return { endpoint, key, url };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function canonicalKey(text: string): string | null {
  try {
    return formatKey(parseKey(text));
  } catch (error) {
    if (error instanceof TwtxtError) return null;
    throw error;
  }
}

function usableEndpoint(text: string, plainHosts: readonly string[]): string | null {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text) || text.includes("#")) return null;
  const { protocol, username, password, host, href } = new URL(text);
  const isSafe = protocol === "https:" || (protocol === "http:" && isPlain(host, plainHosts));
  return isSafe && username === "" && password === "" ? href : null;
}

/** Whether plain http is spoken with a host, given as a URL has it: port 80 goes without saying. */
export function isPlain(host: string, plainHosts: readonly string[]): boolean {
  return plainHosts.includes(/:\d+$/.test(host) ? host : `${host}:80`);
}

function reasonOf(error: TwtxtError): string {
  switch (error.code) {
    case "address-refused":
      return "leads to an address that is not asked";
    case "too-many-redirects":
      return "redirects too often, or in a circle";
    case "too-large":
      return `is larger than ${MAX_BYTES / 1024} KiB`;
    case "bad-compression":
      return "cannot be decompressed";
    default:
      return isTimeout(error) ? "it took too long" : brokenBy(error);
  }
}

/** Node's code of what broke the connection, such as `ECONNREFUSED`, since its text may quote the other side. */
function brokenBy(error: TwtxtError): string {
  for (let cause: unknown = error.cause; cause; cause = Object(cause).cause) {
    const { code } = Object(cause);
    if (code === "ENOTFOUND") return "no such host";
    if (typeof code === "string" && /^[A-Z0-9_]+$/.test(code)) return `the connection failed: ${code}`;
  }
  return "the connection failed";
}
