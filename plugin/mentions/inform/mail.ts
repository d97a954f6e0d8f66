// plugin/mentions/inform/mail.ts: sends mail through the author's SMTP server.
import { TwtxtError } from "../../errors.js";
import { later } from "../../later.js";
import { canParseUrl, decodePercent, isLoopback } from "../../url.js";
import type { Channel } from "./digest.js";
import { type DigestOptions, digestMail, type Mail } from "./digest-text.js";

const nodemailer = later(() => import("nodemailer"));

type MailSettings = ReturnType<typeof mailSettings>;

const TIMEOUT = 10_000;
const ADDRESS = /^[^\s<>()[\],;:"\\@]+@[^\s<>()[\],;:"\\@]+$/;

/**
 * Notifies the author by mail, through SMTP, with at most one digest in `digestHours`.
 *
 * @param url - `TWTXT_SMTP_URL`: see {@link mailSettings}
 * @param to - `TWTXT_MAIL_TO`
 */
export function mailChannel(url: string, to: string, options: DigestOptions): Channel {
  return {
    name: "mail",
    pauseHours: options.digestHours,
    async send(news) {
      await sendMail(mailSettings(url, to), digestMail(news, options));
    },
  };
}

/** A mail to a reader, with the headers for ending it. */
export interface ReaderMail extends Mail {
  to: string;
  headers: Record<string, string>;
}

/**
 * Sends a mail to a reader.
 *
 * @param author - `TWTXT_MAIL_TO`, the sender if `TWTXT_SMTP_URL` names none
 * @throws TwtxtError `mail-failed`, without the reader's address
 */
export async function sendToReader(url: string, author: string | undefined, mail: ReaderMail): Promise<void> {
  try {
    await sendMail({ ...serverSettings(url, author ?? ""), to: mail.to }, mail);
  } catch (error) {
    throw mailFailed((error as Error).message.replaceAll(mail.to, "…"));
  }
}

/** Whether a text is one address that is safe in a header. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text) && /^[!-~\p{L}\p{N}\p{M}]+$/u.test(text);
}

async function sendMail(
  { from, to, auth, ...server }: MailSettings,
  { headers, ...mail }: Mail & Partial<Pick<ReaderMail, "headers">>,
): Promise<void> {
  const { createTransport } = await nodemailer();
  const transport = createTransport({
    ...server,
    ignoreTLS: !server.requireTLS,
    ...(auth && { auth }),
    tls: { minVersion: "TLSv1.2" },
    connectionTimeout: TIMEOUT,
    greetingTimeout: TIMEOUT,
    socketTimeout: TIMEOUT,
    dnsTimeout: TIMEOUT,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({ ...mail, from, to, headers: { "Auto-Submitted": "auto-generated", ...headers } });
  } catch (error) {
    const line = (error as Error).message.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ").slice(0, 300);
    const why = auth?.pass ? line.replaceAll(auth.pass, "…") : line;
    throw mailFailed(`The server of TWTXT_SMTP_URL did not accept the mail: ${why}`);
  }
}

/**
 * Parses `smtps://user:password@host` or `smtp://…`, which requires STARTTLS unless the server is on this machine. User
 * and password are percent-encoded.
 *
 * The sender is `?from=`, else the user if it is an address, else the recipient.
 *
 * @returns options of nodemailer: `secure` for TLS from the first byte, `requireTLS` for STARTTLS
 * @throws TwtxtError `mail-failed`, with what to write instead
 */
export function mailSettings(url: string, to: string) {
  if (!ADDRESS.test(to)) throw mailFailed('TWTXT_MAIL_TO: expected one address such as "alice@alice.example".');
  return { ...serverSettings(url, to), to };
}

function serverSettings(url: string, otherwise: string) {
  if (!canParseUrl(url)) throw badUrl();
  const { protocol, hostname: host, port, username, password, pathname, hash, searchParams } = new URL(url);
  const [user, pass] = [decodePercent(username), decodePercent(password)];
  const isServer = /^smtps?:$/.test(protocol) && host !== "" && /^\/?$/.test(pathname) && hash === "";
  if (!isServer || user === null || pass === null) throw badUrl();
  const secure = protocol === "smtps:";
  const from = searchParams.get("from") ?? (ADDRESS.test(user) ? user : otherwise);
  if (!ADDRESS.test(from))
    throw mailFailed('TWTXT_SMTP_URL: expected one address in "from", such as "alice@alice.example".');
  return {
    host: host.replace(/^\[|\]$/g, ""),
    port: Number(port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isLoopback(host),
    auth: user === "" ? undefined : { user, pass },
    from,
  };
}

/** Does not repeat the URL, since it contains a password. */
function badUrl(): TwtxtError {
  return mailFailed(
    'TWTXT_SMTP_URL: expected a URL such as "smtps://user:password@mail.example", user and password percent-encoded ("%40" for "@").',
  );
}

function mailFailed(message: string): TwtxtError {
  return new TwtxtError("mail-failed", message);
}
