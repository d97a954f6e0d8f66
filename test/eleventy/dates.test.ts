import { beforeAll, describe, expect, it } from "vitest";
import { postClock } from "../../plugin/eleventy/posts/post-date.js";
import { formatTimestamp } from "../../plugin/feed/timestamp.js";
import type { Post } from "../../plugin/options.js";
import { type BuiltSite, site } from "../helpers/site.js";
import { lines, logged, quoted } from "./read-build.js";

const WHAT_TO_DO = "Give it a different time, or run: npx eleventy-twtxt stamp";

/** A post with this date line in its front matter, or without a date. */
function dated(date: string | null, title = "T"): string {
  return `---\ntitle: ${title}\ntags: posts\n${date === null ? "" : `date: ${date}\n`}---\nBody\n`;
}

/** The timestamp of the twt with this permalink; `null` for none. */
function timestampOf(built: BuiltSite, slug: string): string | null {
  const archive = built.has("twtxt-1969.txt") ? lines(built, "twtxt-1969.txt") : [];
  return (
    [...archive, ...lines(built)].find((line) => line.endsWith(` https://alice.example/${slug}/`))?.split("\t")[0] ??
    null
  );
}

function item(url: string, date: string): Post {
  return {
    url,
    inputPath: `.${url}index.md`,
    date: new Date(date),
    data: { date: new Date(date) },
    templateContent: "",
  };
}

describe("a date with a time", () => {
  const spellings: [slug: string, date: string, timestamp: string][] = [
    ["utc", "2015-02-02T10:55:00Z", "2015-02-02T10:55:00Z"],
    ["utc-quoted", '"2015-02-02T10:55:01Z"', "2015-02-02T10:55:01Z"],
    ["no-seconds", "2015-02-02T10:56", "2015-02-02T10:56:00Z"],
    ["no-seconds-quoted", "'2015-02-02T10:57'", "2015-02-02T10:57:00Z"],
    ["space", "2017-02-07 11:33:49", "2017-02-07T11:33:49Z"],
    ["space-and-offset", "2017-02-07 11:33:50 -04:00", "2017-02-07T15:33:50Z"],
    ["offset", "2017-02-07T11:33:51-0400", "2017-02-07T15:33:51Z"],
    ["offset-quoted", '"2017-02-07T11:33:52-0400"', "2017-02-07T15:33:52Z"],
    ["offset-colon", "2017-02-07T11:33:53-04:00", "2017-02-07T15:33:53Z"],
    ["offset-ahead", "2017-02-07T01:33:54+05:30", "2017-02-06T20:03:54Z"],
    ["fraction", "2017-02-07T11:33:55.511Z", "2017-02-07T11:33:55Z"],
    ["fraction-quoted", '"2017-02-07T11:33:56.999Z"', "2017-02-07T11:33:56Z"],
    ["before-1970", "1969-12-31T23:59:58.511Z", "1969-12-31T23:59:58Z"],
    ["2001-01-01-name-and-date", "2017-02-07T11:33:57Z", "2017-02-07T11:33:57Z"],
  ];
  let built: BuiltSite;

  beforeAll(async () => {
    built = await site({
      files: Object.fromEntries(spellings.map(([slug, date]) => [`${slug}.md`, dated(date)])),
      options: `{ timeZone: "America/Los_Angeles" }`,
    });
  });

  it.each(spellings)("%s: %s is %s in every time zone", (slug, _, timestamp) => {
    expect(timestampOf(built, slug)).toBe(timestamp);
  });

  it("causes no warning", () => {
    expect(logged(built)).toEqual([`Wrote /twtxt.txt (${spellings.length} twts) and 1 archive.`]);
  });
});

describe("a post without a stable date", () => {
  const unstable: Record<string, string | null> = {
    "a-none": null,
    "b-modified": "Last Modified",
    "c-created": "Created",
    "d-git-modified": "git Last Modified",
    "e-git-created": "git Created",
    "f-lower-case": "git created",
    "g-empty": '""',
    "h-null": "",
    "2024-01-02-j-modified": "Last Modified",
  };
  let built: BuiltSite;

  beforeAll(async () => {
    const posts = Object.entries(unstable).map(([slug, date]) => [`posts/${slug}.md`, dated(date)]);
    built = await site({
      files: {
        ...Object.fromEntries(posts),
        "posts/2024-03-04-named.md": dated(null),
        "posts/2024-03-05-empty.md": dated('""'),
        "2024-03-06-folder/index.md": dated(null),
        "posts/computed.md": quoted({ title: "T", tags: ["posts"], eleventyComputed: { date: "{{ 'x' }}" } }, "Body"),
      },
    });
  });

  it("has no twt, unless its file or folder has a date in its name", () => {
    expect(lines(built).map((line) => line.split(": ")[1])).toEqual([
      "https://alice.example/posts/2024-03-04-named/",
      "https://alice.example/posts/2024-03-05-empty/",
      "https://alice.example/2024-03-06-folder/",
    ]);
    const days = lines(built).map((line) => line.slice(0, 13));
    expect(days).toEqual(["2024-03-04T00", "2024-03-05T00", "2024-03-06T00"]);
  });

  it("is listed in a warning that suggests the stamp command", () => {
    const [warning = "", ...others] = logged(built);
    const files = [...Object.keys(unstable).map((slug) => `./posts/${slug}.md`), "./posts/computed.md"];
    expect(warning).toMatch(
      /^10 posts left out of the feed, because the date is missing or changes by itself \(Last Modified, git Created\): .* and 5 more\. Add a date to the front matter, or run: npx eleventy-twtxt stamp$/,
    );
    const named = /git Created\): (.*) and 5 more/.exec(warning)?.[1]?.split(", ") ?? [];
    expect(named).toHaveLength(5);
    for (const file of named) expect(files).toContain(file);
    expect(others).toEqual(["Wrote /twtxt.txt (3 twts)."]);
  });

  it("has no twt if its date is falsy, so that Eleventy uses the date of the file", async () => {
    const built = await site({ files: { "posts/a.md": dated("false") }, now: "2100-01-01T00:00:00Z" });
    expect(lines(built)).toEqual([]);
    expect(logged(built)[0]).toMatch(
      /^1 post left out of the feed, because the date is missing or changes by itself \(Last Modified, git Created\): \.\/posts\/a\.md\./,
    );
  });

  it("is named by its file if it is the only one", async () => {
    const one = await site({ files: { "posts/a.md": dated(null), "posts/b.md": dated("2024-01-02T03:04:05Z") } });
    expect(logged(one)).toEqual([
      "1 post left out of the feed, because the date is missing or changes by itself (Last Modified, git Created): ./posts/a.md. Add a date to the front matter, or run: npx eleventy-twtxt stamp",
      "Wrote /twtxt.txt (1 twt).",
    ]);
  });
});

describe("a date without a time", () => {
  /** The time zone, the day and its start. */
  const starts: [timeZone: string, day: string, start: string][] = [
    ["UTC", "2024-01-02", "2024-01-02T00:00:00Z"],
    ["Australia/Sydney", "2024-01-02", "2024-01-01T13:00:00Z"],
    ["Australia/Sydney", "2024-07-02", "2024-07-01T14:00:00Z"],
    ["Australia/Sydney", "2024-10-06", "2024-10-05T14:00:00Z"],
    ["America/Los_Angeles", "2024-01-02", "2024-01-02T08:00:00Z"],
    ["America/Los_Angeles", "2024-03-10", "2024-03-10T08:00:00Z"],
    ["America/Los_Angeles", "2024-03-11", "2024-03-11T07:00:00Z"],
    ["America/Los_Angeles", "2024-11-03", "2024-11-03T07:00:00Z"],
    // Midnight does not exist: the clock goes from 23:59:59 to 01:00.
    ["Asia/Beirut", "2022-03-27", "2022-03-26T22:00:00Z"],
    ["Asia/Beirut", "2022-03-28", "2022-03-27T21:00:00Z"],
    ["America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"],
    // Just before midnight the clock goes back to 23:00.
    ["America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00:00Z"],
    ["America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00Z"],
    // Midnight occurs twice: the clock goes back from 01:00.
    ["America/Havana", "2023-11-05", "2023-11-05T04:00:00Z"],
    ["Asia/Kathmandu", "2024-01-02", "2024-01-01T18:15:00Z"],
    ["Pacific/Kiritimati", "2024-01-02", "2024-01-01T10:00:00Z"],
    ["Pacific/Pago_Pago", "2024-01-02", "2024-01-02T11:00:00Z"],
    ["Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"],
  ];

  it.each(starts)("%s, %s: is within an hour after %s", (timeZone, day, start) => {
    const clock = postClock(timeZone);
    const seconds = ["/a/", "/b/", "/c/", "/2024/some-longer-name/", "/é/"].map((url) => {
      const time = clock(item(url, day));
      return ((time ?? Number.NaN) - Date.parse(start)) / 1000;
    });
    for (const second of seconds) {
      expect(second).toBeGreaterThanOrEqual(0);
      expect(second).toBeLessThan(3600);
      expect(Number.isInteger(second)).toBe(true);
    }
    expect(new Set(seconds).size).toBeGreaterThan(1);
  });

  it("has an offset from the start of the day that depends only on the permalink", () => {
    const offsets = starts.map(
      ([timeZone, day, start]) => (postClock(timeZone)(item("/a/", day)) ?? 0) - Date.parse(start),
    );
    expect(new Set(offsets).size).toBe(1);
  });

  it("includes midnight UTC, but no other midnight", () => {
    const clock = postClock("Australia/Sydney");
    expect(clock(item("/a/", "2024-01-02T00:00:00Z"))).toBe(clock(item("/a/", "2024-01-02")));
    expect(formatTimestamp(clock(item("/a/", "2024-01-02T00:00:00+11:00")) ?? 0)).toBe("2024-01-01T13:00:00Z");
  });

  it("keeps its timestamp when other posts are added and removed", async () => {
    const day = {
      "a.md": dated("2022-03-27"),
      "2022-03-27-b.md": dated(null),
      "c.md": dated('"2022-03-27"'),
      "d.md": dated("2022-03-28"),
    };
    const options = `{ timeZone: "Asia/Beirut" }`;
    const three = await site({ files: day, options });
    const before = lines(three);
    expect(before.map((line) => line.slice(0, 13)).toSorted()).toEqual([
      "2022-03-26T22",
      "2022-03-26T22",
      "2022-03-26T22",
      "2022-03-27T21",
    ]);
    expect(logged(three)).toEqual(["Wrote /twtxt.txt (4 twts)."]);

    const others = { "0.md": dated("2022-03-27"), "aa.md": dated("2022-03-27"), "z.md": dated("2022-03-27T00:30:00Z") };
    const more = lines(await site({ site: three, files: others, options }));
    expect(more).toHaveLength(7);
    expect(more.filter((line) => before.includes(line))).toEqual(before);

    const fewer = lines(await site({ site: three, files: { "0.md": null, "a.md": null, "z.md": null }, options }));
    expect(fewer).toEqual(more.filter((line) => !/\/(0|a|z)\/$/.test(line)));
  });
});

describe("several posts in one second", () => {
  it("are ordered by permalink, with a warning that names both files", async () => {
    const built = await site({
      files: {
        "fr/article.md": dated("2024-01-02T03:04:05Z", "Un"),
        "en/article.md": dated("2024-01-02T03:04:05Z", "One"),
        "es/article.md": dated("2024-01-02T03:04:05Z", "Uno"),
        "other.md": dated("2024-01-02T03:04:06Z", "Other"),
      },
    });
    expect(lines(built)).toEqual([
      "2024-01-02T03:04:05Z\tOne: https://alice.example/en/article/",
      "2024-01-02T03:04:06Z\tOther: https://alice.example/other/",
      "2024-01-02T03:04:07Z\tUno: https://alice.example/es/article/",
      "2024-01-02T03:04:08Z\tUn: https://alice.example/fr/article/",
    ]);
    const sentence = (file: string) =>
      `${file} and ./en/article.md have the same time, 2024-01-02T03:04:05Z. The feed lists the first one at the next free second. ${WHAT_TO_DO}`;
    expect(logged(built)).toEqual([
      sentence("./es/article.md"),
      sentence("./fr/article.md"),
      "Wrote /twtxt.txt (4 twts).",
    ]);
  });

  it("are summarized if they are many", async () => {
    const days = Array.from({ length: 8 }, (_, i) => `2024-01-0${i + 1}T03:04:05Z`);
    const files = days.flatMap((date, i) => [
      [`en/${i}.md`, dated(date, "One")],
      [`fr/${i}.md`, dated(date, "Un")],
    ]);
    const built = await site({ files: Object.fromEntries(files) });
    expect(lines(built)).toHaveLength(16);
    expect(logged(built)).toEqual([
      ...[0, 1, 2, 3, 4].map(
        (i) =>
          `./fr/${i}.md and ./en/${i}.md have the same time, ${days[i]}. The feed lists the first one at the next free second. ${WHAT_TO_DO}`,
      ),
      "And 3 more.",
      "Wrote /twtxt.txt (16 twts).",
    ]);
  });

  it("can move past the end of a day or year", async () => {
    const built = await site({
      files: { "a.md": dated("2023-12-31T23:59:59Z"), "b.md": dated("2023-12-31T23:59:59.511Z") },
    });
    expect(lines(built)).toEqual([
      "2023-12-31T23:59:59Z\tT: https://alice.example/a/",
      "2024-01-01T00:00:00Z\tT: https://alice.example/b/",
    ]);
  });
});

describe("posts dated in the future", () => {
  it("are omitted, with a warning that states when each appears", async () => {
    const files = {
      "past.md": dated("2026-11-20T11:59:59Z"),
      "now.md": dated("2026-11-20T12:00:00Z"),
      "soon.md": dated("2026-11-20T12:00:01Z"),
      "later.md": dated("2027-01-02T03:04:05+01:00"),
    };
    const built = await site({ files, now: "2026-11-20T12:00:00Z" });
    expect(lines(built).map((line) => line.slice(0, 20))).toEqual(["2026-11-20T11:59:59Z", "2026-11-20T12:00:00Z"]);
    expect(logged(built)).toEqual([
      "./soon.md is dated in the future. It appears in the feed with the first build after 2026-11-20T12:00:01Z.",
      "./later.md is dated in the future. It appears in the feed with the first build after 2027-01-02T02:04:05Z.",
      "Wrote /twtxt.txt (2 twts).",
    ]);

    const then = await site({ site: built, files: {}, now: "2027-01-02T02:04:05Z" });
    expect(lines(then).map((line) => line.slice(0, 20))).toEqual([
      "2026-11-20T11:59:59Z",
      "2026-11-20T12:00:00Z",
      "2026-11-20T12:00:01Z",
      "2027-01-02T02:04:05Z",
    ]);
    expect(logged(then)).toEqual(["Wrote /twtxt.txt (4 twts)."]);
  });

  it("are in the site's time zone if they have no time", async () => {
    const files = { "today.md": dated("2026-11-20") };
    const now = "2026-11-19T14:00:00Z";
    const utc = await site({ files, now });
    expect(lines(utc)).toEqual([]);
    expect(logged(utc)[0]).toMatch(
      /^\.\/today\.md is dated in the future\. It appears in the feed with the first build after 2026-11-20T00:\d\d:\d\dZ\.$/,
    );

    const sydney = await site({ site: utc, files: {}, now, options: `{ timeZone: "Australia/Sydney" }` });
    expect(lines(sydney).map((line) => line.slice(0, 13))).toEqual(["2026-11-19T13"]);
  });

  it("are summarized if they are many", async () => {
    const files = Array.from({ length: 7 }, (_, i) => [`${i}.md`, dated(`2027-01-0${i + 1}T03:04:05Z`)]);
    const built = await site({ files: Object.fromEntries(files) });
    expect(logged(built)).toEqual([
      ...[1, 2, 3, 4, 5].map(
        (day) =>
          `./${day - 1}.md is dated in the future. It appears in the feed with the first build after 2027-01-0${day}T03:04:05Z.`,
      ),
      "And 2 more.",
      "Wrote /twtxt.txt (0 twts).",
    ]);
  });
});
