// plugin/host/channels.ts: the notification channels, and the variables that turn each one on.
import type { Channel } from "../mentions/inform/digest.js";
import type { HookFetch } from "../mentions/inform/hook.js";
import { mailChannel, smtpMail } from "../mentions/inform/mail.js";
import { ntfyChannel } from "../mentions/inform/ntfy.js";
import { webhook, webhookChannel } from "../mentions/inform/webhook.js";
import { type Environment, valueIn } from "./secrets.js";

export interface ChannelOptions {
  /** Where the author sees all mentions: an absolute URL of the site. */
  page: string;
  /** Hours between two digests by mail. */
  digestHours: number;
  fetch: HookFetch;
}

/** A row of the table. */
interface ChannelKind {
  /** For the list of features that are off. */
  feature: string;
  /** The channel is on when all of them are set. */
  variables: readonly string[];
  /** @param values - of the variables, in their order */
  open(values: readonly string[], options: ChannelOptions): Channel;
}

export const CHANNELS: readonly ChannelKind[] = [
  {
    feature: "Mail about mentions",
    variables: ["TWTXT_SMTP_URL", "TWTXT_MAIL_TO"],
    open: ([url = "", to = ""], options) => mailChannel(smtpMail(url, to), options),
  },
  {
    feature: "Webhook",
    variables: ["TWTXT_WEBHOOK_URL"],
    open: ([url = ""], { page, fetch }) => webhookChannel(webhook(url, fetch), page),
  },
  {
    feature: "Notifications through ntfy",
    variables: ["TWTXT_NTFY_URL"],
    open: ([url = ""], { page, fetch }) => ntfyChannel(url, fetch, page),
  },
];

/** @returns the channels that are on */
export function channelsOf(environment: Environment, options: ChannelOptions): Channel[] {
  return CHANNELS.flatMap(({ variables, open }) => {
    const values = variables.flatMap((variable) => valueIn(environment, variable) ?? []);
    return values.length === variables.length ? [open(values, options)] : [];
  });
}

/** Whether a channel is on. */
export function hasChannel(environment: Environment): boolean {
  return CHANNELS.some(({ variables }) => variables.every((variable) => valueIn(environment, variable)));
}
