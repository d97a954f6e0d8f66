import { chmodSync, existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePort } from "../helpers/ports.js";
import { blog, command, longCommand } from "./helpers.js";
import { site } from "./server.js";

const LINK = /^http:\/\/127\.0\.0\.1:\d+\/open\?token=[\w-]{43}$/m;

/** The output after the link's advice. */
function rest(link: string): string {
  return `The link works once; for another one, open ${new URL("/", link)}\nCtrl-C ends the client.\n`;
}

/** Starts the client, and waits for its link. */
async function started(folder: string, args: string[] = [], environment: Record<string, string> = {}) {
  const here = { SSH_CONNECTION: "", WSL_DISTRO_NAME: "" };
  const running = longCommand(folder, ["client", ...args], { environment: { ...here, ...environment } });
  await expect.poll(() => running.printed.stdout).toMatch(LINK);
  return { ...running, link: LINK.exec(running.printed.stdout)?.[0] ?? "" };
}

describe("eleventy-twtxt client", () => {
  it("prints a link that opens the site's client, and shuts down cleanly", async () => {
    const { folder } = site();
    const { link, end, printed } = await started(folder, ["--no-open", "--port", String(await freePort())]);
    await expect.poll(() => printed.stderr).toBe(`Open this link in a browser on this machine. ${rest(link)}`);
    const opened = await fetch(link);
    expect(opened.status).toBe(200);
    const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    const page = await fetch(new URL("/mentions", link), { headers: { cookie } });
    expect(await page.text()).toContain("alice.example");
    const style = await fetch(new URL("/client.css", link));
    expect(style.headers.get("content-type")).toBe("text/css; charset=utf-8");

    expect(await end()).toBe(0);
    expect(printed.stderr).toMatch(/Shutting down: finishing open requests\. Ctrl-C again ends at once\.\n$/);
    await expect(fetch(link)).rejects.toThrow();
  });

  it("prints a new link when a browser opens the client after the first link was used", async () => {
    const { link, end, printed } = await started(site().folder, ["--no-open"]);
    await fetch(link);
    expect((await fetch(new URL("/", link))).status).toBe(403);
    expect(printed.stderr).toMatch(/A browser without a session asked for the client\. If it was yours: http:\S+\n$/);
    await end();
  });

  it.skipIf(process.platform !== "linux")(
    "opens the system's browser, or says what to do if there is none",
    async () => {
      const blog = site();
      blog.write("bin/xdg-open", '#!/bin/sh\nprintf %s "$1" > "$OPENED.new" && /bin/mv "$OPENED.new" "$OPENED"\n');
      chmodSync(join(blog.folder, "bin/xdg-open"), 0o755);
      const opened = join(blog.folder, "opened");
      const first = await started(blog.folder, [], { PATH: join(blog.folder, "bin"), OPENED: opened });
      await expect.poll(() => existsSync(opened)).toBe(true);
      expect(blog.read("opened")).toBe(first.link);
      await expect.poll(() => first.printed.stderr).toBe(`Opened in your browser. ${rest(first.link)}`);
      await first.end();

      const second = await started(blog.folder, [], { PATH: join(blog.folder, "nothing") });
      await expect
        .poll(() => second.printed.stderr)
        .toBe(`Open this link in a browser on this machine. ${rest(second.link)}`);
      await second.end();
    },
  );

  it.skipIf(process.platform !== "linux")(
    "shuts down while the program that opens the browser is still running",
    async () => {
      const blog = site();
      blog.write("bin/xdg-open", '#!/bin/sh\n: > "$OPENED"\nwhile [ -e "$OPENED" ]; do /bin/sleep 0.1; done\n');
      chmodSync(join(blog.folder, "bin/xdg-open"), 0o755);
      const opened = join(blog.folder, "opened");
      const { end } = await started(blog.folder, [], { PATH: join(blog.folder, "bin"), OPENED: opened });
      await expect.poll(() => existsSync(opened)).toBe(true);
      expect(await end()).toBe(0);
      rmSync(opened);
    },
  );

  it("opens no browser over ssh but explains how to forward the port; refers to Windows in WSL", async () => {
    const { folder } = site();
    const display = { DISPLAY: "", WAYLAND_DISPLAY: "" };
    const ssh = { ...display, SSH_CONNECTION: "192.0.2.1 50000 192.0.2.7 22", USER: "alice", PATH: "/nonexistent" };
    const remote = await started(folder, [], ssh);
    const { port } = new URL(remote.link);
    const forward = `Type on your own machine: ssh -L ${port}:127.0.0.1:${port} alice@192.0.2.7\nThen open this link there. `;
    await expect.poll(() => remote.printed.stderr).toBe(forward + rest(remote.link));
    await remote.end();

    const wsl = await started(folder, [], { WSL_DISTRO_NAME: "Debian", PATH: "/nonexistent" });
    await expect.poll(() => wsl.printed.stderr).toContain("Open this link in your browser on Windows.");
    await wsl.end();
  });

  it("starts without a site, and says what to do", async () => {
    const { folder } = blog(null, { "package.json": "{}" });
    const { end, printed } = await started(folder, ["--no-open"]);
    expect(printed.stderr).toMatch(/^There is no built site here: .* build it: npx @11ty\/eleventy\n/);
    await end();
  });

  it("can run twice for the same site, on different ports", async () => {
    const { folder } = site();
    const [one, other] = await Promise.all([started(folder, ["--no-open"]), started(folder, ["--no-open"])]);
    expect(new URL(one.link).port).not.toBe(new URL(other.link).port);
    expect((await fetch(one.link)).status).toBe(200);
    expect((await fetch(other.link)).status).toBe(200);
    await Promise.all([one.end(), other.end()]);
  });

  it("exit 2: a port that is in use, or the option --host", async () => {
    const { folder } = site();
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve(Object(server.address()).port));
    });
    expect(await command(folder, ["client", "--no-open", "--port", String(port)])).toMatchObject({
      exitCode: 2,
      stderr: `eleventy-twtxt: Port ${port} of 127.0.0.1 is in use, perhaps by another client. Choose another one, or leave out --port to get a free one.\n`,
    });
    server.close();
    expect(await command(folder, ["client", "--host", "0.0.0.0"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/listens on 127\.0\.0\.1 only, because it acts with your key\..* ssh -L 4000:/),
    });
  });
});
