// test/client/new-key.test.ts: the author replaces the key while the client runs.
import { expect, it } from "vitest";
import { filesRoom } from "../../plugin/client/files/files-room.js";
import { messagesRoom } from "../../plugin/client/messages/messages-room.js";
import { blog, command, dataEnvironment } from "../cli/helpers.js";
import { describeWithoutKeychain, environmentOf } from "../cli/machine.js";
import { freePort, serve } from "../cli/server.js";
import { builtSite, hostFile, settingsFile } from "../helpers/built-site.js";
import { describeInChromium } from "../helpers/chromium.js";
import { eventually } from "../helpers/eventually.js";
import { PAGES } from "../helpers/receiver.js";
import { startedClient } from "./client.js";
import { expectAccessible, expectFits } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText, visitorOf } from "./visitor.js";

const ADDRESS = "alice@alice.example";

/** Alice's machine, with a site that she builds anew, a server of her own, and a running client. */
async function alicesMachine() {
  const machine = blog(null, { "package.json": "{}", "_site/index.html": "home" });
  machine.write(".eleventy-twtxt/published/twtxt.txt", "# nick = alice\n");
  const { folder } = machine;
  const environment = environmentOf(folder);
  const type = (...args: string[]) => command(folder, args, { environment });
  const build = (key: string, formerKeys: string[] = []) => {
    const { settings } = builtSite("https://alice.example", { key, blobs: { formerKeys } });
    const files = { ...settingsFile(settings), ...hostFile({ settings, pages: PAGES }) };
    for (const [path, content] of Object.entries(files)) machine.write(path, content);
  };
  const old = (await type("keys", "create", ADDRESS)).stdout.trim();
  build(old);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await serve(machine, ["--port", String(port), "--url", url], dataEnvironment(folder));
  const client = await startedClient({ rooms: [filesRoom, messagesRoom], folder, environment, url });
  return { machine, type: (...args: string[]) => type(...args, "--url", url), keys: type, build, old, url, client };
}

describeWithoutKeychain("a new key", () => {
  it("keeps files of the former one, at their URLs; the running client notices it, and a button moves them", async () => {
    const { machine, type, keys, build, old, url, client } = await alicesMachine();
    machine.write("quinces.txt", "quinces");
    machine.write("pears.txt", "pears");
    await type("blob", "put", "quinces.txt", "--public", "--key", "quinces.txt");
    await type("blob", "put", "pears.txt", "--key", "pears.txt");
    const visitor = await visitorOf(client, "/files");
    const files = async () => shownText((await visitor.get("/files")).text);
    const messages = async () => shownText((await visitor.get("/messages")).text);
    expect(await files()).toContain("quinces.txt");
    expect(await messages()).not.toContain("deploy");

    const created = (await keys("keys", "create", ADDRESS, "--replace")).stdout.trim();
    expect(await files()).toMatch(
      /This machine has another key for alice@alice\.example: if the option &quot;key&quot; is .* build and deploy again\./,
    );
    build(created);
    const unlisted = await eventually(async () => {
      const page = await files();
      expect(page).toContain("Files of your former key");
      return page;
    });
    expect(unlisted).toMatch(/Add it to the option blobs\.formerKeys, build and deploy/);
    expect(await messages()).not.toContain("deploy");

    build(created, [old]);
    await eventually(async () => expect(await files()).toContain("Move 2 files to your present key"));
    const shared = async () => {
      const response = await fetch(`${url}/shared/${old}/quinces.txt`);
      return [response.status, await response.text(), response.headers.get("content-location")];
    };
    expect(await shared()).toEqual([200, "quinces", null]);
    await visitor.submit("/files/move");
    await eventually(async () => expect(await files()).toMatch(/2 files moved\..*quinces\.txt/));
    expect(await files()).toContain("pears.txt");
    expect(await shared()).toEqual([200, "quinces", `https://alice.example/shared/${created}/quinces.txt`]);
    expect((await fetch(`${url}/shared/${old}/pears.txt`)).status).toBe(404);
    expect((await type("blob", "verify")).stderr).toContain("2 as you stored them");
    expect((await type("blob", "move")).stderr).toContain("0 blobs moved");
  });

  it("does not replace a file of the present key, and says which one stays", async () => {
    const { machine, type, keys, build, old } = await alicesMachine();
    machine.write("a.txt", "old");
    await type("blob", "put", "a.txt", "--public", "--key", "a.txt");
    const created = (await keys("keys", "create", ADDRESS, "--replace")).stdout.trim();
    build(created, [old]);
    machine.write("a.txt", "new");
    await eventually(async () => {
      const put = await type("blob", "put", "a.txt", "--public", "--key", "a.txt");
      expect(put.exitCode).toBe(0);
    });
    const moved = await type("blob", "move");
    expect(moved).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("a.txt: not moved: your key has another file with this key."),
    });
  });
});

describeInChromium("files of a former key, in a browser", () => {
  it("fit all widths, and axe finds no violations", async () => {
    const { machine, type, keys, build, old, client } = await alicesMachine();
    machine.write("a.txt", "a");
    await type("blob", "put", "a.txt", "--key", "a.txt");
    build((await keys("keys", "create", ADDRESS, "--replace")).stdout.trim(), [old]);
    const tab = await openPage(client, "/files");
    await eventually(async () => {
      await tab.goto(`${client.origin}/files`);
      expect(await tab.getByText("Move 1 file").count()).toBe(1);
    });
    await expectAccessible(tab, "files-former");
    await tab.getByText("Move 1 file").click();
    await tab.getByText("1 file moved.").waitFor();
    await expectFits(tab, "files-moved");
  });
});
