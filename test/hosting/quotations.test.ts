// test/hosting/quotations.test.ts: the configurations in docs/hosting/, which the pages quote.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { REPO } from "../helpers/paths.js";

const docs = join(REPO, "docs");
const pages = readdirSync(docs).filter((name) => name.endsWith(".md"));

it.each(readdirSync(join(docs, "hosting")))("docs/hosting/%s is quoted by a page, as a whole", (name) => {
  const content = readFileSync(join(docs, "hosting", name), "utf8");
  const quoting = pages.filter((page) => readFileSync(join(docs, page), "utf8").includes(`\n${content}\`\`\`\n`));
  expect(quoting).toHaveLength(1);
});
