// plugin/http/guard.ts: the only door to a server of strangers.
import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector, request } from "undici";
import { TwtxtError } from "../errors.js";
import { concatChunks } from "../store/chunks.js";
import { boundedBody } from "./bounded-body.js";
import { isPublicAddress } from "./public-address.js";

/** A request to a stranger. */
export interface GuardedRequest {
  method?: "GET" | "HEAD" | "POST";
  headers?: Record<string, string>;
  body?: string;
  /** How many bytes of the body are read at the most, counted after decompression. */
  maxBytes: number;
  /** Refuse plain http, where the protocol does. */
  isHttpsNeeded?: boolean;
  /** Ends the request and its body, as a timeout would: for a deadline over several requests. */
  signal?: AbortSignal;
  /** Told each URL before it is asked, redirects included; throws a TwtxtError for one that must not be. */
  checkUrl?: (url: string) => void;
}

/** An answer. Its body can be read once, and ends with an error where it is larger than asked for. */
export interface GuardedResponse {
  status: number;
  /** By lower-cased name; repeated ones are joined by a comma and a space. */
  headers: Record<string, string>;
  /** The URL that answered, after redirects, without fragment. */
  url: string;
  /** Every URL that was asked, the first one first. */
  asked: string[];
  body: AsyncIterable<Uint8Array>;
  /** All of the body. @throws TwtxtError `too-large`, `bad-compression`, `unreachable` */
  bytes(): Promise<Buffer>;
  /** Lets go of a body that is not read to its end. */
  close(): void;
}

export type Ask = (url: string, request: GuardedRequest) => Promise<GuardedResponse>;

export interface GuardOptions {
  /** Who is asking: `client/version (+feed url; @nick)`. */
  userAgent: string;
  /** `host:port`, exactly; these may be private, and plain http. */
  allowPrivateHosts?: readonly string[];
  /** For everything, redirects and body included; default 10,000. */
  totalMs?: number;
  /** To the first byte of an answer; default 5,000. */
  firstByteMs?: number;
  /** How names are resolved; default the system's way. */
  lookup?: typeof systemLookup;
  /** Dials an address that has passed; for tests that must not leave the machine. */
  connector?: (options: buildConnector.BuildOptions) => buildConnector.connector;
}

/** Codes of a handshake that ends because there is no version of TLS in common. */
export const OLD_TLS = /^ERR_SSL_(TLSV1_ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/;
const MAX_REDIRECTS = 5;
const ACCEPTED_ENCODINGS = "gzip, deflate";

/**
 * Makes the function by which this package speaks to servers of strangers.
 *
 * The connection goes to the very address that was checked, every redirect is checked again, and whatever comes back is
 * bounded in time and size.
 *
 * @returns a function that throws TwtxtError `address-refused` for a URL or an address that must not be asked,
 *   `too-many-redirects` for a sixth one or a loop, `bad-compression`, `too-large`, and `unreachable` for all that may
 *   pass: DNS, refused and broken connections, TLS, timeouts
 * @see PROTOCOL 6
 */
export function createGuard(options: GuardOptions): Ask {
  const { userAgent, totalMs = 10_000, firstByteMs = 5_000 } = options;
  const allowed = new Set(options.allowPrivateHosts ?? []);
  const strangers = agent(options, guardedLookup(options.lookup ?? systemLookup));
  const neighbours = agent(options, options.lookup ?? systemLookup);

  const askOnce = async (url: URL, { method = "GET", headers, body }: GuardedRequest, signal: AbortSignal) => {
    return request(url, {
      method,
      headers: { "user-agent": userAgent, "accept-encoding": ACCEPTED_ENCODINGS, ...headers },
      body: body ?? null,
      dispatcher: allowed.has(hostAndPort(url)) ? neighbours : strangers,
      headersTimeout: firstByteMs,
      signal,
    });
  };

  return async (address, guarded) => {
    const deadline = new AbortController();
    const signal = guarded.signal ? AbortSignal.any([deadline.signal, guarded.signal]) : deadline.signal;
    const timer = setTimeout(() => deadline.abort(), totalMs);
    const close = () => {
      clearTimeout(timer);
      deadline.abort();
    };
    try {
      const asked: string[] = [];
      for (let url = checkedUrl(address, guarded, allowed); ; ) {
        if (asked.includes(url.href) || asked.length > MAX_REDIRECTS) throw tooManyRedirects(address);
        guarded.checkUrl?.(url.href);
        asked.push(url.href);
        const answer = await askOnce(url, guarded, signal);
        const next = redirectOf(answer, url, guarded.method ?? "GET");
        if (next === null) {
          const headers = headersOf(answer.headers);
          const pieces = boundedBody(answer.body, headers["content-encoding"], guarded.maxBytes, signal);
          const body = closing(pieces, close);
          const bytes = async () => Buffer.from(await concatChunks(body));
          return { status: answer.statusCode, headers, url: url.href, asked, body, bytes, close };
        }
        await answer.body.dump();
        url = checkedUrl(next, guarded, allowed);
      }
    } catch (error) {
      close();
      throw unreachable(error, address);
    }
  };
}

/** Whether the guard has thrown this `unreachable` because the other side took too long. */
export function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as NodeJS.ErrnoException).code);
  const isLate = ["AbortError", "TimeoutError"].includes(error.name) || /_TIMEOUT$|^ETIMEDOUT$/.test(code);
  return isLate || isTimeout(error.cause);
}

/** @throws TwtxtError `address-refused` for a URL that is never asked, whatever its address */
function checkedUrl(address: string, { isHttpsNeeded }: GuardedRequest, allowed: ReadonlySet<string>): URL {
  const refuse = (why: string) => new TwtxtError("address-refused", `${address} is not asked: ${why}.`);
  if (!URL.canParse(address)) throw refuse("it is no URL");
  const url = new URL(address);
  url.hash = "";
  // The same host, which lists of hosts would not know.
  url.hostname = url.hostname.replace(/\.+$/, "");
  const isAllowed = allowed.has(hostAndPort(url));
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse("it is neither http nor https");
  if (url.protocol === "http:" && isHttpsNeeded && !isAllowed) throw refuse("https is needed here");
  if (url.username !== "" || url.password !== "") throw refuse("it holds credentials");

  const port = portOf(url);
  if (port !== 80 && port !== 443 && port < 1024) throw refuse(`port ${port} is not for web servers`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A name is checked when it is looked up, but an address is never looked up.
  if (isIP(host) !== 0 && !isAllowed && !isPublicAddress(host)) throw refuse("its address is not a public one");
  return url;
}

function agent({ firstByteMs = 5_000, connector = buildConnector }: GuardOptions, lookup: LookupFunction): Agent {
  const connect = connector({ lookup, timeout: firstByteMs, minVersion: "TLSv1.2" } as buildConnector.BuildOptions);
  return new Agent({ connect, pipelining: 1 });
}

/** Resolves a name, and refuses it where a single one of its addresses is not public. */
function guardedLookup(lookup: typeof systemLookup): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "");
      const hidden = addresses.find(({ address }) => !isPublicAddress(address));
      const [first] = addresses;
      if (hidden || !first) {
        return callback(
          new TwtxtError("address-refused", `${name} is not asked: it has an address that is not public.`),
          "",
        );
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/** Where an answer sends us. A POST goes on only where method and body stay what they are. */
function redirectOf(
  { statusCode, headers }: { statusCode: number; headers: Record<string, string | string[] | undefined> },
  url: URL,
  method: string,
): string | null {
  const location = [headers.location].flat()[0];
  const codes = method === "POST" ? [307, 308] : [301, 302, 303, 307, 308];
  return location !== undefined && codes.includes(statusCode) && URL.canParse(location, url.href)
    ? new URL(location, url).href
    : null;
}

function headersOf(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value ?? ""].flat().join(", ")]),
  );
}

async function* closing(body: AsyncIterable<Uint8Array>, close: () => void): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw unreachable(error, "the answer");
  } finally {
    close();
  }
}

/** What is not our own verdict may pass: it is worth another try. */
function unreachable(error: unknown, address: string): TwtxtError {
  for (let cause: unknown = error; cause; cause = (cause as Error).cause) if (cause instanceof TwtxtError) return cause;
  return new TwtxtError(
    "unreachable",
    `${address} could not be reached: ${reasonOf(error as NodeJS.ErrnoException)}.`,
    {
      cause: error,
    },
  );
}

/** OpenSSL's own messages consist of addresses and names of its functions. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  // The code of a DOMException is a number.
  const name = String(code);
  if (OLD_TLS.test(name)) return "its server offers only TLS older than 1.2";
  if (name === "ERR_SSL_WRONG_VERSION_NUMBER") return "its server does not speak TLS at this port";
  return name.startsWith("ERR_SSL_") ? `TLS failed (${name})` : message;
}

function tooManyRedirects(address: string): TwtxtError {
  return new TwtxtError("too-many-redirects", `${address} redirects more than ${MAX_REDIRECTS} times, or in a circle.`);
}

function hostAndPort(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

function portOf(url: URL): number {
  return Number(url.port || (url.protocol === "http:" ? 80 : 443));
}
