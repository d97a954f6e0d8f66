import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RATE_LIMIT } from "../../plugin/eleventy/output/netlify-functions.js";
import { receiver, settingsOf } from "../helpers/receiver.js";

const text = readFileSync(new URL("../../docs/mentions.md", import.meta.url), "utf8");

/** Prices of Netlify in credits: docs.netlify.com, "How credits work". */
const PRICE = { request: 2 / 10_000, gigabyte: 20, gigabyteHour: 10, deploy: 15 };
const DAYS = 30;
const hours = (seconds: number) => seconds / 3600;

/** The last column of a table, by the first one. */
function creditsIn(table: string): Record<string, number> {
  const [, rows = ""] = text.split(new RegExp(`<!-- /?${table} -->`));
  const cells = rows.split("\n").map((row) => row.split("|").map((cell) => cell.trim()));
  return Object.fromEntries(
    cells.flatMap(([, name = "", , credits = ""]) => (/^\d/.test(credits) ? [[name, Number(credits)]] : [])),
  );
}

/** The rows of the table of threads. */
function creditsOfThreads(): (string | number)[][] {
  const [, rows = ""] = text.split(/<!-- \/?costs of threads -->/);
  const cells = rows.split("\n").map((row) =>
    row
      .split("|")
      .slice(1, 5)
      .map((cell) => cell.trim().replaceAll(/(?<=\d),(?=\d{3})/g, "")),
  );
  return cells.flatMap(([name = "", ...numbers]) =>
    /^\d/.test(numbers[0] ?? "") ? [[name, ...numbers.map(Number)]] : [],
  );
}

describe("the costs on Netlify, as documented", () => {
  const { limits, rebuild } = settingsOf({}).mentions;
  const verification = hours(limits.verificationSeconds * DAYS) * PRICE.gigabyteHour;

  it("are those of the limits", () => {
    expect(creditsIn("costs with a limit")).toEqual({
      "verifying mentions": Math.round(verification),
      "verifying the mentions of one sender or source host": Math.round(verification / 10),
      "the hourly run": hours(DAYS * 24 * 30) * PRICE.gigabyteHour,
      "rebuilds, if you set a build hook": rebuild.perMonth * PRICE.deploy,
    });
  });

  it("are those of one address that sends as many mentions as the rate limit allows", () => {
    const requests = (RATE_LIMIT.windowLimit / RATE_LIMIT.windowSize) * 3600 * 24 * DAYS;
    expect(text).toContain(`${requests.toLocaleString("en")}, at 2 credits`);
    expect(creditsIn("costs of one address")).toEqual({
      requests: Math.round(requests * PRICE.request),
      bandwidth: Math.round(((requests * 1000) / 1e9) * PRICE.gigabyte),
      computing: hours(requests * 0.01) * PRICE.gigabyteHour,
      verification: Math.round(verification / 10),
    });
  });

  it("are those of the readings of threads, each of at most four requests and about a second", () => {
    const [first, others] = [76, 48];
    const readings = (copies: number) => copies * (first + others);
    const credits = (count: number) => hours(count) * PRICE.gigabyteHour;
    expect(creditsOfThreads()).toEqual([
      ["a copy, in its first 30 days", first, first * 4, Number(credits(first).toFixed(1))],
      ["a copy, in each later month of its first year", Math.round(others / 11), Math.ceil((others / 11) * 4), 0.01],
      [
        "10 posts a month with two copies each, for a year",
        readings(20),
        readings(20) * 4,
        Math.round(credits(readings(20))),
      ],
      [
        "100 posts a month with two copies each, for a year",
        readings(200),
        readings(200) * 4,
        Math.round(credits(readings(200))),
      ],
    ]);
  });

  it("assume a kilobyte for each refusal, which has less in its body", async () => {
    const body = new URLSearchParams({ source: "https://bob.example/", target: "https://carol.example/" }).toString();
    for (const accept of ["*/*", "text/html"]) {
      const headers = { "content-type": "application/x-www-form-urlencoded", accept };
      const request = new Request("https://alice.example/webmention", { method: "POST", headers, body });
      const response = await receiver().answer(request);
      expect(response.status).toBe(400);
      expect((await response.arrayBuffer()).byteLength).toBeLessThan(1000);
    }
  });
});
