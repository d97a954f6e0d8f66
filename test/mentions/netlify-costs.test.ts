import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RATE_LIMIT } from "../../plugin/eleventy/output/netlify-functions.js";
import { openAccounts } from "../../plugin/mentions/networks/accounts.js";
import { toParts } from "../../plugin/mentions/networks/copy-text.js";
import { readMastodonThread } from "../../plugin/mentions/networks/mastodon.js";
import type { Picture } from "../../plugin/mentions/networks/network.js";
import { parseCopy } from "../../plugin/mentions/networks/parse-copy.js";
import { nextReading } from "../../plugin/mentions/networks/read-threads.js";
import { postingBluesky } from "../helpers/posting-bluesky.js";
import { postingMastodon } from "../helpers/posting-mastodon.js";
import { receiver, settingsOf } from "../helpers/receiver.js";
import { world } from "./send/outgoing.js";

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

/** The readings of a copy in its first 30 days and later, by runs each hour. */
function countReadings(): [number, number] {
  const HOUR = 3600_000;
  const days: number[] = [];
  for (let hour = 1, read = 0; hour < 400 * 24; hour += 1) {
    const next = nextReading({ published: 0, read });
    if (next === null || next > hour * HOUR) continue;
    read = hour * HOUR;
    days.push(hour / 24);
  }
  const later = days.filter((day) => day > 30).length;
  return [days.length - later, later];
}

/** What servers are asked for a post with a picture and two copies, and for a reading of the copy that takes more. */
async function countRequests() {
  const [mastodon, bluesky] = [await postingMastodon(), await postingBluesky()];
  const { ask } = await world([mastodon, bluesky]);
  const parts = { ask, now: Date.now, sleep: async () => {} };
  const open = () => openAccounts({ ...mastodon.environment, ...bluesky.environment }, parts);
  const bytes = readFileSync(new URL("../pictures/files/plain.webp", import.meta.url));
  const copy = {
    ...{ key: "key", parts: toParts("Ten jars"), permalink: "https://alice.example/posts/quinces/" },
    attach: async <T>(_: unknown, upload: (picture: Picture) => Promise<T>) => [
      await upload({ bytes, type: "image/webp", alt: "Ten jars", width: 1, height: 1 }),
    ],
  };
  const asked = [mastodon.requests, bluesky.requests];
  const count = async (work: (account: ReturnType<typeof open>[number]) => Promise<unknown>) => {
    const before = asked.flat().length;
    for (const account of open()) await work(account);
    return asked.flat().length - before;
  };
  const posting = await count(async (account) => {
    await account.find(copy.permalink);
    await account.post(copy);
  });
  const [status] = mastodon.posted();
  const posted = status && parseCopy(status.url);
  if (!posted) throw new Error("There is no copy.");
  const editing = await count(async (account) => account.edit?.(posted, copy));
  mastodon.favourites.set(posted.id, [mastodon.addAccount("bob")]);
  mastodon.reblogs.set(posted.id, [mastodon.addAccount("carol")]);
  const before = mastodon.requests.length;
  await readMastodonThread(posted, { ask, now: Date.now, isUnlistedWanted: false });
  return { posting, editing, reading: mastodon.requests.length - before };
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

  it("are those of copies, by the requests and the readings that they take, each reading a second and each copy two", async () => {
    const requests = await countRequests();
    const [first, others] = countReadings();
    const readings = (copies: number) => copies * (first + others);
    const copying = (posts: number) => posts * (requests.posting + requests.editing);
    const credits = (seconds: number) => hours(seconds) * PRICE.gigabyteHour;
    const month = (posts: number) => [
      readings(posts * 2),
      readings(posts * 2) * requests.reading + copying(posts),
      Math.round(credits(readings(posts * 2) + posts * 4 * 2)),
    ];
    expect(creditsOfThreads()).toEqual([
      ["posting a post with a picture to both networks", 0, requests.posting, Number(credits(4).toFixed(2))],
      ["editing it", 0, requests.editing, Number(credits(4).toFixed(2))],
      ["a copy, in its first 30 days", first, first * requests.reading, Number(credits(first).toFixed(1))],
      [
        "a copy, in each later month of its first year",
        Math.round(others / 11),
        Math.ceil((others / 11) * requests.reading),
        0.01,
      ],
      ["10 posts a month with two copies each, each edited once, for a year", ...month(10)],
      ["100 posts a month with two copies each, each edited once, for a year", ...month(100)],
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
