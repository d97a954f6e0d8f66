// plugin/cli/serve-reports.ts: what `serve` reports to its operator: log lines and metrics.
import { version } from "../author/invocation.js";
import { TwtxtError } from "../errors.js";
import { formatLogLine, LOG_FORMATS } from "../host/log-line.js";
import { Metrics } from "../host/metrics.js";
import { serveMetrics } from "../host/metrics-server.js";
import type { NodeServerOptions } from "../host/node-server.js";
import type { HttpRequest, Log } from "../http/respond.js";
import { ROUTES } from "../site/routes.js";
import { choice, type Kind, option, type ValuesOf, withDefault } from "./options.js";
import type { Terminal } from "./terminal.js";

const PLACE: Kind<{ host: string; port: number }> = {
  name: "[HOST:]PORT",
  expected: "a port such as 9464, or an address with a port such as 10.0.0.1:9464",
  parse(value) {
    const { host, port } = /^(?:\[?(?<host>[^[\]]+)\]?:)?(?<port>\d{1,5})$/.exec(value)?.groups ?? {};
    return port === undefined || Number(port) > 65_535 ? null : { host: host ?? "127.0.0.1", port: Number(port) };
  },
};

export const REPORT_OPTIONS = {
  log: withDefault(choice("FORMAT", LOG_FORMATS), "text", "the format of log lines: text or json"),
  metrics: option(PLACE, "answers GET /metrics in Prometheus' format there (default: off; without HOST on 127.0.0.1)"),
};

type Values = ValuesOf<typeof REPORT_OPTIONS>;

/** The log and the metrics of a running `serve`. */
export class Reports {
  readonly metrics = new Metrics();
  #close = () => {};

  constructor(
    private readonly values: Values,
    private readonly terminal: Terminal,
  ) {
    this.metrics.set("info", { version: version(), node: process.version }, 1);
  }

  readonly log: Log = (line, context) => {
    this.metrics.add("logLines", { level: context?.level ?? "info" });
    this.terminal.say(formatLogLine(this.values.log, this.terminal.now(), line, context));
  };

  readonly noteJob = (name: string, isDone: boolean): void => {
    this.metrics.add("jobs", { job: name, result: isDone ? "done" : "failed" });
    if (isDone) this.metrics.set("jobSuccess", { job: name }, this.terminal.now() / 1000);
  };

  noteBuild(): void {
    this.metrics.set("build", {}, this.terminal.now() / 1000);
  }

  /**
   * Serves the metrics, if `--metrics` says where.
   *
   * @throws TwtxtError `bad-usage` if the port cannot be used
   */
  async serveMetrics(endpointAt: NodeServerOptions["findEndpoint"]): Promise<void> {
    const { metrics: place } = this.values;
    if (!place) return;
    const isUp = async () => (await endpointAt(ROUTES.health.below)?.answer(HEALTH, ""))?.status === 200;
    const started = serveMetrics({ ...place, metrics: this.metrics, isUp }).catch((cause: Error) => {
      throw new TwtxtError("bad-usage", `--metrics: ${place.host}:${place.port} cannot be used: ${cause.message}`, {
        cause,
      });
    });
    const { port, close } = await started;
    this.#close = close;
    this.log(`Metrics: http://${place.host}:${port}/metrics`);
  }

  close(): void {
    this.#close();
  }
}

const HEALTH: HttpRequest = {
  method: "GET",
  url: `http://localhost${ROUTES.health.below}`,
  headers: new Headers(),
  body: null,
};
