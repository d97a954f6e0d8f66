import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startedClient } from "./client.js";

const LINK = /<a href="(\/\w+)"[^>]*>.*?<span class="room">(\w+)<\/span>/gs;

it("docs/client.md lists the same keys for each room as the pages", async () => {
  const client = await startedClient();
  const cookie = await client.open();
  const rows = new Set<string>();
  const { text: first } = await client.ask("/health", { headers: { cookie } });
  for (const [, path = "", room = ""] of first.matchAll(LINK)) {
    const { text } = await client.ask(path, { headers: { cookie } });
    for (const [, key = "", does = ""] of text.matchAll(/<kbd>(.*?)<\/kbd><\/dt><dd>(.*?)<\/dd>/g)) {
      rows.add(`| ${"jk?yq".includes(key) ? "all" : room} | \`${key}\` | ${does} |`);
    }
  }
  const document = readFileSync(new URL("../../docs/client.md", import.meta.url), "utf8");
  expect([...document.matchAll(/^\| .* \| `.` \| .* \|$/gm)].map(([row]) => row)).toEqual([...rows]);
});
