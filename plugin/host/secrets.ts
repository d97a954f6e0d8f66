// plugin/host/secrets.ts: what the owner of a site tells its host, and nobody else.

/** Which variable is which secret. PROTOCOL 7 */
const VARIABLES = {
  mentionsToken: "TWTXT_MENTIONS_TOKEN",
  smtpUrl: "TWTXT_SMTP_URL",
  mailTo: "TWTXT_MAIL_TO",
  webhookUrl: "TWTXT_WEBHOOK_URL",
  buildHookUrl: "TWTXT_BUILD_HOOK_URL",
} as const;

/** What opens the private feed `mentions.txt`, and where mail, webhook and rebuilds go to. */
export type Secrets = Record<keyof typeof VARIABLES, string | undefined>;

/** What is off unless its variables are set. */
export const FEATURES: readonly { name: string; needs: readonly (typeof VARIABLES)[keyof Secrets][] }[] = [
  { name: "Private feed of mentions", needs: ["TWTXT_MENTIONS_TOKEN"] },
  { name: "Mail about mentions", needs: ["TWTXT_SMTP_URL", "TWTXT_MAIL_TO"] },
  { name: "Webhook", needs: ["TWTXT_WEBHOOK_URL"] },
  { name: "Rebuilds of the site", needs: ["TWTXT_BUILD_HOOK_URL"] },
];

type Environment = Readonly<Record<string, string | undefined>>;

/** @param environment - the variables of the process; an empty one is not set */
export function secretsOf(environment: Environment): Secrets {
  const names = Object.keys(VARIABLES) as (keyof Secrets)[];
  return Object.fromEntries(names.map((name) => [name, valueIn(environment, VARIABLES[name])])) as Secrets;
}

/** Whether the owner can be notified by mail or by webhook. */
export function canNotify({ smtpUrl, mailTo, webhookUrl }: Secrets): boolean {
  return Boolean((smtpUrl && mailTo) || webhookUrl);
}

/** @returns a line for each feature that is off, with the variables that turn it on */
export function featuresOff(environment: Environment): string[] {
  return FEATURES.flatMap(({ name, needs }) => {
    const lacking = needs.filter((variable) => valueIn(environment, variable) === undefined);
    return lacking.length > 0 ? [`${name}: off (set ${lacking.join(" and ")} to turn it on)`] : [];
  });
}

function valueIn(environment: Environment, variable: string): string | undefined {
  return environment[variable]?.trim() || undefined;
}
