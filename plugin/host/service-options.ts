// plugin/host/service-options.ts: options that a host passes to its services.

import type { Clock } from "../clock.js";
import type { GuardOptions } from "../http/guard.js";
import type { Log } from "../http/respond.js";
import type { HostSettings, SitePages } from "../site/site.js";
import type { StreamingStore } from "../store/store.js";
import type { Secrets } from "./secrets.js";

/** A site, and what its host has. */
export interface ServiceOptions {
  settings: HostSettings;
  pages: SitePages;
  store: StreamingStore;
  secrets: Secrets;
  /** The authority of signed requests: the site's host, or a local server's. */
  authority: string;
  /** `eleventy-plugin-twtxt/1.2.3` */
  client: string;
  guard: Omit<GuardOptions, "userAgent">;
  /** For the owner's own hooks, which may be private. */
  fetch: typeof fetch;
  now: Clock;
  log: Log;
  /** Purges a tag from the CDN; `null` without a CDN. */
  purge: ((tag: string) => Promise<void>) | null;
  /** Whether the owner pays for each second of work, so that verifications have a daily limit. */
  isMetered: boolean;
  /** Whether visitors see this deploy of the site. One that they don't see tells nobody anything. */
  isLive: boolean;
  /** How long connections may be kept open, and whether they are where the site's options don't say. */
  streams: { isUsual: boolean; streamMs: number; lookMs: number };
  /** Takes over work that goes on after the answer. The work handles its own errors. */
  background(work: Promise<void>): void;
  /** Aborted at shutdown. */
  ending?: AbortSignal;
}
