// test/cli/private-hosts.test.ts: `--allow-private-host`, remembered for a site on this machine.
import { describe, expect, it } from "vitest";
import { loopbackServer } from "../helpers/loopback.js";
import { blog, command, dataEnvironment } from "./helpers.js";

const FEED = "# nick = bob\n2026-01-02T03:04:05Z\thello\n";

/** A server at an address in the network of this machine that is not the site's own: no command may contact it by default. */
async function neighbour() {
  const server = await loopbackServer((_, response) => response.end(FEED));
  return { ...server, reply: `${server.url}/twtxt.txt#:~:text=2026-01-02T03:04:05Z` };
}

function reply(folder: string, reference: string, ...args: string[]) {
  return command(folder, ["post", "Yes", "--dry-run", "--reply-to", reference, ...args]);
}

describe("--allow-private-host", () => {
  it("is remembered for a site on this machine, for other commands too, until none", async () => {
    const bob = await neighbour();
    const { folder } = blog({ url: "http://localhost:8080", feedUrl: "http://localhost:8080/twtxt.txt" });
    const refused = await reply(folder, bob.reply);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("its address is not public") });

    const allowed = await reply(folder, bob.reply, "--allow-private-host", bob.host);
    expect(allowed).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(
        `Remembered for http://localhost:8080: commands may contact ${bob.host}. To forget: --allow-private-host none\n`,
      ),
    });
    const again = await reply(folder, bob.reply);
    expect(again).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("Remembered") });
    const lookup = await command(folder, ["lookup", `bob@${bob.host}`]);
    expect(lookup.stderr).not.toContain("not public");

    const forgot = await reply(folder, bob.reply, "--allow-private-host", "none");
    expect(forgot).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("its address is not public") });
    expect(forgot.stderr).toContain(`Forgot the private hosts of http://localhost:8080: ${bob.host}.\n`);
    expect(await reply(folder, bob.reply)).toMatchObject({ exitCode: 1 });
  });

  it("is remembered for one site, and never for one with a public address", async () => {
    const bob = await neighbour();
    const here = blog({ url: "http://localhost:8080", feedUrl: "http://localhost:8080/twtxt.txt" });
    const other = blog({ url: "http://localhost:8081", feedUrl: "http://localhost:8081/twtxt.txt" });
    const online = blog({});
    const environment = dataEnvironment(here.folder);
    const ask = ({ folder }: typeof here, ...args: string[]) =>
      command(folder, ["post", "Yes", "--dry-run", "--reply-to", bob.reply, ...args], { environment });

    expect(await ask(here, "--allow-private-host", bob.host)).toMatchObject({ exitCode: 0 });
    expect(await ask(other)).toMatchObject({ exitCode: 1 });
    const once = await ask(online, "--allow-private-host", bob.host);
    expect(once).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("Remembered") });
    expect(await ask(online)).toMatchObject({ exitCode: 1 });
  });
});
