// plugin/host/metrics.ts: counts what a server does, in Prometheus' text format.
import { remember } from "../groups.js";

/** Name, type and help of each metric. Names and units follow Prometheus' conventions. */
const METRICS = {
  requests: [
    "twtxt_http_requests_total",
    "counter",
    "Requests by endpoint, or file; status 0 if the client disconnected.",
  ],
  duration: ["twtxt_http_request_duration_seconds", "histogram", "Time until the response of an endpoint began."],
  jobs: ["twtxt_job_runs_total", "counter", "Runs of jobs by result: done or failed."],
  jobSuccess: ["twtxt_job_last_success_timestamp_seconds", "gauge", "When a job last succeeded."],
  logLines: ["twtxt_log_lines_total", "counter", "Log lines by level."],
  info: ["twtxt_info", "gauge", "The version of the software."],
  up: ["twtxt_up", "gauge", "Whether data can be read and stored: 1 or 0, as /health says."],
  build: ["twtxt_build_timestamp_seconds", "gauge", "When the served build was loaded."],
  processor: ["process_cpu_seconds_total", "counter", "Processor time of the process."],
  memory: ["process_resident_memory_bytes", "gauge", "Memory of the process."],
  start: ["process_start_time_seconds", "gauge", "When the process started."],
  delay: ["nodejs_eventloop_delay_seconds", "gauge", "Delay of the event loop since the last request for the metrics."],
} as const;

export type MetricName = keyof typeof METRICS;
export type Labels = Readonly<Record<string, string>>;

/** Upper bounds of the buckets of durations, in seconds. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, Number.POSITIVE_INFINITY];

interface Sample {
  labels: Labels;
  /** Of a histogram, the sum of what was observed. */
  value: number;
  /** How many observed values each bound of a histogram includes. */
  counts: number[];
}

/** The metrics of a process. Values of labels must be from a small set: each combination stays in memory. */
export class Metrics {
  readonly #samples = new Map<MetricName, Map<string, Sample>>();

  add(metric: MetricName, labels: Labels): void {
    this.#findSample(metric, labels).value += 1;
  }

  /** Sets a gauge, or a counter that something else counts. */
  set(metric: MetricName, labels: Labels, value: number): void {
    this.#findSample(metric, labels).value = value;
  }

  observe(metric: MetricName, labels: Labels, seconds: number): void {
    const sample = this.#findSample(metric, labels);
    sample.value += seconds;
    BOUNDS.forEach((bound, at) => {
      sample.counts[at] = (sample.counts[at] ?? 0) + Number(seconds <= bound);
    });
  }

  /** All metrics that have a value. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
  toString(): string {
    const lines = [...this.#samples].flatMap(([metric, samples]) => {
      const [name, type, help] = METRICS[metric];
      const format = type === "histogram" ? formatHistogram : formatSample;
      const values = [...samples.values()].flatMap((sample) => format(name, sample));
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values];
    });
    return `${lines.join("\n")}\n`;
  }

  #findSample(metric: MetricName, labels: Labels): Sample {
    const samples = remember(this.#samples, metric, () => new Map<string, Sample>());
    return remember(samples, Object.values(labels).join(), () => ({ labels, value: 0, counts: [] }));
  }
}

function formatSample(name: string, { labels, value }: Pick<Sample, "labels" | "value">): string {
  return `${name}${formatLabels(labels)} ${value}`;
}

function formatHistogram(name: string, { labels, value, counts }: Sample): string[] {
  const buckets = counts.map((count, at) => {
    const le = String(BOUNDS[at]).replace("Infinity", "+Inf");
    return formatSample(`${name}_bucket`, { labels: { ...labels, le }, value: count });
  });
  const count = { labels, value: counts.at(-1) ?? 0 };
  return [...buckets, formatSample(`${name}_sum`, { labels, value }), formatSample(`${name}_count`, count)];
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
