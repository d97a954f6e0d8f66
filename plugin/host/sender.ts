// plugin/host/sender.ts: sends the mentions of a site's new posts.
import { TwtxtError } from "../errors.js";
import { nextDue, sendMentions } from "../mentions/send/send.js";
import type { MentionReport } from "../mentions/send/send-mention.js";
import { siteLinks } from "../mentions/send/site-links.js";
import type { MentionServices } from "./mentions.js";
import type { ServiceOptions } from "./service-options.js";
import { guardOf } from "./verification.js";
import { sleep } from "./work.js";

const MINUTE_MS = 60_000;

/** Sends mentions, and knows when to send again. */
export class MentionSender {
  readonly #options: ServiceOptions;
  readonly #siteIndex: MentionServices["siteIndex"];
  readonly #ask: ReturnType<typeof guardOf>;
  #next: number | null = null;
  /** In the first run of a process, since it may be allowed to contact more hosts than the process before. */
  #asksAgain: boolean;

  constructor(options: ServiceOptions, siteIndex: MentionServices["siteIndex"]) {
    this.#options = options;
    this.#siteIndex = siteIndex;
    this.#ask = guardOf(options);
    this.#asksAgain = (options.guard.allowPrivateHosts ?? []).length > 0;
  }

  /** Milliseconds until mentions are due again, at least a minute; `null` if none wait or none was sent yet. */
  untilNext(): number | null {
    return this.#next && Math.max(this.#next - this.#options.now(), MINUTE_MS);
  }

  /**
   * @param isOver - nothing new is started once it returns true
   * @param patience - milliseconds to wait for another run that is sending
   * @throws TwtxtError `already-sending`; errors of reading the feed and the ledger
   */
  async send(isOver: () => boolean, patience: number): Promise<void> {
    const { settings, pages, store, now, log } = this.#options;
    const sending = sendMentions({
      ask: this.#ask,
      store,
      feedUrl: settings.feedUrl,
      aliases: settings.mentions.aliases,
      links: siteLinks({ settings, pages }),
      pageOf: (timestamp) => this.#siteIndex.pageOfTwt(timestamp),
      now,
      random: Math.random,
      sleep,
      isOver,
      patience,
      asksAgain: this.#asksAgain,
      onMention: (mention) => {
        // Most pages on the web have no endpoint.
        const isUsual = mention.isLink && mention.outcome === "no-endpoint";
        if (!isUsual) log(sentMentionLine(mention));
      },
    });
    const report = await sending.catch((error: unknown) => {
      // A run that was killed keeps the lease for half a minute.
      const isBusy = error instanceof TwtxtError && error.code === "already-sending";
      this.#next = isBusy ? now() : null;
      throw error;
    });
    for (const trouble of report.troubles) log(`Sending mentions: ${trouble}`);
    this.#asksAgain = false;
    this.#next = nextDue(report, now());
  }
}

/**
 * The log line about a sent mention.
 *
 * @example "Mention of https://bob.example/twtxt.txt in your twt of 2026-11-20T09:30:00Z: sent to https://bob.example/webmention"
 */
export function sentMentionLine(report: MentionReport): string {
  const { outcome, timestamp, target, isLink, endpoint, why, next } = report;
  const mention = isLink
    ? `Link to ${target} in your post of ${timestamp}`
    : `Mention of ${target} in your twt of ${timestamp}`;
  const where = endpoint === null ? "" : ` to ${endpoint}`;
  switch (outcome) {
    case "sent":
      return `${mention}: sent${where}`;
    case "retry":
    case "waiting":
      return `${mention}: not sent yet${why === null ? "" : ` (${why})`}${next === null ? "" : `; next attempt after ${next.slice(0, 16)}Z`}`;
    case "failed":
      return `${mention}: could not be sent${where} (${why})`;
    default:
      return `${mention}: not sent (${why})`;
  }
}
