// test/client/writer.ts: the client of an author who writes.
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { type GitSite, gitSite } from "../author/notes/git-site.js";
import { type ClientUnderTest, startedClient } from "./client.js";
import type { Visitor } from "./visitor.js";

/** Alice's client; her site is in a git repository with a remote. */
export async function writer(hosts: string[] = []) {
  const alice = await gitSite();
  return { alice, client: await clientOf(alice, hosts) };
}

export function clientOf({ folder, machine }: GitSite, hosts: string[] = []): Promise<ClientUnderTest> {
  const environment = Object.entries(machine.environment).map(([name, value]) => [name, value ?? ""] as const);
  return startedClient({ folder, environment: Object.fromEntries(environment), hosts });
}

/** Runs the commands that a page shows. @returns the page of the publication after git has ended */
export async function published(visitor: Visitor, fields: Readonly<Record<string, string>>): Promise<string> {
  const { headers } = await visitor.post("/write/publish", fields);
  expect(headers.get("location")).toBe("/write/publication");
  let { text } = await visitor.get("/write/publication");
  while (text.includes("data-busy")) {
    // Git has the processor meanwhile.
    await setTimeout(20);
    ({ text } = await visitor.get("/write/publication"));
  }
  return text;
}

/** The value of a hidden field. */
export function fieldOf(page: string, name: string): string {
  const [, value = ""] = new RegExp(`name="${name}" value="([^"]*)"`).exec(page) ?? [];
  return value.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}
