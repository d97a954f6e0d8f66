import { expect, it } from "vitest";
import { TwtxtError } from "../../plugin/errors.js";
import { createEndpoints } from "../../plugin/host/endpoints.js";
import { formatLogLine, LOG_FORMATS } from "../../plugin/host/log-line.js";
import { builtSite } from "../helpers/built-site.js";

const TIME = Date.parse("2026-11-20T09:30:00.123Z");

/** The log lines of a request that fails with this error, as text and as JSON. */
async function linesAbout(error: Error): Promise<string[]> {
  const lines: string[] = [];
  const { settings } = builtSite("https://alice.example");
  const fail = () => Promise.reject(error);
  const endpointAt = createEndpoints(settings, { health: fail }, (line, context) => {
    for (const format of LOG_FORMATS) lines.push(formatLogLine(format, TIME, line, context));
  });
  await endpointAt("/health")?.answer(new Request("https://alice.example/health?token=secret"), "192.0.2.1");
  return lines;
}

it("a failed request is logged with its time, method and path, but without its query", async () => {
  expect(await linesAbout(new TwtxtError("store-failed", "The disk is full."))).toEqual([
    "2026-11-20T09:30:00.123Z error GET /health: A request failed: The disk is full.",
    '{"time":"2026-11-20T09:30:00.123Z","level":"error","message":"A request failed: The disk is full.","method":"GET","path":"/health"}',
  ]);
});

it("an error in the program is logged with its stack, the method and the path", async () => {
  const [text] = await linesAbout(new Error("broken"));
  expect(text).toMatch(/^2026-11-20T09:30:00\.123Z error GET \/health: Error: broken\n/);
});
