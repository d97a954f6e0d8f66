// test/demo/netlify.ts: a blog on Netlify's local server.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NETLIFY, NETLIFY_DEV } from "../netlify/local-netlify.js";
import type { Blog } from "./blog.js";
import { freePorts, type Running, start, until } from "./process.js";

/** Written at each build: the functions, and a file that they share. */
const FUNCTIONS = ".netlify/v1/functions";
const SHARED_FILE = "twtxt-host.json";

export interface NetlifyPlace {
  running: Running;
  /** Waits until the functions that a build changed are reloaded; until then they fail. */
  reloaded(): Promise<void>;
  /** Calls a scheduled function, which has no route, as Netlify does. */
  invoke(name: string): Promise<void>;
}

export async function serveAtNetlify(blog: Blog, environment: Record<string, string>): Promise<NetlifyPlace> {
  if (!existsSync(NETLIFY)) throw new Error("Install Netlify's command line first: npm ci --prefix test/netlify");
  const [staticPort] = await freePorts(1);
  const args = [
    ...NETLIFY_DEV,
    "--port",
    String(blog.port),
    "--staticServerPort",
    String(staticPort),
    "--dir",
    "_site",
  ];
  console.log(`\n${blog.nick}$ netlify ${args.join(" ")}`);
  const child = spawn(NETLIFY, args, {
    cwd: blog.folder,
    env: { ...process.env, ...environment, NO_COLOR: "1", CI: "1" },
  });
  const running = await start(child, `${blog.nick}: `, /Local dev server ready/);
  const times = (text: string) => running.printed().split(text).length - 1;
  const folder = join(blog.folder, FUNCTIONS);
  const readShared = () => readFileSync(join(folder, SHARED_FILE), "utf8");
  let loaded = readShared();
  let reloads = 0;
  return {
    running,
    async reloaded() {
      if (readShared() === loaded) return;
      loaded = readShared();
      const expected = reloads + readdirSync(folder).filter((name) => name.endsWith(".mjs")).length;
      await until("the functions are loaded", async () => {
        reloads = times("Reloaded function");
        return reloads >= expected && reloads === times("Reloading function");
      });
    },
    async invoke(name) {
      // The same request as that of `netlify functions:invoke`, which takes seconds to start.
      const url = `${blog.url}/.netlify/functions/${name}`;
      console.log(`\n${blog.nick}$ curl --request POST ${url}`);
      const { status } = await fetch(url, { method: "POST" });
      if (status !== 200) throw new Error(`${name} responded with ${status}.`);
    },
  };
}
