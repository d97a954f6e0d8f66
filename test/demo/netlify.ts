// test/demo/netlify.ts: a blog on Netlify's local server.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { NETLIFY, NETLIFY_DEV, watchReloads } from "../netlify/local-netlify.js";
import type { Blog } from "./blog.js";
import { freePorts, type Running, start } from "./process.js";

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
  return {
    running,
    reloaded: watchReloads(blog.folder, running.printed),
    async invoke(name) {
      // The same request as that of `netlify functions:invoke`, which takes seconds to start.
      const url = `${blog.url}/.netlify/functions/${name}`;
      console.log(`\n${blog.nick}$ curl --request POST ${url}`);
      const { status } = await fetch(url, { method: "POST" });
      if (status !== 200) throw new Error(`${name} responded with ${status}.`);
    },
  };
}
