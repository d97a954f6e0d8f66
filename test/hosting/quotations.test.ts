// test/hosting/quotations.test.ts: the configurations in docs/hosting/, which the pages quote.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, it } from "vitest";
import { BLOBS, maxBlobBytes } from "../../plugin/options/blobs.js";
import { REPO } from "../helpers/paths.js";

const docs = join(REPO, "docs");
const pages = readdirSync(docs).filter((name) => name.endsWith(".md"));

it.each(readdirSync(join(docs, "hosting")))("docs/hosting/%s is quoted by a page, as a whole", (name) => {
  const content = readFileSync(join(docs, "hosting", name), "utf8");
  const quoting = pages.filter((page) => readFileSync(join(docs, page), "utf8").includes(`\n${content}\`\`\`\n`));
  expect(quoting).toHaveLength(1);
});

it("the proxies pass on bodies of the largest blob that a site takes by default", () => {
  const [largest, bytes] = [maxBlobBytes(v.parse(BLOBS, {}), "node"), { m: 2 ** 20, MB: 1e6 }];
  for (const [name, limit] of [
    ["nginx.conf", /client_max_body_size (\d+)(m);/],
    ["Caddyfile", /max_size (\d+)(MB)\n/],
  ] as const) {
    const [, number, unit] = limit.exec(readFileSync(join(docs, "hosting", name), "utf8")) ?? [];
    expect([name, Number(number) * bytes[unit as keyof typeof bytes] > largest]).toEqual([name, true]);
  }
});
