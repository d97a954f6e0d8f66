// plugin/host/metrics.ts: counts what a server does, in Prometheus' text format.

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
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10];

interface Sample {
  suffix: string;
  labels: Labels;
  value: number;
}

/** The metrics of a process. Values of labels must be from a small set: each combination stays in memory. */
export class Metrics {
  readonly #samples = new Map<MetricName, Map<string, Sample>>();

  add(metric: MetricName, labels: Labels = {}, by = 1): void {
    this.#findSample(metric, labels).value += by;
  }

  /** Sets a gauge, or a counter that something else counts. */
  set(metric: MetricName, labels: Labels, value: number): void {
    this.#findSample(metric, labels).value = value;
  }

  observe(metric: MetricName, labels: Labels, seconds: number): void {
    for (const bound of [...BUCKETS, Number.POSITIVE_INFINITY]) {
      const le = bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound);
      this.#findSample(metric, { ...labels, le }, "_bucket").value += seconds <= bound ? 1 : 0;
    }
    this.#findSample(metric, labels, "_sum").value += seconds;
    this.#findSample(metric, labels, "_count").value += 1;
  }

  /** All metrics that have a value. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
  toString(): string {
    const lines = [...this.#samples].flatMap(([metric, samples]) => {
      const [name, type, help] = METRICS[metric];
      const values = [...samples.values()].map(
        ({ suffix, labels, value }) => `${name}${suffix}${formatLabels(labels)} ${value}`,
      );
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values];
    });
    return `${lines.join("\n")}\n`;
  }

  #findSample(metric: MetricName, labels: Labels, suffix = ""): Sample {
    const samples = this.#samples.get(metric) ?? new Map<string, Sample>();
    this.#samples.set(metric, samples);
    const key = suffix + formatLabels(labels);
    const sample = samples.get(key) ?? { suffix, labels, value: 0 };
    samples.set(key, sample);
    return sample;
  }
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
