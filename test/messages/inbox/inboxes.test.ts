import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ALICE, alicesInbox, idOf, sealed } from "./alices-inbox.js";

const entry = fileURLToPath(new URL("../../../plugin/messages/inbox/inboxes.ts", import.meta.url));

/** All packages that a module imports, directly or indirectly. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type )[^;]*?"([^"]+)";/gm)) {
    const found = name.startsWith(".") ? resolve(file, "..", name).replace(/\.js$/, ".ts") : name;
    if (seen.has(found)) continue;
    seen.add(found);
    if (existsSync(found)) packagesOf(found, seen);
  }
  return new Set([...seen].filter((name) => !existsSync(name) && !name.startsWith("node:")));
}

describe("the inboxes of a site", () => {
  it("report their messages, oldest first, and how full they are", async () => {
    const alice = alicesInbox({ limits: { messages: 40, bytes: 10_000, retentionDays: null } });
    await alice.receive(sealed(2), sealed(1, 600));
    const messages = [
      { id: idOf(sealed(2)), created: "2026-11-20T09:00:00.000Z" },
      { id: idOf(sealed(1, 600)), created: "2026-11-20T09:00:00.001Z" },
    ];
    expect(await alice.news()).toEqual([
      { user: "alice", messages, fullness: 0.09 },
      { user: "carol", messages: [], fullness: 0 },
    ]);
    for (let n = 0; n < 30; n += 1) await alice.send(sealed(n + 10, 280), { from: `192.0.2.${n + 10}` });
    expect(await alice.news()).toMatchObject([{ fullness: 0.93 }, {}]);
  });

  it("are served at the configured path", async () => {
    const alice = alicesInbox({ inboxUrl: (user) => `https://alice.example/blog/post-box/${user}` });
    const url = "https://alice.example/blog/post-box/alice";
    expect((await alice.send(sealed(1), { url })).status).toBe(202);
    expect(await alice.items(`${url}?limit=1`)).toMatchObject([{ id: idOf(sealed(1)) }]);
    await alice.send(sealed(2), { url });
    const link = (await alice.ask("GET", `${url}?limit=1`, { signer: ALICE })).headers.get("link");
    expect(link).toContain(`<${url}?after=`);
    expect((await alice.ask("DELETE", `${url}/${idOf(sealed(1))}`)).status).toBe(200);
    expect((await alice.send(sealed(1))).status).toBe(404);
  });

  it("do not load the curves and ciphers for opening messages", () => {
    const packages = [...packagesOf(entry)];
    expect(packages).toContain("@noble/ed25519");
    expect(packages.filter((name) => /^@noble\/(curves|ciphers)/.test(name))).toEqual([]);
  });
});
