// test/client/writer.ts: the client of an author who writes.
import { type GitSite, gitSite } from "../author/git-site.js";
import { type ClientUnderTest, startedClient } from "./client.js";

/** Alice's client; her site is in a git repository with a remote. */
export async function writer(hosts: string[] = []) {
  const alice = await gitSite();
  return { alice, client: await clientOf(alice, hosts) };
}

export function clientOf({ folder, machine }: GitSite, hosts: string[] = []): Promise<ClientUnderTest> {
  const environment = Object.entries(machine.environment).map(([name, value]) => [name, value ?? ""] as const);
  return startedClient({ folder, environment: Object.fromEntries(environment), hosts });
}

/** The value of a hidden field. */
export function fieldOf(page: string, name: string): string {
  const [, value = ""] = new RegExp(`name="${name}" value="([^"]*)"`).exec(page) ?? [];
  return value.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}
