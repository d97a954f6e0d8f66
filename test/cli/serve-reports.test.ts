// test/cli/serve-reports.test.ts: the log lines and metrics of `serve`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { REPO } from "../helpers/paths.js";
import { freePort } from "../helpers/ports.js";
import { settingsOf } from "../helpers/receiver.js";
import { command } from "./helpers.js";
import { type Server, serve, site } from "./server.js";

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

function mention({ url }: Server): Promise<Response> {
  const body = new URLSearchParams({ source: "http://127.0.0.1:1/", target: "https://alice.example/" });
  return fetch(`${url}/webmention?secret`, { method: "POST", body });
}

async function metricsOf(server: Server): Promise<string> {
  await expect.poll(server.output).toContain("/metrics\n");
  const [, url = ""] = /Metrics: (http:\S+)/.exec(server.output()) ?? [];
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return response.text();
}

/** The lines of the log, after the two URLs. */
function logLines(server: Server): string[] {
  return server.output().trim().split("\n").slice(2);
}

describe("the log of serve", () => {
  it("has the time and the level of each line", async () => {
    const server = await serve(site());
    await expect.poll(server.output).toMatch(new RegExp(`^${TIME} error Sending mentions failed; \\S.*$`, "m"));
    await server.end();
    for (const line of logLines(server)) expect(line).toMatch(new RegExp(`^${TIME} (info|warn|error) \\S`));
  });

  it("is one JSON object a line with --log json", async () => {
    const server = await serve(site(), ["--log", "json"]);
    await expect.poll(server.output).toContain("Sending mentions failed");
    await server.end();
    const lines = logLines(server).map((line) => JSON.parse(line));
    const time = expect.stringMatching(new RegExp(`^${TIME}$`));
    expect(lines).toContainEqual({ time, level: "info", message: "Shutting down: finishing open requests." });
    expect(lines).toContainEqual({ time, level: "error", message: expect.stringMatching(/^Sending mentions failed/) });
  });
});

describe("the metrics of serve", () => {
  it("count requests, jobs and log lines, and say whether the site is up", async () => {
    const server = await serve(site(settingsOf({})), ["--metrics", "0", "--rate-limit", "1"]);
    await fetch(`${server.url}/`);
    await fetch(`${server.url}/missing`);
    await fetch(`${server.url}/`, { method: "PROPFIND" });
    expect([(await mention(server)).status, (await mention(server)).status]).toEqual([400, 429]);
    await expect
      .poll(() => metricsOf(server))
      .toContain('twtxt_job_runs_total{job="Sending mentions",result="failed"} 1\n');
    const metrics = await metricsOf(server);
    for (const line of [
      'twtxt_http_requests_total{route="file",method="GET",status="200"} 1',
      'twtxt_http_requests_total{route="file",method="GET",status="404"} 1',
      'twtxt_http_requests_total{route="file",method="other",status="405"} 1',
      'twtxt_http_requests_total{route="webmention",method="POST",status="400"} 1',
      'twtxt_http_requests_total{route="mention",method="POST",status="429"} 1',
      'twtxt_http_request_duration_seconds_count{route="webmention"} 1',
      'twtxt_http_request_duration_seconds_bucket{route="webmention",le="+Inf"} 1',
      "twtxt_up 1",
      "# TYPE twtxt_http_request_duration_seconds histogram",
    ]) {
      expect(metrics).toContain(`${line}\n`);
    }
    expect(metrics).toMatch(/^twtxt_log_lines_total\{level="error"\} [1-9]/m);
    expect(metrics).toMatch(/^twtxt_build_timestamp_seconds \d+/m);
    expect(metrics).toMatch(/^process_resident_memory_bytes \d+$/m);
  });

  it("are those of docs/operation.md", async () => {
    const page = readFileSync(join(REPO, "docs/operation.md"), "utf8");
    const [, table = ""] = /\n\| Metric \|([\s\S]*?)\n\n/.exec(page) ?? [];
    const cells = table.split("\n").map((row) => row.split(" | ")[0] ?? "");
    const documented = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)/g)].map(([, name]) => name));
    const server = await serve(site(settingsOf({ mentions: {} })), ["--metrics", "0"]);
    await fetch(`${server.url}/mentions.json`);
    const succeeded = "# TYPE twtxt_job_last_success_timestamp_seconds gauge";
    await expect.poll(() => metricsOf(server)).toContain(succeeded);
    const names = [...(await metricsOf(server)).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual(documented.sort());
  });

  it("are not on the port of the site, and off without --metrics", async () => {
    const server = await serve(site());
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
    expect(server.output()).not.toContain("Metrics:");
  });

  it.each([
    ["http", "--metrics: expected a port such as 9464, or an address with a port"],
    ["65536", "--metrics: expected a port"],
  ])("exit 2: --metrics %s", async (value, message) => {
    const { exitCode, stderr } = await command(site().folder, ["serve", "--metrics", value]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it("exit 2: the port of --metrics is in use", async () => {
    const port = String(await freePort());
    await serve(site(), ["--metrics", port]);
    const { exitCode, stderr } = await command(site().folder, [
      "serve",
      "--port",
      "0",
      "--metrics",
      `127.0.0.1:${port}`,
    ]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`--metrics: 127.0.0.1:${port} cannot be used`)]);
  });
});
