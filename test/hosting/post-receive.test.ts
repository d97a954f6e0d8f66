// test/hosting/post-receive.test.ts: a site that is published with `git push` while `serve` shows it to visitors.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { GIT_ENVIRONMENT } from "../author/notes/git-site.js";
import { type Blog, blog } from "../cli/helpers.js";
import { type Server, serveProcess } from "../cli/server.js";
import { REPO } from "../helpers/paths.js";
import { configOf } from "../helpers/site.js";
import { deployedSettings, installDeployHook } from "./post-receive.js";

const ELEVENTY = join(REPO, "node_modules/@11ty/eleventy/cmd.cjs");

const SITE = {
  ".gitignore": "node_modules\n_site\n.eleventy-twtxt\n.cache\n",
  "package.json": '{ "type": "module", "dependencies": { "quinces": "file:quinces" } }\n',
  "package-lock.json": lockFile("1.0.0"),
  "quinces/package.json": '{ "name": "quinces", "version": "1.0.0" }\n',
  "eleventy.config.js": configOf({ options: '{ "host": "node" }', now: null }),
  "index.md": "# Alice\n",
  "notes/notes.json": '{ "tags": "posts" }\n',
  "notes/2026-01-02-quinces.md": "The first quinces are in.\n",
};

/** A lock file with one package, which is in the repository: no registry is asked. */
function lockFile(version: string): string {
  return JSON.stringify({
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { quinces: "file:quinces" } },
      quinces: { version },
      "node_modules/quinces": { resolved: "quinces", link: true },
    },
  });
}

/** Alice's working folder, whose `publish` commits all files and pushes them to a bare repository with the hook. */
async function publishedSite() {
  const site = blog(null);
  const place = blog(null);
  const folder = join(place.folder, "alice.example");
  mkdirSync(folder);
  // The packages of the plugin.
  symlinkSync(join(REPO, "node_modules"), join(place.folder, "node_modules"));
  const env = { ...process.env, ...GIT_ENVIRONMENT, HOME: place.folder, npm_config_offline: "true" };
  const git = async (...args: string[]) => (await promisify(execFile)("git", args, { cwd: site.folder, env })).stderr;
  const remote = join(place.folder, "alice.git");
  await git("init", "--quiet", "--bare", "--initial-branch=main", remote);
  installDeployHook(remote, folder, { build: `${process.execPath} ${ELEVENTY}` });
  await git("init", "--quiet", "--initial-branch=main");
  await git("config", "user.name", "Alice");
  await git("config", "user.email", "alice@alice.example");
  await git("remote", "add", "origin", remote);
  return {
    folder,
    /** @param files - `null` removes one. @returns the output of `git push`, with that of the hook */
    async publish(files: Record<string, string | null>): Promise<string> {
      writeFiles(site, files);
      await git("add", ".");
      await git("commit", "--quiet", "-m", "Changes");
      return git("push", "origin", "main");
    },
  };
}

function writeFiles(site: Blog, files: Record<string, string | null>): void {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) rmSync(join(site.folder, path));
    else site.write(path, content);
  }
}

/** Requests pages, the feed and an endpoint all the time. @returns a function that ends this and returns each wrong answer */
function visit({ url }: Server) {
  const wrong: string[] = [];
  let count = 0;
  let isOver = false;
  const expected = { "/": "Alice", "/twtxt.txt": "quinces", "/mentions.json": '"mentions"', "/mentions/": "Mentions" };
  const request = async (path: string, part: string) => {
    const response = await fetch(url + path).catch((error: Error) => error);
    const text = response instanceof Error ? String(response.cause) : await response.text().catch(String);
    count += 1;
    if (response instanceof Error || response.status !== 200 || !text.includes(part)) wrong.push(`${path}: ${text}`);
  };
  const visiting = (async () => {
    while (!isOver) {
      for (const [path, part] of Object.entries(expected)) await request(path, part);
      await setTimeout(5);
    }
  })();
  return async () => {
    isOver = true;
    await visiting;
    return { wrong, count };
  };
}

it("answers every request during five pushes, shows each build, and no deleted post", async () => {
  const alice = await publishedSite();
  expect(await alice.publish(SITE)).toMatch(/added 1 package[\s\S]*Built and deployed\./);
  const server = await serveProcess({ folder: alice.folder }, ["--settings", deployedSettings(alice.folder)]);
  const endVisit = visit(server);
  const textOf = async (path: string) => (await fetch(server.url + path)).text();

  expect(await alice.publish({ "notes/2026-01-03-pears.md": "Pears, too.\n" })).not.toContain("added");
  expect(await textOf("/notes/2026-01-03-pears/")).toContain("Pears, too.");
  expect(await textOf("/twtxt.txt")).toContain("Pears, too.");

  expect(await alice.publish({ "index.md": "{% nothing %}" })).toMatch(/Not deployed: the build failed\./);
  expect(await alice.publish({ "index.md": "# Alice\n", "notes/2026-01-03-pears.md": null })).toContain("deployed.");
  expect((await fetch(`${server.url}/notes/2026-01-03-pears/`)).status).toBe(404);
  expect(await textOf("/twtxt.txt")).not.toContain("Pears");

  const update = { "package-lock.json": lockFile("1.0.1"), "quinces/package.json": '{ "version": "1.0.1" }\n' };
  expect(await alice.publish(update)).toMatch(/added 1 package/);
  expect(await alice.publish({ "notes/2026-01-04-plums.md": "Plums are late.\n" })).toContain("Built and deployed.");
  expect(await textOf("/notes/2026-01-04-plums/")).toContain("Plums are late.");
  await expect
    .poll(() => postTo(server, "https://alice.example/notes/2026-01-04-plums/"))
    .not.toContain("not-our-target");

  const { wrong, count } = await endVisit();
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(100);
  expect(readdirSync(join(alice.folder, "builds"))).toHaveLength(3);
  expect(server.output()).not.toMatch(/previous build|failed;.*ENOENT/);
  expect(await server.end()).toBe(0);
});

/** Sends a mention whose source is refused. @returns the body of the response */
async function postTo({ url }: Server, target: string): Promise<string> {
  const body = new URLSearchParams({ source: "http://127.0.0.1:1/twtxt.txt", target });
  return (await fetch(`${url}/webmention`, { method: "POST", body })).text();
}
