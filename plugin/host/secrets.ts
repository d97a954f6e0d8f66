// plugin/host/secrets.ts: the environment variables that only the owner of a site and its host know. PROTOCOL 7

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Secrets {
  /** Opens the private feed `mentions.txt`. */
  mentionsToken: string | undefined;
  /** Starts a build of the site. */
  buildHookUrl: string | undefined;
  /** Has the variables of the notification channels, see channels.ts. */
  channels: Environment;
}

export const MENTIONS_TOKEN = "TWTXT_MENTIONS_TOKEN";
export const BUILD_HOOK_URL = "TWTXT_BUILD_HOOK_URL";

export function secretsOf(environment: Environment): Secrets {
  return {
    mentionsToken: valueIn(environment, MENTIONS_TOKEN),
    buildHookUrl: valueIn(environment, BUILD_HOOK_URL),
    channels: environment,
  };
}

/** The value of a variable; an empty one is not set. */
export function valueIn(environment: Environment, variable: string): string | undefined {
  return environment[variable]?.trim() || undefined;
}
