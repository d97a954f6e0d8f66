// plugin/host/channels.ts: the notification channels, and all features that environment variables turn on.
import type { Channel } from "../mentions/inform/digest.js";
import type { DigestOptions } from "../mentions/inform/digest-text.js";
import { mailChannel } from "../mentions/inform/mail.js";
import { ntfyChannel } from "../mentions/inform/ntfy.js";
import { webhookChannel } from "../mentions/inform/webhook.js";
import {
  BUILD_HOOK_URL,
  type Environment,
  MENTIONS_TOKEN,
  MODERATION_SECRET,
  readValue,
  SMTP_URL,
} from "./service-options.js";

/** A feature that is on when all of its variables are set. */
interface Feature {
  name: string;
  variables: readonly string[];
}

interface ChannelFeature extends Feature {
  /** @param values - of the variables, in their order */
  open(values: readonly string[], options: DigestOptions): Channel;
}

const CHANNELS: readonly ChannelFeature[] = [
  {
    name: "Mail about mentions",
    variables: [SMTP_URL, "TWTXT_MAIL_TO"],
    open: ([url = "", to = ""], options) => mailChannel(url, to, options),
  },
  {
    name: "Webhook",
    variables: ["TWTXT_WEBHOOK_URL"],
    open: ([url = ""], options) => webhookChannel(url, options),
  },
  {
    name: "Notifications through ntfy",
    variables: ["TWTXT_NTFY_URL"],
    open: ([url = ""], options) => ntfyChannel(url, options),
  },
];

/** The features that are off by default. */
export const FEATURES: readonly Feature[] = [
  { name: "Private feed of mentions", variables: [MENTIONS_TOKEN] },
  ...CHANNELS,
  { name: "Deciding about mentions by a link", variables: [MODERATION_SECRET] },
  { name: "Rebuilds of the site", variables: [BUILD_HOOK_URL] },
];

/** @returns the channels that are on */
export function createChannels(environment: Environment, options: DigestOptions): Channel[] {
  return CHANNELS.filter((channel) => isOn(environment, channel)).map(({ variables, open }) =>
    open(
      variables.map((variable) => readValue(environment, variable) ?? ""),
      options,
    ),
  );
}

export function hasChannel(environment: Environment): boolean {
  return CHANNELS.some((channel) => isOn(environment, channel));
}

/** @returns a line for each feature that is off, with the variables that turn it on */
export function featuresOff(environment: Environment): string[] {
  return FEATURES.filter((feature) => !isOn(environment, feature)).map((feature) => {
    const missing = missingVariables(environment, feature);
    return `${feature.name}: off (set ${missing.join(" and ")} to turn it on)`;
  });
}

function isOn(environment: Environment, feature: Feature): boolean {
  return missingVariables(environment, feature).length === 0;
}

function missingVariables(environment: Environment, { variables }: Feature): string[] {
  return variables.filter((variable) => readValue(environment, variable) === undefined);
}
