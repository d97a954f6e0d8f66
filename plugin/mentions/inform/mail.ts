// plugin/mentions/inform/mail.ts: sends mail through the author's SMTP server.
import { TwtxtError } from "../../errors.js";
import { isLoopback } from "../../http/hosts.js";
import { canParseUrl } from "../../url.js";
import { decodeCredential } from "./decode-credential.js";
import type { Channel } from "./digest.js";
import { digestMail, type Mail } from "./digest-text.js";

/** @throws TwtxtError `mail-failed`, with what to do and without the password */
export type SendMail = (mail: Mail) => Promise<void>;

export interface MailSettings {
  host: string;
  port: number;
  /** TLS from the first byte. */
  secure: boolean;
  /** Requires STARTTLS. */
  requireTLS: boolean;
  auth: { user: string; pass: string } | undefined;
  from: string;
  to: string;
}

const HOUR_MS = 3600_000;
const TIMEOUT = 10_000;
const ADDRESS = /^[^\s<>()[\],;:"\\@]+@[^\s<>()[\],;:"\\@]+$/;

/**
 * Notifies the author by mail, with at most one digest in `digestHours`.
 *
 * @param page - where the author sees all mentions
 */
export function mailChannel(send: SendMail, { page, digestHours }: { page: string; digestHours: number }): Channel {
  return {
    name: "mail",
    key: "inform/digest",
    pauseMs: digestHours * HOUR_MS,
    send: (news) => send(digestMail(news, page)),
  };
}

/**
 * Sends mail by SMTP.
 *
 * @param url - `TWTXT_SMTP_URL`: see {@link mailSettings}
 * @param to - `TWTXT_MAIL_TO`
 */
export function smtpMail(url: string, to: string): SendMail {
  return async ({ subject, text, messageId }) => {
    const { from, ...server } = mailSettings(url, to);
    const { createTransport } = await import("nodemailer");
    const transport = createTransport({
      host: server.host.replace(/^\[|\]$/g, ""),
      port: server.port,
      secure: server.secure,
      requireTLS: server.requireTLS,
      ignoreTLS: !server.requireTLS,
      ...(server.auth && { auth: server.auth }),
      tls: { minVersion: "TLSv1.2" },
      connectionTimeout: TIMEOUT,
      greetingTimeout: TIMEOUT,
      socketTimeout: TIMEOUT,
      dnsTimeout: TIMEOUT,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const headers = { "Auto-Submitted": "auto-generated" };
      await transport.sendMail({ from, to: server.to, subject, text, messageId, headers });
    } catch (error) {
      throw failure(error as Error, server.auth?.pass);
    }
  };
}

/**
 * Parses `smtps://user:password@host` or `smtp://…`, which requires STARTTLS unless the server is on this machine. User
 * and password are percent-encoded.
 *
 * The sender is `?from=`, else the user if it is an address, else the recipient.
 *
 * @throws TwtxtError `mail-failed`, with what to write instead
 */
export function mailSettings(url: string, to: string): MailSettings {
  if (!ADDRESS.test(to)) throw mailFailed('TWTXT_MAIL_TO: expected one address such as "alice@alice.example".');
  const { protocol, hostname: host, port, username, password, searchParams } = smtpUrl(url);
  const secure = protocol === "smtps:";
  const user = decodeCredential(username, badUrl);
  const from = searchParams.get("from") ?? (ADDRESS.test(user) ? user : to);
  if (!ADDRESS.test(from))
    throw mailFailed('TWTXT_SMTP_URL: expected one address such as "alice@alice.example" as "from".');
  return {
    host,
    port: Number(port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isLoopback(host),
    auth: user === "" ? undefined : { user, pass: decodeCredential(password, badUrl) },
    from,
    to,
  };
}

function smtpUrl(text: string): URL {
  const url = canParseUrl(text) ? new URL(text) : null;
  if (url && /^smtps?:$/.test(url.protocol) && url.hostname !== "" && /^\/?$/.test(url.pathname) && url.hash === "") {
    return url;
  }
  throw badUrl();
}

/** Does not repeat the URL, since it contains a password. */
function badUrl(): TwtxtError {
  return mailFailed(
    'TWTXT_SMTP_URL: expected a URL such as "smtps://user:password@mail.example", user and password percent-encoded ("%40" for "@").',
  );
}

/** Removes the password from the server's answer. */
function failure(error: Error, password: string | undefined): TwtxtError {
  const line = error.message.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ").slice(0, 300);
  const why = password ? line.replaceAll(password, "…") : line;
  return mailFailed(`The server of TWTXT_SMTP_URL did not accept the mail: ${why}`);
}

function mailFailed(message: string): TwtxtError {
  return new TwtxtError("mail-failed", message);
}
