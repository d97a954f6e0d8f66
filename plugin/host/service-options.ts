// plugin/host/service-options.ts: what a host passes to its services, and the environment variables of its owner.
import type { Clock } from "../clock.js";
import type { GuardOptions } from "../http/guard.js";
import type { Log } from "../http/respond.js";
import type { HostSettings, SitePages } from "../site/site.js";
import type { StreamingStore } from "../store/store.js";

/** A site, and the means of its host. */
export interface ServiceOptions {
  settings: HostSettings;
  pages: SitePages;
  store: StreamingStore;
  /** Secrets, and the variables of the notification channels. Empty for a preview. PROTOCOL 7 */
  environment: Environment;
  /** The authority of signed requests: the site's host, or a local server's. */
  authority: string;
  /** `eleventy-plugin-twtxt/1.2.3` */
  client: string;
  guard: Omit<GuardOptions, "userAgent">;
  now: Clock;
  log: Log;
  /** Purges a tag from the CDN; `null` without a CDN. */
  purge: ((tag: string) => Promise<void>) | null;
  /** Whether the owner pays for each second of work, so that verifications have a daily limit. */
  isMetered: boolean;
  /** Whether visitors see this deploy of the site. Only such a deploy sends mentions and notifications. */
  isLive: boolean;
  /**
   * Event streams of the inboxes: whether they are on by default, the maximum duration of one, and the pause between two
   * reads of the store.
   */
  streams: { isDefault: boolean; streamMs: number; lookMs: number };
  /** Keeps the process alive for work that goes on after an answer. The work handles its own errors. */
  background(work: Promise<unknown>): void;
  /** Called after each run of a job. */
  onJob?: (name: string, isDone: boolean) => void;
  /** Aborted at shutdown. */
  ending?: AbortSignal;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Opens the private feed `mentions.txt`. */
export const MENTIONS_TOKEN = "TWTXT_MENTIONS_TOKEN";
/** Signs the links in notifications with which the author decides about a mention. */
export const MODERATION_SECRET = "TWTXT_MODERATION_SECRET";
/** The server that sends mail. */
export const SMTP_URL = "TWTXT_SMTP_URL";
export const BUILD_HOOK_URL = "TWTXT_BUILD_HOOK_URL";

/** The value of a variable; an empty one is not set. */
export function readValue(environment: Environment, variable: string): string | undefined {
  return environment[variable]?.trim() || undefined;
}
