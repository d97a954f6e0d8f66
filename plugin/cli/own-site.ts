// plugin/cli/own-site.ts: the options of all commands that ask the author's own site, as the author.
import { AUTHOR_OPTIONS } from "./author.js";
import { misuse } from "./command.js";
import { HOSTS_OPTION } from "./looking-up.js";

/** For `readArguments`. */
export const OWN_SITE_OPTIONS = {
  ...AUTHOR_OPTIONS,
  ...HOSTS_OPTION,
  url: { type: "string" },
  json: { type: "boolean" },
} as const;

/** What was typed for them. */
export interface OwnSiteValues {
  as?: string | undefined;
  identity?: string | undefined;
  settings?: string | undefined;
  url?: string | undefined;
  "allow-private-host"?: string[] | undefined;
}

/** @throws TwtxtError `bad-usage` */
export function checkUrl({ url }: OwnSiteValues, command: string): void {
  if (url === undefined || /^https?:\/\/[^/]/.test(url)) return;
  throw misuse(`${command}: --url is a URL such as "http://localhost:8080", got "${url}".`, command);
}
