// plugin/host/metrics-server.ts: measures a server and its process, and answers Prometheus on another port.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Metrics } from "./metrics.js";
import type { NodeServerOptions } from "./node-server.js";

const TYPE = "text/plain; version=0.0.4; charset=utf-8";
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];
const QUANTILES = [50, 99];
const NANOSECONDS = 1e9;

type Measured = Pick<NodeServerOptions, "findEndpoint" | "serveFile" | "rateLimit">;

/** Counts the requests of a server in `metrics`. */
export function measureServer({ findEndpoint, serveFile, rateLimit }: Measured, metrics: Metrics): Measured {
  const count = (route: string, method: string | undefined, status: number) =>
    // A client may send any word as method.
    metrics.add("requests", {
      route,
      method: METHODS.find((one) => one === method) ?? "other",
      status: String(status),
    });
  return {
    findEndpoint(path) {
      const endpoint = findEndpoint(path);
      if (!endpoint) return null;
      const { name } = endpoint;
      return {
        ...endpoint,
        async answer(request, address) {
          const start = performance.now();
          const response = await endpoint.answer(request, address);
          metrics.observe("duration", { route: name }, (performance.now() - start) / 1000);
          count(name, request.method, response.status);
          return response;
        },
      };
    },
    serveFile(request, response, otherwise) {
      let isFile = true;
      const finalStatus = () => (response.writableFinished ? response.statusCode : 0);
      response.once("close", () => isFile && count("file", request.method, finalStatus()));
      if (!otherwise) return serveFile(request, response);
      return serveFile(request, response, () => {
        isFile = false;
        return otherwise();
      });
    },
    rateLimit(kind, method, address) {
      const refusal = rateLimit(kind, method, address);
      if (refusal) count(kind, method, refusal.status);
      return refusal;
    },
  };
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
