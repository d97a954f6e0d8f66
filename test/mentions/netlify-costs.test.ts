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
