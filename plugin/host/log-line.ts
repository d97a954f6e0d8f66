// plugin/host/log-line.ts: log lines as text and as JSON.
import type { LogContext } from "../http/respond.js";

export const LOG_FORMATS = ["text", "json"] as const;

/**
 * The text of a line without its time, for hosts whose logs have the time.
 *
 * @example logText("Not stored.", { level: "error", request: { method: "PUT", path: "/a" } }) // "error PUT /a: Not stored."
 */
export function logText(message: string, { level = "info", request }: LogContext = {}): string {
  return `${level} ${request ? `${request.method} ${request.path}: ` : ""}${message}`;
}

/**
 * A log line of a server.
 *
 * @param time - in milliseconds since 1970
 * @example formatLogLine("text", 0, "Serving the new build.") // "1970-01-01T00:00:00.000Z info Serving the new build."
 */
export function formatLogLine(
  format: (typeof LOG_FORMATS)[number],
  time: number,
  message: string,
  context: LogContext = {},
): string {
  const date = new Date(time).toISOString();
  if (format === "text") return `${date} ${logText(message, context)}`;
  return JSON.stringify({ time: date, level: context.level ?? "info", message, ...context.request });
}
