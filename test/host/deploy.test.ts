// test/host/deploy.test.ts: the files of a site while deploys replace the link to its folder.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { siteFiles } from "../../plugin/host/site-files.js";
import { loopbackServer } from "../helpers/loopback.js";

const BUILDS = ["a", "b"] as const;

it("each page comes from one of two builds, however often the link between them changes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-deploy-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const build of BUILDS) {
    mkdirSync(join(folder, build, "posts/hello"), { recursive: true });
    writeFileSync(join(folder, build, "posts/hello/index.html"), "hello");
  }
  const current = join(folder, "current");
  const deploy = (build: string) => {
    symlinkSync(build, join(folder, "next"));
    renameSync(join(folder, "next"), current);
  };
  deploy("a");
  const options = { published: current, prefix: "", feedPath: "/twtxt.txt", endpoint: null };
  const serveFile = siteFiles({ folder: current, ...options });
  const { url } = await loopbackServer((request, response) => {
    serveFile(request, response).catch(() => response.destroy());
  });

  let isOver = false;
  const deploying = (async () => {
    for (let n = 0; !isOver; n += 1) {
      deploy(BUILDS[n % 2] ?? "a");
      await setImmediate();
    }
  })();
  const answers = new Set<string>();
  for (let n = 0; n < 200; n += 1) {
    const response = await fetch(`${url}/posts/hello/`);
    answers.add(`${response.status} ${await response.text()}`);
  }
  isOver = true;
  await deploying;
  expect([...answers]).toEqual(["200 hello"]);
});
