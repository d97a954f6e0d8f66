// plugin/host/sent-mention-line.ts: log lines about sent mentions.
import type { MentionReport } from "../mentions/send/send-mention.js";

/** @example "Mention of https://bob.example/twtxt.txt in your twt of 2026-11-20T09:30:00Z: sent to https://bob.example/webmention" */
export function sentMentionLine({ outcome, timestamp, target, endpoint, why, next }: MentionReport): string {
  const mention = `Mention of ${target} in your twt of ${timestamp}`;
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
