// plugin/http/guard.ts: HTTP client for untrusted servers (SSRF protection, limits on time and size).
import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { ifTwtxtError, TwtxtError } from "../errors.js";
import { later, once } from "../later.js";
import { memoryStore } from "../store/memory.js";
import { isReset, sendRequest } from "../transport/http-client.js";
import type { Route, TransportResponse } from "../transport/transport.js";
import {
  canParseUrl,
  hostAndPort,
  isLoopback,
  isSmallWeb,
  parseUrl,
  readPort,
  resolveUrl,
  withoutLastDots,
} from "../url.js";
import { boundedBody, OVERHEAD_BYTES } from "./bounded-body.js";
import { type CheckCertificate, certificatePins } from "./certificate-pins.js";
import { isPublicAddress, PrivateAddressError } from "./public-address.js";

const smallWeb = later(() => import("../transport/small-web.js"));
/** Loading it, and its parser at the first request, costs a third of a second of CPU: a build that asks only its own site needs neither. */
const undici = later(() => import("../transport/undici-client.js"));

/** A request to an untrusted server. */
export interface GuardedRequest {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** By lower-cased name. With `authorization`, a redirect to another origin is refused. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Maximum size of the body after decompression. */
  maxBytes: number;
  /** Whether gemini and gopher are allowed, too, with GET. PROTOCOL 2.8 */
  isFeed?: boolean;
  isHttpsNeeded?: boolean;
  /** Aborts the request and its body, for a deadline of several requests. */
  signal?: AbortSignal;
  /** Called with each URL before it is requested, redirects included; throws a TwtxtError to refuse it. */
  checkUrl?: (url: string) => void;
}

/** A response. Its body can be read once, and throws if it is larger than `maxBytes`. */
export interface GuardedResponse {
  status: number;
  /** By lower-cased name; repeated fields are joined by a comma and a space. */
  headers: Record<string, string>;
  /** The final URL after redirects, without fragment. */
  url: string;
  /** All requested URLs in order. */
  asked: string[];
  body: AsyncIterable<Uint8Array>;
  /** Reads the whole body. @throws TwtxtError `too-large`, `bad-compression`, `unreachable` */
  bytes(): Promise<Buffer>;
  /** Reads the body as far as possible. `trouble` is what {@link bytes} throws; `null` for a whole body. */
  start(): Promise<{ bytes: Buffer; trouble: TwtxtError | null }>;
  /** Closes the connection of a body that is not read to its end. */
  close(): void;
}

export type Ask = (url: string, request: GuardedRequest) => Promise<GuardedResponse>;

export interface GuardOptions {
  /** `client/version (+feed url; @nick)`. */
  userAgent: string;
  /** Exact `host:port` values that may have private addresses and use plain http. */
  allowPrivateHosts?: readonly string[];
  /** The URL of the author's own site, see {@link allowedHosts}. It is read with the client of Node.js. */
  ownUrl?: string;
  /** Timeout of the whole request with redirects and body, in milliseconds; default 10,000. */
  totalMs?: number;
  /** Timeout of the first byte, in milliseconds; default 5,000. */
  firstByteMs?: number;
  /** The known certificates of gemini servers; default: each guard begins without any. */
  checkCertificate?: CheckCertificate;
  /** DNS lookup; default: the system's. */
  lookup?: typeof systemLookup;
  /** Changes where a connection goes; for tests that must not leave the machine. */
  route?: Route;
}

/** Error codes of a handshake without a common TLS version. */
export const OLD_TLS = /^ERR_SSL_(TLSV1_ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/;
/** Ports below 1024 that may be requested. */
const WELL_KNOWN_PORTS: Record<string, number[]> = { "http:": [80, 443], "https:": [80, 443], "gopher:": [70] };
const MAX_REDIRECTS = 5;
const ACCEPTED_ENCODINGS = "gzip, deflate";
/** One for all, since creating an error takes longer than the rest of the end of a request. */
const CLOSED = new DOMException("The response was closed.", "AbortError");

/**
 * Creates the function that requests URLs of untrusted servers.
 *
 * It connects to the same address that it checked, checks every redirect again, and limits time and size.
 *
 * @returns a function that throws TwtxtError `address-refused` for a forbidden URL or address, `too-many-redirects` after
 *   five redirects or in a loop, `bad-compression`, `too-large`, and `unreachable` for failures that may be temporary:
 *   DNS, connection, TLS, timeout
 * @see PROTOCOL 6
 */
export function createGuard(options: GuardOptions): Ask {
  const { totalMs = 10_000 } = options;
  const chooseAllowed = allowedHosts(options);
  const askOnce = singleRequest(options);

  return async (address, guarded) => {
    const allowed = chooseAllowed(address, guarded);
    const deadline = new AbortController();
    const signal = guarded.signal ? AbortSignal.any([deadline.signal, guarded.signal]) : deadline.signal;
    const timer = setTimeout(() => deadline.abort(), totalMs);
    const close = () => {
      clearTimeout(timer);
      deadline.abort(CLOSED);
    };
    try {
      const asked: string[] = [];
      for (let url = checkedUrl(address, guarded, allowed); ; ) {
        if (asked.includes(url.href) || asked.length > MAX_REDIRECTS) {
          const what = `${address} redirects more than ${MAX_REDIRECTS} times, or in a loop.`;
          throw new TwtxtError("too-many-redirects", what);
        }
        guarded.checkUrl?.(url.href);
        asked.push(url.href);
        const answer = await askOnce(url, guarded, { signal, isAllowed: allowed.has(hostAndPort(url)) });
        const next = findRedirect(answer, url, isReading(guarded));
        if (next === null) return { url: url.href, asked, close, ...readable(answer, guarded.maxBytes, signal, close) };
        answer.destroy();
        const from = url.origin;
        url = checkedUrl(next, guarded, allowed);
        if (guarded.headers?.authorization !== undefined && url.origin !== from) {
          throw new TwtxtError("address-refused", `${address} redirects a request with credentials to ${url.host}.`);
        }
        if (isSmallWeb(url.href) === isSmallWeb(address)) continue;
        throw new TwtxtError("address-refused", `${address} redirects to another kind of server.`);
      }
    } catch (error) {
      close();
      throw unreachable(error, address);
    }
  };
}

/**
 * Chooses the hosts that may have a private address: also the author's own, which often has one on the machine that serves it
 * (Debian writes `127.0.1.1 alice.example` into /etc/hosts). But only where it is read itself: a redirect of a stranger's
 * server, or a POST to an endpoint that it names, must not reach what a proxy shows to its own machine only. A site on
 * loopback is a trial, and is always allowed.
 */
function allowedHosts({ allowPrivateHosts = [], ownUrl }: GuardOptions) {
  const hosts: ReadonlySet<string> = new Set(allowPrivateHosts);
  if (ownUrl === undefined) return () => hosts;
  const own = hostAndPort(new URL(ownUrl));
  const withOwn = new Set([...hosts, own]);
  if (isLoopback(new URL(ownUrl).hostname)) return () => withOwn;
  return (address: string, request: GuardedRequest) =>
    isReading(request) && canParseUrl(address) && hostAndPort(new URL(address)) === own ? withOwn : hosts;
}

function singleRequest(options: GuardOptions) {
  const { userAgent, firstByteMs = 5_000, lookup = systemLookup, route = (target) => target } = options;
  const { checkCertificate = certificatePins(memoryStore(), () => 0) } = options;
  const routeWith =
    (lookup: LookupFunction): Route =>
    (target) =>
      route({ ...target, lookup });
  const publicRoute = routeWith(guardedLookup(lookup));
  const privateRoute = routeWith(lookup);
  const askPublic = once(async () => (await undici()).createUndiciClient(publicRoute, firstByteMs));
  const askPrivate = once(async () => (await undici()).createUndiciClient(privateRoute, firstByteMs));
  const own = options.ownUrl === undefined ? null : hostAndPort(new URL(options.ownUrl));

  return async (
    url: URL,
    guarded: GuardedRequest,
    { signal, isAllowed }: { signal: AbortSignal; isAllowed: boolean },
  ): Promise<TransportResponse> => {
    const { method = "GET", body = null, maxBytes } = guarded;
    const receivedBytes = maxBytes + OVERHEAD_BYTES;
    const target = { protocol: url.protocol, host: url.hostname.replace(/^\[|\]$/g, ""), port: readPort(url) };
    if (isSmallWeb(url.href)) {
      const { readSmallWeb } = await smallWeb();
      return readSmallWeb(url, {
        target: isAllowed ? privateRoute(target) : publicRoute(target),
        maxBytes: receivedBytes,
        signal,
        firstByteMs,
        checkCertificate: (certificate) => checkCertificate(hostAndPort(url), certificate),
      });
    }
    const headers = { "user-agent": userAgent, "accept-encoding": ACCEPTED_ENCODINGS, ...guarded.headers };
    if (isAllowed && isReading(guarded) && hostAndPort(url) === own) {
      return sendRequest(url, { method, headers, signal, target: privateRoute(target), firstByteMs });
    }
    const send = await (isAllowed ? askPrivate() : askPublic());
    return send(url, { method, headers, body, maxBytes: receivedBytes, signal });
  };
}

/** The headers and the body of a response, for {@link GuardedResponse}. */
function readable(answer: TransportResponse, maxBytes: number, signal: AbortSignal, close: () => void) {
  const fields = Object.entries(answer.headersDistinct);
  const headers = Object.fromEntries(fields.map(([name, values = []]) => [name, values.join(", ")]));
  const body = closeAfter(boundedBody(answer, headers["content-encoding"], maxBytes, signal), close);
  const start = async () => {
    const chunks: Uint8Array[] = [];
    const reading = (async () => {
      for await (const chunk of body) chunks.push(chunk);
      return null;
    })();
    const trouble = await reading.catch(ifTwtxtError((error) => error));
    return { bytes: Buffer.concat(chunks), trouble };
  };
  const bytes = async () => {
    const { bytes, trouble } = await start();
    if (trouble) throw trouble;
    return bytes;
  };
  return { status: answer.statusCode ?? 0, headers, body, bytes, start };
}

/** Whether an `unreachable` of the guard is a timeout. */
export function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as NodeJS.ErrnoException).code);
  const isLate = ["AbortError", "TimeoutError"].includes(error.name) || /_TIMEOUT$|^ETIMEDOUT$/.test(code);
  return isLate || isTimeout(error.cause);
}

/** @throws TwtxtError `address-refused` for a URL that is forbidden whatever its address */
function checkedUrl(address: string, request: GuardedRequest, allowed: ReadonlySet<string>): URL {
  const { isHttpsNeeded, isFeed, method = "GET" } = request;
  const refuse = (why: string) => new TwtxtError("address-refused", `${address} is not requested: ${why}.`);
  if (!canParseUrl(address)) throw refuse("it is not a URL");
  const url = parseUrl(address);
  url.hash = "";
  // Trailing dots name the same host, but lists of hosts would not match.
  url.hostname = withoutLastDots(url.hostname);
  const isAllowed = allowed.has(hostAndPort(url));
  const isOfFeed = isSmallWeb(address) && isFeed && !isHttpsNeeded && method === "GET";
  if (!isOfFeed && url.protocol !== "https:" && url.protocol !== "http:") throw refuse("it is neither http nor https");
  if (url.protocol === "http:" && isHttpsNeeded && !isAllowed) throw refuse("https is required here");
  if (url.username !== "" || url.password !== "") throw refuse("it contains credentials");

  const port = readPort(url);
  if (!(WELL_KNOWN_PORTS[url.protocol] ?? []).includes(port) && port < 1024) {
    throw refuse(`port ${port} is not for ${isOfFeed ? url.protocol.slice(0, -1) : "web"} servers`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // Names are checked during lookup, but an IP address is never looked up.
  if (isIP(host) !== 0 && !isAllowed && !isPublicAddress(host)) {
    throw new PrivateAddressError(`${address} is not requested: its address is not public.`, hostAndPort(url));
  }
  return url;
}

/** Resolves a name, and refuses it if any of its addresses is not public. */
function guardedLookup(lookup: typeof systemLookup): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "");
      const hidden = addresses.find(({ address }) => !isPublicAddress(address));
      const [first] = addresses;
      if (hidden || !first) {
        const what = `${name} is not requested: it has an address that is not public.`;
        return callback(new TwtxtError("address-refused", what), "");
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

function isReading({ method = "GET" }: GuardedRequest): boolean {
  return method === "GET" || method === "HEAD";
}

/** The URL of a redirect. Any other request than one that reads follows only redirects that keep method and body. */
function findRedirect(
  { statusCode = 0, headersDistinct }: TransportResponse,
  url: URL,
  isReading: boolean,
): string | null {
  const [location] = headersDistinct.location ?? [];
  const codes = isReading ? [301, 302, 303, 307, 308] : [307, 308];
  return location !== undefined && codes.includes(statusCode) ? resolveUrl(location, url.href) : null;
}

async function* closeAfter(body: AsyncIterable<Uint8Array>, close: () => void): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw unreachable(error, "the answer");
  } finally {
    close();
  }
}

/** Any error that the guard did not throw itself may be temporary. */
function unreachable(error: unknown, address: string): TwtxtError {
  for (let cause: unknown = error; cause; cause = (cause as Error).cause) if (cause instanceof TwtxtError) return cause;
  const why = describeError(error as NodeJS.ErrnoException);
  return new TwtxtError("unreachable", `${address} could not be reached: ${why}.`, { cause: error });
}

/** The messages of the system and OpenSSL are internal function names and addresses, so these errors are described here. */
function describeError({ code, message, hostname }: NodeJS.ErrnoException & { hostname?: string }): string {
  // The code of a DOMException is a number.
  const name = String(code);
  if (name === "ENOTFOUND") return `there is no host ${hostname ?? "of this name"}. Check the spelling`;
  if (name === "EAI_AGAIN") return "its name could not be looked up. Check the network";
  if (OLD_TLS.test(name)) return "its server offers only TLS older than 1.2";
  if (name === "ERR_SSL_WRONG_VERSION_NUMBER") return "its server does not speak TLS at this port";
  if (isReset({ code })) return "its server closed the connection";
  return name.startsWith("ERR_SSL_") ? `TLS failed (${name})` : message;
}
