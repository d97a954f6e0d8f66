// plugin/client/session.ts: access to the client: links with a token, the session, the checks of each request, and the user who connects.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { endianness, release } from "node:os";
import type { MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { sizeText } from "../author/amounts.js";
import { TwtxtError } from "../errors.js";
import { remember } from "../groups.js";
import { readEssence } from "../http/respond.js";
import { isSameSecret } from "../http/secret.js";
import type { ClientEnv, ClientRequest } from "./client-request.js";

export const CLIENT_HOST = "127.0.0.1";
export const OPEN_PATH = "/open";
export const CSRF_FIELD = "csrf";
/** For requests of scripts, whose bodies are not forms. */
const CSRF_HEADER = "x-csrf-token";
const READING: readonly string[] = ["GET", "HEAD"];
const FORMS: readonly string[] = ["application/x-www-form-urlencoded", "multipart/form-data"];
const MAX_BODY_BYTES = 2 ** 20;
/** Forms are parsed in memory. */
export const MAX_FORM_BYTES = 32 * 2 ** 20;

/**
 * Sent with each response. `same-origin` hides URLs from other sites as `no-referrer` does, but with `no-referrer`
 * browsers send `Origin: null` with forms.
 */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

const LOCKED =
  "This page is locked. Look at the terminal where eleventy-twtxt client runs: it shows a link that opens it.";

/**
 * The session of this process. A link contains a token that works once; it is exchanged for a cookie. All browsers of the
 * author share the session, which ends with the process.
 */
export class Session {
  readonly origin: string;
  readonly #host: string;
  readonly #cookie: string;
  readonly #secret = randomText();
  readonly #csrfToken = randomText();
  #token: string | null = null;

  /** @param announce - shows a new link to the author and to no one else */
  constructor(
    port: number,
    private readonly announce: (link: string) => void,
  ) {
    this.#host = `${CLIENT_HOST}:${port}`;
    this.origin = `http://${this.#host}`;
    // Browsers send the cookies of one port to all ports.
    this.#cookie = `twtxt-client-${port}`;
  }

  /** A new link. Earlier ones stop working. */
  createLink(): string {
    this.#token = randomText();
    return `${this.origin}${OPEN_PATH}?token=${this.#token}`;
  }

  readonly withHeaders: MiddlewareHandler<ClientEnv> = async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.header(name, value);
  };

  /**
   * Refuses other users of this machine, and names that lead here by DNS rebinding.
   *
   * @throws TwtxtError `not-allowed`
   */
  readonly checkConnection: MiddlewareHandler<ClientEnv> = async (c, next) => {
    const { headers, socket } = c.env.incoming;
    if (!(await mayConnect(socket))) {
      throw new TwtxtError("not-allowed", "Only the user who started the client can open it.");
    }
    if (headers.host !== this.#host)
      throw new TwtxtError("not-allowed", `The address of the client is ${this.origin}/`);
    await next();
  };

  /**
   * Exchanges the token of a link for the cookie. A browser that has the cookie needs no token.
   *
   * @throws TwtxtError `not-allowed` for a wrong or used token
   */
  open(c: ClientRequest): void {
    const token = c.req.query("token") ?? "";
    if (this.#token === null || !isSameSecret(token, this.#token)) {
      if (this.#hasCookie(c)) return;
      throw this.#locked(
        "This link does not work: each one works once. Look at the terminal where eleventy-twtxt client runs: it shows a new one.",
      );
    }
    this.#token = null;
    setCookie(c, this.#cookie, this.#secret, { httpOnly: true, sameSite: "Strict", path: "/" });
  }

  /**
   * Refuses requests without the session and those of other pages; a request that changes something also needs the
   * origin of the client, the token of its forms, and a body of limited size.
   *
   * @param maxBodyOf - the limit of a path, in bytes; `undefined` for the default
   * @throws TwtxtError `not-allowed`, `method-not-allowed`, `length-required`, `body-too-large`, `bad-content-type`
   */
  check(maxBodyOf: (path: string) => number | undefined): MiddlewareHandler<ClientEnv> {
    return async (c, next) => {
      if (!this.#hasCookie(c)) throw this.#locked(LOCKED);
      const site = c.req.header("sec-fetch-site") ?? "none";
      if (site !== "same-origin" && site !== "none") throw foreignPage();
      c.set("csrfToken", this.#csrfToken);
      if (!READING.includes(c.req.method)) await this.#checkChange(c, maxBodyOf(c.req.path) ?? MAX_BODY_BYTES);
      await next();
    };
  }

  #hasCookie(c: ClientRequest): boolean {
    return isSameSecret(getCookie(c, this.#cookie) ?? "", this.#secret);
  }

  async #checkChange(c: ClientRequest, maxBytes: number): Promise<void> {
    if (c.req.method !== "POST") throw new TwtxtError("method-not-allowed", "Use GET or POST.");
    if (c.req.header("origin") !== this.origin) throw foreignPage();
    const sent = c.req.header(CSRF_HEADER);
    checkSize(c.req.header("content-length"), sent === undefined ? Math.min(maxBytes, MAX_FORM_BYTES) : maxBytes);
    if (!isSameSecret(sent ?? (await formToken(c)), this.#csrfToken)) {
      throw new TwtxtError(
        "not-allowed",
        "This form is from an earlier run of the client. Reload the page and try again.",
      );
    }
  }

  #locked(message: string): TwtxtError {
    // The last link was used, so the author needs a new one.
    if (this.#token === null) this.announce(this.createLink());
    return new TwtxtError("not-allowed", message);
  }
}

function foreignPage(): TwtxtError {
  return new TwtxtError("not-allowed", "Another page sent this request. Open the client by its own address.");
}

/** Without a length, a body could be of any size. Browsers send one. */
function checkSize(length: string | undefined, maxBytes: number): void {
  if (length === undefined) throw new TwtxtError("length-required", "Send the Content-Length.");
  if (Number(length) > maxBytes) {
    throw new TwtxtError("body-too-large", `This is too large: at most ${sizeText(maxBytes)} can be sent at once.`);
  }
}

async function formToken(c: ClientRequest): Promise<string> {
  if (!FORMS.includes(readEssence(c.req.header("content-type")))) {
    throw new TwtxtError("bad-content-type", `Send a form, or the header ${CSRF_HEADER}.`);
  }
  const fields = await c.req.parseBody().catch((cause) => {
    throw new TwtxtError("bad-request", "The form is not well-formed.", { cause });
  });
  const token = fields[CSRF_FIELD];
  return typeof token === "string" ? token : "";
}

function randomText(): string {
  return randomBytes(32).toString("base64url");
}

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const ESTABLISHED = "01";
const ROOT = 0;
/** An IPv4 address in a socket of IPv6. */
const MAPPED = /^::ffff:/i;

const checked = new WeakMap<Socket, Promise<boolean>>();

/**
 * Whether Linux names the user of each local connection. In WSL, browsers of Windows have no socket on the Linux side.
 */
export const namesUsers = process.platform === "linux" && !/microsoft/i.test(release());

/** Whether the other end of a connection belongs to the user of this process or to root. Without {@link namesUsers}: `true`. */
export function mayConnect(socket: Socket): Promise<boolean> {
  return remember(checked, socket, () => (namesUsers ? isOurs(socket) : Promise.resolve(true)));
}

async function isOurs({
  remoteAddress = "",
  remotePort = 0,
  localAddress = "",
  localPort = 0,
}: Socket): Promise<boolean> {
  const tables = await Promise.all(TABLES.map((file) => readFile(file, "utf8").catch(() => "")));
  const user = findOwner(tables.join("\n"), ends(remoteAddress, remotePort), ends(localAddress, localPort));
  return user === ROOT || (user !== null && user === process.getuid?.());
}

/**
 * Finds the user of an established connection.
 *
 * @param table - the text of `/proc/net/tcp`
 * @param local - the end whose user is looked for, as the table writes it
 * @returns `null` for no such connection. A closed socket is not established: Linux lists it as root's.
 */
export function findOwner(table: string, local: string, remote: string): number | null {
  // The lines are not split: a busy machine has thousands of connections.
  const [, user] = new RegExp(`${local} \\S*${remote} ${ESTABLISHED} \\S+ \\S+ \\S+ +(\\d+) `).exec(table) ?? [];
  return user === undefined ? null : Number(user);
}

/** One end of a connection as the table writes it: `0100007F:0050` for port 80 of 127.0.0.1 on little-endian machines. */
function ends(address: string, port: number): string {
  const bytes = address.replace(MAPPED, "").split(".").map(Number);
  const hex = Buffer.from(endianness() === "LE" ? bytes.toReversed() : bytes).toString("hex");
  return `${hex}:${port.toString(16).padStart(4, "0")}`.toUpperCase();
}
