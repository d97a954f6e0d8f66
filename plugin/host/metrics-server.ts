// plugin/host/metrics-server.ts: counts responses, measures the process, and answers Prometheus on another port.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Metrics } from "./metrics.js";
import type { Answered } from "./node-server.js";

const TYPE = "text/plain; version=0.0.4; charset=utf-8";
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];
const QUANTILES = [50, 99];
const NANOSECONDS = 1e9;

export function countAnswer(metrics: Metrics, { route, method, status, seconds }: Answered): void {
  // A client may send any word as method.
  const knownMethod = METHODS.find((one) => one === method) ?? "other";
  metrics.add("requests", { route, method: knownMethod, status: String(status) });
  if (seconds !== null) metrics.observe("duration", { route }, seconds);
}

interface MetricsServerOptions {
  port: number;
  host: string;
  metrics: Metrics;
  /** Whether the site can answer, as `/health` says. */
  isUp(): Promise<boolean>;
}

/** Answers `GET /metrics`. @returns the port, and a function that closes the server */
export async function serveMetrics({ port, host, metrics, isUp }: MetricsServerOptions) {
  const delay = monitorEventLoopDelay();
  delay.enable();
  const server = createServer(async (request, response) => {
    if (request.url !== "/metrics") return void response.writeHead(404).end();
    const { user, system } = process.cpuUsage();
    metrics.set("processor", {}, (user + system) / 1e6);
    metrics.set("memory", {}, process.memoryUsage.rss());
    metrics.set("start", {}, performance.timeOrigin / 1000);
    for (const quantile of QUANTILES) {
      metrics.set("delay", { quantile: String(quantile / 100) }, delay.percentile(quantile) / NANOSECONDS);
    }
    delay.reset();
    metrics.set("up", {}, Number(await isUp()));
    response.writeHead(200, { "content-type": TYPE }).end(metrics.toString());
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      delay.disable();
      server.close();
      server.closeAllConnections();
    },
  };
}
